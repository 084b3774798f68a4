"""Strings and vectors of the C++ library, as gcc and clang lay them out on 64-bit machines."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError

if TYPE_CHECKING:
    from sigwhy.machine.memory import Memory

INLINE = 16  # a string this short lies inside of itself
LONGEST = 1 << 20
MOST_BYTES = 1 << 26


def string(memory: Memory, address: int, most: int = LONGEST) -> bytes:
    """A ``std::string``: {pointer, size, 16 bytes}."""
    at, size = struct.unpack("<QQ", memory.read(address, 16))
    if size > most or (size < INLINE and at != address + 16 and not memory.mapping(at)):
        raise UnreadableError(f"no std::string at {address:#x}")
    return memory.read(at, size) if size else b""


def shared_string(memory: Memory, address: int, most: int = LONGEST) -> bytes:
    """A ``std::string`` as it was before GCC 5: a pointer to text that has size and room before it."""
    at = memory.word(address)
    size, room, _ = struct.unpack("<QQq", memory.read(at - 24, 24))
    if not size <= room <= MOST_BYTES or size > most:
        raise UnreadableError(f"no shared std::string at {address:#x}")
    text = memory.read(at, size + 1)
    if text[-1]:
        raise UnreadableError(f"no end of the shared std::string at {address:#x}")
    return text[:-1]


def view(memory: Memory, address: int, most: int = LONGEST) -> tuple[int, bytes]:
    """A ``std::string_view`` with something in it, in either order of its members: where, and what."""
    a, b = struct.unpack("<QQ", memory.read(address, 16))
    size, at = (a, b) if a < b else (b, a)
    if not 0 < size <= most:
        raise UnreadableError(f"no std::string_view at {address:#x}")
    return at, memory.read(at, size)


def vector(memory: Memory, address: int, item: int) -> tuple[int, int]:
    """A ``std::vector`` of items of so many bytes: where they begin, and how many there are."""
    begin, end, limit = struct.unpack("<QQQ", memory.read(address, 24))
    fits = begin <= end <= limit and (end - begin) % item == 0 and end - begin <= MOST_BYTES
    if not fits or (end > begin and not memory.mapping(begin)):
        raise UnreadableError(f"no std::vector at {address:#x}")
    return begin, (end - begin) // item
