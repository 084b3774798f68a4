"""NumPy arrays by their address: shape, type of the elements, and the memory that they reach.

What stands there is believed only where it fits together: the type's own name, sizes, shape and
strides.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.model.incident import Buffer
from sigwhy.operations.python_objects import PythonObjects, address_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sigwhy.machine.memory import Memory
    from sigwhy.model.incident import PythonFrame

ARRAY = "numpy.ndarray"
DATA, RANK, DIMENSIONS, STRIDES, DESCRIPTION = 16, 24, 32, 40, 56
KIND, SIZE_BEFORE_2, SIZE_SINCE_2 = 24, 32, 40  # of an array's description; NumPy 2 moved the size
KINDS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex", "O": "object", "S": "bytes", "U": "str", "V": "void", "M": "datetime", "m": "timedelta"}  # fmt: skip
SIZES = {"b": {1}, "i": {1, 2, 4, 8}, "u": {1, 2, 4, 8}, "f": {2, 4, 8, 12, 16}, "c": {8, 16, 24, 32}, "O": {8}, "M": {8}, "m": {8}}  # fmt: skip
MOST_DIMENSIONS = 64
MOST_ITEM_BYTES = 1 << 20
MOST_BUFFERS = 64


def buffers(frames: Iterable[PythonFrame], memory: Memory) -> Iterator[Buffer]:
    """The arrays that the names of these frames hold, each once."""
    seen: set[int] = set()
    for frame in frames:
        for name, value in frame.locals.items():
            at = address_of(value, ARRAY)
            if at and at not in seen and len(seen) < MOST_BUFFERS:
                seen.add(at)
                if array := _array(name, at, memory):
                    yield array


def _array(name: str, at: int, memory: Memory) -> Buffer | None:
    try:
        rank = struct.unpack("<i", memory.read(at + RANK, 4))[0]
        if PythonObjects(memory).type_of(at) != ARRAY or not 0 <= rank <= MOST_DIMENSIONS:
            return None
        shape = _numbers(memory, memory.word(at + DIMENSIONS), rank)
        strides = _numbers(memory, memory.word(at + STRIDES), rank)
        kind, item = _item(memory, memory.word(at + DESCRIPTION), shape, strides)
        start = memory.word(at + DATA)
    except UnreadableError:
        return None
    if item is None or any(n < 0 for n in shape):
        return None
    low = start + sum(min(0, s * (n - 1)) for s, n in zip(strides, shape, strict=True))
    high = start + sum(max(0, s * (n - 1)) for s, n in zip(strides, shape, strict=True)) + item
    size = high - low if math.prod(shape) else 0
    bits = "" if kind in {"bool", "object", "void", "bytes", "str"} else str(item * 8)
    return Buffer(
        name=name, address=low, size=size, shape=list(shape), dtype=f"{kind}{bits}", start=start
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
