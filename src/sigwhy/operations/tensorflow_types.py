"""The data types of TensorFlow by their numbers: name, size of one element, how it is packed."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DataType:
    """One type; ``size`` is 0 where the elements are objects."""

    name: str
    size: int = 0
    form: str = ""


# As types.proto numbers them, which never change. A reference to a type has 100 more.
TYPES = {
    1: DataType("float32", 4, "f"), 2: DataType("float64", 8, "d"), 3: DataType("int32", 4, "i"),
    4: DataType("uint8", 1, "B"), 5: DataType("int16", 2, "h"), 6: DataType("int8", 1, "b"),
    7: DataType("string", 24), 8: DataType("complex64", 8, "ff"), 9: DataType("int64", 8, "q"),
    10: DataType("bool", 1, "?"), 11: DataType("qint8", 1, "b"), 12: DataType("quint8", 1, "B"),
    13: DataType("qint32", 4, "i"), 14: DataType("bfloat16", 2, "bf"), 15: DataType("qint16", 2, "h"),
    16: DataType("quint16", 2, "H"), 17: DataType("uint16", 2, "H"), 18: DataType("complex128", 16, "dd"),
    19: DataType("float16", 2, "e"), 20: DataType("resource"), 21: DataType("variant"),
    22: DataType("uint32", 4, "I"), 23: DataType("uint64", 8, "Q"), 24: DataType("float8_e5m2", 1, "B"),
    25: DataType("float8_e4m3fn", 1, "B"), 26: DataType("float8_e4m3fnuz", 1, "B"),
    27: DataType("float8_e4m3b11fnuz", 1, "B"), 28: DataType("float8_e5m2fnuz", 1, "B"),
    29: DataType("int4", 1, "b"), 30: DataType("uint4", 1, "B"), 31: DataType("int2", 1, "b"),
    32: DataType("uint2", 1, "B"),
}  # fmt: skip
REFERENCE = 100


def plain(number: int) -> int:
    """The number of the type itself, where it is a reference."""
    return number - REFERENCE if number > REFERENCE else number


def name(number: int) -> str:
    """The name of a type as Python calls it; nothing for a number that is none."""
    known = TYPES.get(plain(number))
    return known.name if known else ""


def finite(value: float) -> float | str:
    """A number that JSON can hold; nan and inf as Python writes them."""
    return value if math.isfinite(value) else repr(value)
