"""The texts that an object holds as members, whatever else it holds."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations import cpp
from sigwhy.operations.classes import WORD, is_pointer

if TYPE_CHECKING:
    from sigwhy.machine.memory import Memory

LONGEST_NAME = 1000


def texts_in(memory: Memory, address: int, size: int) -> list[str]:
    """The printable strings among the members of an object, in their order."""
    found = []
    for at in range(address, address + size, WORD):
        try:
            start, length = struct.unpack("<QQ", memory.read(at, 16))
            fits = 0 < length <= LONGEST_NAME and (start == at + 16 if length < 16 else True)
            if fits and is_pointer(start & -WORD):
                text = cpp.string(memory, at, LONGEST_NAME).decode()
                found += [text] if text.isprintable() else []
        except (UnreadableError, UnicodeDecodeError):
            continue
    return found
