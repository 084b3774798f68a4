"""The attributes of a Python object: ``indices`` of a sparse matrix, ``weights`` of ``self``.

They lie in a dictionary, or since Python 3.11 beside the object, with the names in its type. Where
exactly has changed with every version; every place is tried, and one is believed where names are
strings and values are objects.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations.classes import is_pointer
from sigwhy.operations.dictionary import items, shared, tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.operations.dictionary import Entries
    from sigwhy.operations.python_objects import PythonObjects

TYPE, BASIC_SIZE, DICTIONARY_OFFSET = 8, 32, 288
BEFORE = (-24, -32)  # of a dictionary, or of the values themselves
# Where a type made by Python code may keep the names that its objects share.
SHARED_FROM, SHARED_TO = 800, 1024
LARGEST_OBJECT = 4096
MOST_ATTRIBUTES = 128


def attributes(objects: PythonObjects, at: int) -> dict[str, int]:
    """Names and the addresses of what they hold; nothing where there are none, or none is believed."""
    if not objects.type_of(at):
        return {}
    try:
        kind = objects.memory.word(at + TYPE)
        offset = struct.unpack("<q", objects.memory.read(kind + DICTIONARY_OFFSET, 8))[0]
    except UnreadableError:
        return {}
    if 0 < offset < LARGEST_OBJECT:
        return _dictionary(objects, at + offset)
    for before in BEFORE:
        if found := _dictionary(objects, at + before):
            return found
    return _beside(objects, at, kind) if offset < 0 else {}


def _dictionary(objects: PythonObjects, place: int) -> dict[str, int]:
    try:
        found = items(objects, objects.memory.word(place))
    except UnreadableError:
        return {}
    return found if len(found) <= MOST_ATTRIBUTES else {}


def _beside(objects: PythonObjects, at: int, kind: int) -> dict[str, int]:
    """The values of the object itself, under the names of its type."""
    for entries in _shared_names(objects, kind):
        for values in _values(objects, at, kind):
            if found := shared(objects, entries, values):
                return found
    return {}


def _values(objects: PythonObjects, at: int, kind: int) -> Iterator[int]:
    """Python 3.11 keeps a pointer, 3.12 one less one, 3.13 the values behind the object."""
    for before in BEFORE:
        try:
            word = objects.memory.word(at + before)
        except UnreadableError:
            continue
        if is_pointer(word + word % 2):
            yield word + word % 2
    try:
        size = objects.memory.word(kind + BASIC_SIZE)
    except UnreadableError:
        return
    if size < LARGEST_OBJECT:
        yield at + size


def _shared_names(objects: PythonObjects, kind: int) -> Iterator[Entries]:
    for place in range(kind + SHARED_FROM, kind + SHARED_TO, 8):
        try:
            keys = objects.memory.word(place)
        except UnreadableError:
            return
        if not is_pointer(keys):
            continue
        for entries in tables(objects, keys):
            if 0 < len(entries) <= MOST_ATTRIBUTES and all(objects.text(k) for k, _ in entries):
                yield entries
