"""The types of elements as PyTorch numbers them: name, bytes, and the form in which one is unpacked."""

from __future__ import annotations

import struct
from typing import NamedTuple


class Kind(NamedTuple):
    """A type of elements; without a form its values are not shown."""

    name: str
    size: int
    form: str = ""


# By the number of c10::ScalarType, which only ever grew at its end.
KINDS = (
    Kind("uint8", 1, "B"), Kind("int8", 1, "b"), Kind("int16", 2, "h"), Kind("int32", 4, "i"),
    Kind("int64", 8, "q"), Kind("float16", 2, "e"), Kind("float32", 4, "f"), Kind("float64", 8, "d"),
    Kind("complex32", 4, "ee"), Kind("complex64", 8, "ff"), Kind("complex128", 16, "dd"),
    Kind("bool", 1, "?"), Kind("qint8", 1, "b"), Kind("quint8", 1, "B"), Kind("qint32", 4, "i"),
    Kind("bfloat16", 2, "H"), Kind("quint4x2", 1), Kind("quint2x4", 1), Kind("bits1x8", 1),
    Kind("bits2x4", 1), Kind("bits4x2", 1), Kind("bits8", 1), Kind("bits16", 2),
    Kind("float8_e5m2", 1), Kind("float8_e4m3fn", 1), Kind("float8_e5m2fnuz", 1),
    Kind("float8_e4m3fnuz", 1), Kind("uint16", 2, "H"), Kind("uint32", 4, "I"), Kind("uint64", 8, "Q"),
)  # fmt: skip
SIZES = {kind.name: kind.size for kind in KINDS}
WHOLE = frozenset({"int32", "int64", "int16", "int8", "uint8"})


def unpacked(kind: Kind, raw: bytes) -> bool | int | float | str:
    """The value of one element; a complex number is written as Python does."""
    if kind.name == "bfloat16":  # the upper half of a float32
        return float(struct.unpack("<f", b"\0\0" + raw)[0])
    values = struct.unpack(f"<{kind.form}", raw)
    if len(values) == 2:
        return str(complex(*values))
    only: bool | int | float = values[0]
    return only
