"""The element of an array of integers that led to the address of the fault.

An index goes from the beginning of another array, in steps of its elements or of its rows. Only an
index that leaves that array is looked at, so an address cannot fit by chance where all is well.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations.arrays import FORMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.machine.memory import Memory
    from sigwhy.operations.arrays import Array

WHOLE = frozenset({"int16", "int32", "int64", "uint16", "uint32", "uint64"})
MOST_ELEMENTS = 1 << 16
MOST_ARRAYS = 16
LINE = 64  # bytes that one access may lie behind the first byte of its element


@dataclass(frozen=True, slots=True, kw_only=True)
class WildIndex:
    """Element ``at`` of ``indices`` is ``value``: taken as an index into ``into`` it is the fault."""

    indices: Array
    into: Array
    at: int
    value: int


def wild_index(memory: Memory, arrays: Sequence[Array], address: int) -> WildIndex | None:
    """The first array that holds such an index; smaller strides of the other array first."""
    for indices in [one for one in arrays if one.dtype in WHOLE][:MOST_ARRAYS]:
        held = _elements(memory, indices)
        for into in [one for one in arrays if one is not indices][:MOST_ARRAYS]:
            for step, reach, count in _steps(into):
                for value in _candidates(into, address, step, reach):
                    if not -count <= value < count and value in held:
                        at = held.index(value)
                        return WildIndex(indices=indices, into=into, at=at, value=value)
    return None


def _elements(memory: Memory, indices: Array) -> tuple[int, ...]:
    count = min(indices.elements, MOST_ELEMENTS)
    if not count or not indices.is_dense or not indices.native:
        return ()
    try:
        packed = memory.read(indices.start, count * indices.item)
    except UnreadableError:
        return ()
    return struct.unpack(f"<{count}{FORMS[indices.dtype]}", packed)


def _steps(into: Array) -> Iterator[tuple[int, int, int]]:
    """Bytes from one index to the next, bytes that one reaches, and how many there are."""
    yield into.item, into.item, into.elements
    for size, step in zip(into.shape, into.strides, strict=True):
        if step > into.item and size:
            yield step, step, size


def _candidates(into: Array, address: int, step: int, reach: int) -> Iterator[int]:
    """The indices from which one access could have come to the address, the likeliest first."""
    exact = (address - into.start) // step
    yield exact
    if reach <= LINE:
        yield from (exact - n for n in range(1, LINE // step + 1))
