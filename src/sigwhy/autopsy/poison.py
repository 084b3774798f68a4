"""Pointers made of the bytes with which debug allocators fill memory: they tell its state."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.autopsy.told import NO_SPAN, Told
from sigwhy.machine import x86
from sigwhy.model.fact import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Incident

FREED, FRESH, FENCE = "had been freed", "had never been written", "fences a block"
# The byte that fills a pointer, what it means, and who writes it.
BYTES = {
    0xDD: (FREED, "Python's debug allocator"),
    0xDB: (FREED, "Python's debug allocator before 3.8"),
    0xCD: (FRESH, "Python's debug allocator"),
    0xCB: (FRESH, "Python's debug allocator before 3.8"),
    0xFD: (FENCE, "Python's debug allocator"),
    0xFB: (FENCE, "Python's debug allocator before 3.8"),
    0x5A: (FREED, "jemalloc"),
    0xA5: (FRESH, "jemalloc"),
    0xBE: (FRESH, "AddressSanitizer"),
}
MECHANISMS = {FREED: "use-after-free", FRESH: "uninitialised-read", FENCE: "out-of-bounds-read"}
MARGIN = 0x1000  # fields lie behind a pointer
REGISTER = re.compile(r"\[[^\]]*\]")


def tell(incident: Incident) -> Iterator[Told]:
    """The register that the faulting instruction went through, where it is such a pointer."""
    thread = next((t for t in incident.threads if t.crashed), None)
    if thread is None or not incident.code or incident.machine != "x86_64":
        return
    decoded = x86.instruction(incident.code, span=NO_SPAN, address=thread.registers.get("rip", 0))
    named = REGISTER.search(decoded.text) if decoded else None
    for name, value in thread.registers.items():
        if named and re.search(rf"\b{re.escape(name)}\b", named[0]) and (found := _meaning(value)):
            state, who = found
            line = f"{name} = {value:#x} is a pattern of {who}: the memory it came from {state}"
            fact = Notice(
                span=NO_SPAN, topic="poisoned", text=line, subject=who, mechanism=MECHANISMS[state]
            )
            yield Told.of(line, fact, words=f"{value:#x}")
            return


def _meaning(value: int) -> tuple[str, str] | None:
    for byte, meaning in BYTES.items():
        whole = int.from_bytes(bytes([byte]) * 8, "little")
        if abs(value - whole) < MARGIN:
            return meaning
    return None
