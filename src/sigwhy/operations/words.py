"""The words of a thread's stack: where it begins and ends, and what lies on it."""

from __future__ import annotations

import array
from typing import TYPE_CHECKING

from sigwhy.machine.memory import PAGE, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sigwhy.machine.memory import Memory
    from sigwhy.model.incident import Mapping as Mapped

WORD = 8
WINDOW = 256 << 10  # of a deep recursion, what matters is near one of the two ends
MOST_STACK = 64 << 20
NEAR = 256 << 20
NO_POINTERS = frozenset(
    {"orig_rax", "cs", "eflags", "ss", "ds", "es", "fs", "gs", "fs_base", "gs_base", "pstate"}
)


def pointer(registers: Mapping[str, int]) -> int:
    """The stack pointer, whichever machine it is."""
    return registers.get("rsp", registers.get("sp", 0))


def extent(memory: Memory, registers: Mapping[str, int]) -> tuple[int, int] | None:
    """From the innermost word of a stack to its end; None where there is no stack.

    An array that is larger than the stack, or a recursion, moves the pointer out of it: then the
    stack is the mapping above, that of the thread's own block, or the one that is called so.
    """
    at = pointer(registers)
    mapping = memory.mapping(at)
    if mapping is None or not mapping.rights.startswith("rw"):
        mapping = _instead(memory, at, registers.get("fs_base", registers.get("tpidr", 0)))
    if mapping is None:
        return None
    low = max(at, mapping.start) & -WORD
    return low, min(mapping.end, low + MOST_STACK)


def _instead(memory: Memory, at: int, block: int) -> Mapped | None:
    main = next((m for m in memory.mappings if m.path == "[stack]"), None)
    own = memory.mapping(block)
    if own and not own.rights.startswith("rw"):
        own = None
    if main and main.start - NEAR < at < main.end and not (own and own.start <= at < own.end):
        return main
    if own and own.start - NEAR < at < own.end:
        return own
    return next((m for m in memory.mappings if m.start >= at and m.rights.startswith("rw")), None)


def words(memory: Memory, low: int, high: int) -> Iterator[tuple[int, int]]:
    """Address and value of every word; what cannot be read is passed over."""
    for page in range(low & -PAGE, high, PAGE):
        try:
            packed = memory.read(page, PAGE)
        except UnreadableError:
            continue
        for n, value in enumerate(array.array("Q", packed)):
            address = page + WORD * n
            if low <= address < high:
                yield address, value


def stack(
    memory: Memory, registers: Mapping[str, int], *, most: int = MOST_STACK, below: int = 0
) -> list[tuple[int, int]]:
    """The words of a stack, innermost first; of a long one both ends.

    ``below`` asks for so many bytes of dead words under the pointer too: what has just returned.
    """
    found = extent(memory, registers)
    if found is None:
        return []
    low, high = found[0], min(found[1], found[0] + most)
    if below and (mapping := memory.mapping(low)):
        low = max(low - below, mapping.start)
    if high - low <= 2 * WINDOW:
        return list(words(memory, low, high))
    return [*words(memory, low, low + WINDOW), *words(memory, high - WINDOW, high)]


def register_words(registers: Mapping[str, int]) -> list[int]:
    """What stands in the registers that can hold a pointer."""
    return [value for name, value in registers.items() if name not in NO_POINTERS]
