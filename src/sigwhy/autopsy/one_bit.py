"""An address that is one bit away from a good one: broken memory makes such pointers.

It must not be taken for what programs do. A stride, a size or a flag changes low bits and the top byte;
a pointer that was cut to half its size lies below 4 GiB. So only bits 34 to 55 count, and only where a
register or a frame holds an address of the very page that the other bit would have led to.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.autopsy.told import NO_SPAN, Told
from sigwhy.machine import arm64, x86
from sigwhy.model.fact import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Incident, Mapping, Thread

BITS = range(34, 56)
LOWEST = 1 << 32  # below it lie pointers that were cut to 32 bits, and numbers
PAGE = 4096
MEMORY_SIGNALS = frozenset({"SIGSEGV", "SIGBUS"})
KERNEL = 128  # the CPU does not tell an address that is none
BETWEEN_BRACKETS = re.compile(r"\[([^\]]*)\]")
WORD = re.compile(r"\w+")
NEVER = frozenset({"fs_base", "gs_base", "orig_rax", "eflags", "pstate"})


def tell(incident: Incident) -> Iterator[Told]:
    """The good address, the bit, and who holds it."""
    thread = next((t for t in incident.threads if t.crashed), None)
    signal = incident.signal
    if thread is None or signal is None or signal.name not in MEMORY_SIGNALS:
        return
    used = _used(incident, thread)
    told = signal.address if 0 < signal.code_number != KERNEL else None
    if told is None and signal.code_number != KERNEL:
        return
    for bad in (told,) if told is not None else tuple(used.values()):
        if bad < LOWEST or _mapping(incident, bad):
            continue
        for bit in BITS:
            good = bad ^ 1 << bit
            if good >= LOWEST and _mapping(incident, good) and (who := _holder(thread, good, used)):
                yield _said(bad, good, bit, who)
                return


def _said(bad: int, good: int, bit: int, who: str) -> Told:
    line = (
        f"{bad:#x} is one bit (bit {bit}) away from {good:#x}, a page that {who} points to: memory that"
        " loses bits makes such addresses, but it stands behind only a few of a hundred crashes"
    )
    return Told.of(
        line, Notice(span=NO_SPAN, topic="one-bit", text=line, subject=who), words=f"bit {bit}"
    )


def _used(incident: Incident, thread: Thread) -> dict[str, int]:
    """The registers that the faulting instruction took its address from."""
    registers = thread.registers
    if incident.machine == "aarch64":
        decoded = arm64.instruction(incident.code, span=NO_SPAN, address=registers.get("pc", 0))
    else:
        decoded = x86.instruction(incident.code, span=NO_SPAN, address=registers.get("rip", 0))
    found = BETWEEN_BRACKETS.search(decoded.text) if decoded else None
    if found is None:
        return {}
    used = set(WORD.findall(found[1]))
    return {name: value for name, value in registers.items() if name in used}


def _holder(thread: Thread, good: int, used: dict[str, int]) -> str | None:
    """Who else holds an address of this page."""
    page = good // PAGE
    for name, value in thread.registers.items():
        if name not in used and name not in NEVER and value // PAGE == page:
            return name
    same = (f for f in thread.native[1:] if f.address // PAGE == page)
    return "the stack" if next(same, None) else None


def _mapping(incident: Incident, address: int) -> Mapping | None:
    return next((m for m in incident.mappings if m.start <= address < m.end), None)
