"""Python objects by their address: the name of a built-in function, the memory of a NumPy array.

pystack gives values as ``<numpy.ndarray at 0x7f…>``. What stands there is read from the memory of
the process, and believed only where it fits together: the type's own name, sizes, shape and strides.
"""

from __future__ import annotations

import math
import re
import struct
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.model.incident import Buffer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sigwhy.machine.memory import Memory
    from sigwhy.model.incident import PythonFrame

VALUE = re.compile(r"^<(?P<type>[\w.]{1,80}) at (?P<at>0x[0-9a-f]{1,16})>$")
FUNCTION, ARRAY = "builtin_function_or_method", "numpy.ndarray"
TYPE, TYPE_NAME, FUNCTION_DEFINITION = 8, 24, 16
DATA, RANK, DIMENSIONS, STRIDES, DESCRIPTION = 16, 24, 32, 40, 56
KIND, SIZE_BEFORE_2, SIZE_SINCE_2 = 24, 32, 40  # of an array's description; NumPy 2 moved the size
KINDS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex", "O": "object", "S": "bytes", "U": "str", "V": "void", "M": "datetime", "m": "timedelta"}  # fmt: skip
SIZES = {"b": {1}, "i": {1, 2, 4, 8}, "u": {1, 2, 4, 8}, "f": {2, 4, 8, 12, 16}, "c": {8, 16, 24, 32}, "O": {8}, "M": {8}, "m": {8}}  # fmt: skip
MOST_DIMENSIONS = 64
MOST_ITEM_BYTES = 1 << 20
MOST_BUFFERS = 64


def function_named(value: str, memory: Memory) -> str | None:
    """The name of the built-in function that a value is."""
    found = VALUE.match(value)
    if not found or found["type"] != FUNCTION:
        return None
    try:
        name = memory.text(
            memory.word(memory.word(int(found["at"], 16) + FUNCTION_DEFINITION)), 128
        )
    except UnreadableError:
        return None
    return name if name.isidentifier() else None


def buffers(frames: Iterable[PythonFrame], memory: Memory) -> Iterator[Buffer]:
    """The arrays that the names of these frames hold, each once."""
    seen: set[int] = set()
    for frame in frames:
        for name, value in frame.locals.items():
            found = VALUE.match(value)
            at = int(found["at"], 16) if found and found["type"] == ARRAY else 0
            if at and at not in seen and len(seen) < MOST_BUFFERS:
                seen.add(at)
                if array := _array(name, at, memory):
                    yield array


def _array(name: str, at: int, memory: Memory) -> Buffer | None:
    try:
        type_name = memory.text(memory.word(memory.word(at + TYPE) + TYPE_NAME), 64)
        rank = struct.unpack("<i", memory.read(at + RANK, 4))[0]
        if type_name != ARRAY or not 0 <= rank <= MOST_DIMENSIONS:
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
