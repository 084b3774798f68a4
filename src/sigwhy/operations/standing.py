"""How the memory of an argument stands: mapped and readable as a whole, or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sigwhy.machine.memory import Memory
    from sigwhy.model.operation import Standing

MOST_MAPPINGS = 4096


def standing(memory: Memory, address: int, size: int) -> tuple[Standing, str]:
    """How so many bytes stand, and the file whose mapping holds the first of them.

    The rights are asked for, not the bytes: whoever holds a process may read what it may not.
    """
    if not size:
        return "none", ""
    if not address:
        return "missing", ""
    first = memory.mapping(address)
    path = first.path if first and first.path.startswith("/") else ""
    at = address
    for _ in range(MOST_MAPPINGS):
        mapping = memory.mapping(at)
        if mapping is None:
            return "gone", path
        if not mapping.rights.startswith("r"):
            return "protected", path
        at = mapping.end
        if at >= address + size:
            return "there", path
    return "there", path
