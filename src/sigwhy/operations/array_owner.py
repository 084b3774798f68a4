"""Whose memory an array looks at: that of bytes, a bytearray, a map, ctypes, or another array.

The chain of bases is followed to its end. What an owner says of its memory is believed only where
the array could have been made from it; one that is closed by now has no memory at all.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations.arrays import ARRAY, array
from sigwhy.operations.attributes import attributes

if TYPE_CHECKING:
    from collections.abc import Callable

    from sigwhy.operations.arrays import Array
    from sigwhy.operations.python_objects import PythonObjects

DEEPEST = 12
LARGEST = 1 << 46
RELEASED = 1  # flag of a memoryview


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The last of a chain of bases: ``kind`` is its type, ``chain`` the types on the way.

    ``start`` and ``size`` are its memory where it tells them; ``is_closed`` says that it has none
    any more.
    """

    at: int
    kind: str
    chain: tuple[str, ...] = ()
    start: int | None = None
    size: int | None = None
    is_closed: bool = False


def owner(objects: PythonObjects, found: Array) -> Owner | None:
    """Who owns the memory; None where the array does itself."""
    at, chain, last = found.base, list[str](), None
    for _ in range(DEEPEST):
        kind = objects.type_of(at)
        if not kind:
            break
        chain.append(kind)
        last = _said(objects, at, kind)
        following = _below(objects, at, kind)
        if not following or last.is_closed:
            break
        at = following
    if last is None:
        return None
    return Owner(
        at=last.at,
        kind=last.kind,
        chain=tuple(chain),
        start=last.start,
        size=last.size,
        is_closed=last.is_closed,
    )


def _said(objects: PythonObjects, at: int, kind: str) -> Owner:
    """What an object says of its own memory."""
    nothing = Owner(at=at, kind=kind)
    if objects.is_a(at, ARRAY):
        below = array(objects, at)
        if below is None:
            return nothing
        return Owner(at=at, kind=kind, start=below.low, size=below.high - below.low)
    read = next((how for name, how in READS.items() if objects.is_a(at, name)), None)
    try:
        start, size = read(objects, at) if read else (None, None)
    except UnreadableError:
        return nothing
    if read is None or size is None or not 0 <= size < LARGEST:
        return nothing
    return Owner(at=at, kind=kind, start=start, size=size, is_closed=start is None)


def _below(objects: PythonObjects, at: int, kind: str) -> int:
    """What an object borrowed its memory from."""
    try:
        if objects.is_a(at, ARRAY):
            return objects.memory.word(at + 48)
        if kind == "memoryview":
            return objects.memory.word(at + 64)
        if kind.startswith(("c_", "_ctypes.")):
            return 0
    except UnreadableError:
        return 0
    return attributes(objects, at).get("base", 0)  # numpy's DummyArray, of as_strided


def _of_bytes(objects: PythonObjects, at: int) -> tuple[int | None, int]:
    return at + 32, objects.memory.word(at + 16)


def _of_bytearray(objects: PythonObjects, at: int) -> tuple[int | None, int]:
    return objects.memory.word(at + 40), objects.memory.word(at + 16)


def _of_map(objects: PythonObjects, at: int) -> tuple[int | None, int]:
    start, size = struct.unpack("<QQ", objects.memory.read(at + 16, 16))
    return start or None, size


def _of_view(objects: PythonObjects, at: int) -> tuple[int | None, int]:
    flags = objects.memory.half(at + 40)
    start, _, size = struct.unpack("<QQQ", objects.memory.read(at + 56, 24))
    return (None if flags & RELEASED else start), size


def _of_ctypes(objects: PythonObjects, at: int) -> tuple[int | None, int]:
    return objects.memory.word(at + 16) or None, objects.memory.word(at + 40)


READS: dict[str, Callable[[PythonObjects, int], tuple[int | None, int]]] = {
    "bytes": _of_bytes,
    "bytearray": _of_bytearray,
    "mmap.mmap": _of_map,
    "memoryview": _of_view,
    "_ctypes._CData": _of_ctypes,
}
