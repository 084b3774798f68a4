"""Messages of Google's protobuf library as its C++ runtime keeps them, whichever release made them.

Messages are known by their class. Where a release moved a field, both places are tried, and the one
in which everything fits is believed.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations import cpp
from sigwhy.operations.classes import WORD, is_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.machine.memory import Memory
    from sigwhy.operations.classes import Classes

TAGS = 3  # the low bits of a pointer to a string tell who owns it
MOST_ITEMS = 4096
LONGEST = 1 << 16
LONG, LONG_BITS = 4, 7  # since protobuf 30 a short list lies inside of itself
SHORT_SIZE = 3


def text(memory: Memory, address: int, most: int = LONGEST) -> str:
    """A string field: a pointer to a ``std::string``, perhaps tagged."""
    at = memory.word(address) & ~TAGS
    if not is_pointer(at):
        raise UnreadableError(f"no string field at {address:#x}")
    try:
        return cpp.string(memory, at, most).decode()
    except UnicodeDecodeError as error:
        raise UnreadableError(f"no text at {at:#x}") from error


def octets(memory: Memory, address: int, most: int = LONGEST) -> bytes:
    """A field of bytes: laid out like a string field."""
    at = memory.word(address) & ~TAGS
    if not is_pointer(at):
        raise UnreadableError(f"no bytes field at {address:#x}")
    return cpp.string(memory, at, most)


def pointers(memory: Memory, address: int) -> Iterator[list[int]]:
    """What a repeated field of messages or strings may hold, in each of the known layouts.

    {elements, size, capacity} since protobuf 22 or so, {arena, size, capacity, elements} before. A
    single element stands for itself where the lowest bit is 0; else there is a block, with the
    elements behind its first word.
    """
    first, sizes, last = struct.unpack("<QQQ", memory.read(address, 24))
    count, capacity = sizes & 0xFFFFFFFF, sizes >> 32
    if not 0 < count <= MOST_ITEMS or capacity > 2 * MOST_ITEMS:
        return
    for elements in (first, last):
        if count == 1 and is_pointer(elements):
            yield [elements]
        if is_pointer(elements & ~1):
            try:
                packed = memory.read((elements & ~1) + WORD, WORD * count)
            except UnreadableError:
                continue
            yield list(struct.unpack(f"<{count}Q", packed))


def messages(memory: Memory, classes: Classes, address: int, kind: str) -> list[int]:
    """The messages of a repeated field, all of them of one class; nothing where it is not so."""
    for found in pointers(memory, address):
        if all(classes.is_a(at, kind) for at in found):
            return found
    return []


def numbers(memory: Memory, address: int, form: str) -> list[int | float | bool]:
    """The numbers of a repeated field, each packed as ``form`` says."""
    word = memory.word(address)
    count, capacity = word & 0xFFFFFFFF, word >> 32
    there = memory.word(address + WORD)
    if 0 < count <= capacity <= 2 * MOST_ITEMS and memory.mapping(there):
        at = there
    elif word & LONG and is_pointer(word & ~LONG_BITS):
        at, count = word & ~LONG_BITS, there & 0xFFFFFFFF
    else:
        at, count = address + WORD, word & SHORT_SIZE
        if word & ~SHORT_SIZE and not memory.mapping(word & ~SHORT_SIZE):
            return []
    if not 0 < count <= MOST_ITEMS:
        return []
    return list(struct.unpack(f"<{count}{form}", memory.read(at, count * struct.calcsize(form))))
