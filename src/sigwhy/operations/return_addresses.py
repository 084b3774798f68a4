"""Who called, as far as it shows without unwinding: words of a stack that stand behind a call.

Old words lie between them. They tell in which library a thread probably died, and unwinding has to
bear it out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.machine.memory import PAGE
from sigwhy.operations.words import stack

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sigwhy.machine.memory import Memory

MOST_STACK = 256 << 10
MOST_LOOKED = 4000
LONGEST_CALL = 7
NEAR_CALL, THROUGH, THROUGH_SIZES = 0xE8, 0xFF, (2, 3, 4, 6, 7)


def libraries(memory: Memory, registers: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    """Where on the stack a call returns to, and into which file; first where the thread stands."""
    at = registers.get("rip", registers.get("pc", 0))
    here = memory.mapping(at)
    if here and "x" in here.rights:
        yield 0, here.path
    looked = 0
    for place, value in stack(memory, registers, most=MOST_STACK):
        mapping = memory.mapping(value)
        if mapping is None or "x" not in mapping.rights:
            continue
        looked += 1
        if looked > MOST_LOOKED:
            return
        if "rip" not in registers or _is_behind_call(memory, value):
            yield place, mapping.path


def _is_behind_call(memory: Memory, at: int) -> bool:
    """Whether the instruction before an address is a call; pages of code are not kept for that."""
    if at % PAGE < LONGEST_CALL:
        return True
    before = memory.page(at & -PAGE)[at % PAGE - LONGEST_CALL : at % PAGE]
    if len(before) < LONGEST_CALL:
        return True
    if before[-5] == NEAR_CALL:
        return True
    return any(before[-n] == THROUGH and before[1 - n] >> 3 & 7 == 2 for n in THROUGH_SIZES)
