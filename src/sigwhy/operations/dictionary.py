"""What a Python dictionary with names for keys holds: that of a module or of an object.

Its table has changed twice. Both forms are tried, and that one is believed in which every key is a
string and there are as many values as the dictionary says.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.operations.python_objects import PythonObjects

USED, KEYS, VALUES = 16, 32, 40
MOST_ENTRIES = 4096
# Until Python 3.10 the size stands as such; since then as its logarithm, with the kind of the keys.
OLD_HEAD, NEW_HEAD = struct.Struct("<QQQqq"), struct.Struct("<qBBBBIqq")
LARGEST_LOGARITHM = 20
WORDS = {0: 3, 1: 2, 2: 2}  # of an entry, by the kind of the keys: any, strings, shared strings
# Before the values of one object, since Python 3.13, stands how many there are.
BEFORE_VALUES = (0, 8)

Entries = list[tuple[int, int]]


def items(objects: PythonObjects, at: int) -> dict[str, int]:
    """Names and the addresses of what they hold; nothing where it is no such dictionary."""
    if objects.type_of(at) != "dict":
        return {}
    try:
        used = objects.memory.word(at + USED)
        keys, values = struct.unpack("<QQ", objects.memory.read(at + KEYS, 16))
    except UnreadableError:
        return {}
    if not 0 < used <= MOST_ENTRIES:
        return {}
    for entries in tables(objects, keys):
        found = shared(objects, entries, values) if values else _named(objects, entries)
        if len(found) == used:
            return found
    return {}


def tables(objects: PythonObjects, keys: int) -> Iterator[Entries]:
    """The entries of a table of keys in each of the forms that it could have."""
    for form in (_since_3_11, _before_3_11):
        try:
            yield form(objects, keys)
        except (UnreadableError, struct.error):
            continue


def shared(objects: PythonObjects, entries: Entries, values: int) -> dict[str, int]:
    """The names of a table that several objects share, with the values of one of them."""
    for before in BEFORE_VALUES:
        try:
            packed = objects.memory.read(values + before, 8 * len(entries))
        except UnreadableError:
            continue
        held = struct.unpack(f"<{len(entries)}Q", packed)
        if all(objects.type_of(value) for value in held if value):
            return _named(objects, [(key, v) for (key, _), v in zip(entries, held, strict=True)])
    return {}


def _named(objects: PythonObjects, entries: Entries) -> dict[str, int]:
    found: dict[str, int] = {}
    for key, value in entries:
        if not key or not value:
            continue  # it was taken out again
        name = objects.text(key)
        if not name:
            return {}
        found[name] = value
    return found


def _since_3_11(objects: PythonObjects, keys: int) -> Entries:
    head = objects.memory.read(keys, NEW_HEAD.size)
    _, size, index_bytes, kind, _, _, usable, count = NEW_HEAD.unpack(head)
    largest = 1 << size if size <= LARGEST_LOGARITHM else 0
    if not 0 <= count <= min(largest, MOST_ENTRIES) or not 0 <= usable <= largest:
        return []
    if kind not in WORDS or index_bytes > LARGEST_LOGARITHM + 3:
        return []
    return _entries(objects, keys + NEW_HEAD.size + (1 << index_bytes), count, WORDS[kind])


def _before_3_11(objects: PythonObjects, keys: int) -> Entries:
    head = objects.memory.read(keys, OLD_HEAD.size)
    _, size, _, usable, count = OLD_HEAD.unpack(head)
    power = size and not size & size - 1 and size <= 1 << LARGEST_LOGARITHM
    if not power or not 0 <= count <= min(size, MOST_ENTRIES) or not 0 <= usable <= size:
        return []
    index_bytes = 1 if size <= 1 << 7 else 2 if size <= 1 << 15 else 4
    return _entries(objects, keys + OLD_HEAD.size + size * index_bytes, count, 3)


def _entries(objects: PythonObjects, at: int, count: int, words: int) -> Entries:
    """Key and value are the last two words of an entry; before them may stand a hash."""
    packed = objects.memory.read(at, 8 * words * count) if count else b""
    return [entry[-2:] for entry in struct.iter_unpack(f"<{words}Q", packed)]
