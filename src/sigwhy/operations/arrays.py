"""NumPy arrays by their address: shape, type of the elements, and the memory that they reach.

What stands there is believed only where it fits together: the type's own name, sizes, shape and
strides.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.model.incident import Buffer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sigwhy.machine.memory import Memory
    from sigwhy.operations.python_objects import PythonObjects

ARRAY = "numpy.ndarray"
HEAD = struct.Struct("<QiiQQQQI")  # data, rank, sizes, strides, base, description, flags
FIRST = 16
WRITEABLE = 0x400
KIND, ORDER, SIZE_BEFORE_2, SIZE_SINCE_2 = (
    24,
    26,
    32,
    40,
)  # of a description; NumPy 2 moved the size
KINDS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex", "O": "object", "S": "bytes", "U": "str", "V": "void", "M": "datetime", "m": "timedelta"}  # fmt: skip
SIZES = {"b": {1}, "i": {1, 2, 4, 8}, "u": {1, 2, 4, 8}, "f": {2, 4, 8, 12, 16}, "c": {8, 16, 24, 32}, "O": {8}, "M": {8}, "m": {8}}  # fmt: skip
PLAIN = frozenset({"bool", "object", "void", "bytes", "str"})
FORMS = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q", "float16": "e", "float32": "f", "float64": "d"}  # fmt: skip
MOST_DIMENSIONS = 64
MOST_ITEM_BYTES = 1 << 20
MOST_BUFFERS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """An array as it lies in memory; ``start`` is where its first element lies, strides are bytes."""

    at: int
    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    item: int
    base: int = 0
    writable: bool = True
    native: bool = True  # its numbers have the byte order of the machine

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def low(self) -> int:
        """Where the first byte lies that it can reach: strides may go back."""
        return self.start + sum(min(0, step * (n - 1)) for step, n in self._steps)

    @property
    def high(self) -> int:
        """Where the last byte ends that it can reach."""
        if not self.elements:
            return self.low
        return self.start + sum(max(0, step * (n - 1)) for step, n in self._steps) + self.item

    @property
    def is_dense(self) -> bool:
        """Whether its elements lie one behind the other, the last index running fastest."""
        wanted = self.item
        for step, n in reversed(list(self._steps)):
            if n > 1 and step != wanted:
                return False
            wanted *= n
        return True

    @property
    def _steps(self) -> Iterable[tuple[int, int]]:
        return zip(self.strides, self.shape, strict=True) if self.elements else ()


def array(objects: PythonObjects, at: int) -> Array | None:
    """The array at an address, of NumPy's own class or of one made from it."""
    memory = objects.memory
    if not objects.is_a(at, ARRAY):
        return None
    try:
        start, rank, _, sizes, steps, base, kind, flags = HEAD.unpack(
            memory.read(at + FIRST, HEAD.size)
        )
        if not 0 <= rank <= MOST_DIMENSIONS:
            return None
        shape, strides = _numbers(memory, sizes, rank), _numbers(memory, steps, rank)
        name, item = _item(memory, kind, shape, strides)
        order = chr(memory.read(kind + ORDER, 1)[0])
    except UnreadableError:
        return None
    if item is None or any(n < 0 for n in shape):
        return None
    return Array(
        at=at,
        start=start,
        shape=shape,
        strides=strides,
        dtype=name if name in PLAIN else f"{name}{item * 8}",
        item=item,
        base=base,
        writable=bool(flags & WRITEABLE),
        native=order != ">",
    )


def values(memory: Memory, found: Array, most: int) -> list[int | float | bool]:
    """The first elements in the order of the indices; none where they are no numbers or are gone."""
    form = FORMS.get(found.dtype)
    if not form or not found.native:
        return []
    wanted = min(found.elements, most)
    try:
        if found.is_dense and wanted:
            packed = memory.read(found.start, wanted * found.item)
            return list(struct.unpack(f"<{wanted}{form}", packed))
        places = (found.start + _offset(found, n) for n in range(wanted))
        return [struct.unpack(f"<{form}", memory.read(at, found.item))[0] for at in places]
    except (UnreadableError, struct.error):
        return []


def _offset(found: Array, n: int) -> int:
    """Where the element with a running number lies, from the first one."""
    offset = 0
    for size, step in zip(reversed(found.shape), reversed(found.strides), strict=True):
        n, index = divmod(n, size)
        offset += index * step
    return offset


def buffers(names: Iterable[tuple[str, int]], objects: PythonObjects) -> Iterator[Buffer]:
    """The arrays among what these names hold, each once."""
    seen: set[int] = set()
    for name, at in names:
        if at not in seen and len(seen) < MOST_BUFFERS and (found := array(objects, at)):
            seen.add(at)
            yield Buffer(
                name=name,
                address=found.low,
                size=found.high - found.low,
                shape=list(found.shape),
                dtype=found.dtype,
                start=found.start,
            )


def _numbers(memory: Memory, at: int, count: int) -> tuple[int, ...]:
    return struct.unpack(f"<{count}q", memory.read(at, 8 * count)) if count else ()


def _item(
    memory: Memory, description: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[str, int | None]:
    """Kind and size of an element: of the two places for the size, the one that fits the strides."""
    letter = chr(memory.read(description + KIND, 1)[0])
    kind, sizes = KINDS.get(letter), SIZES.get(letter, range(1, MOST_ITEM_BYTES + 1))
    before, since = (
        memory.half(description + SIZE_BEFORE_2),
        memory.word(description + SIZE_SINCE_2),
    )
    if kind is None:
        return "", None
    steps = {abs(s) for s, n in zip(strides, shape, strict=True) if n > 1}
    likely = [size for size in (since, before) if size in sizes]
    fitting = [size for size in likely if not steps or size == min(steps)]
    return kind, next(iter(fitting or likely), None)
