"""The types of TensorFlow by the names that Python has for them, and how constants of each are made."""

from __future__ import annotations

# Types that constants cannot have, and those whose bits they are.
BITS = {
    "bfloat16": "uint16", "qint8": "int8", "quint8": "uint8", "qint16": "int16",
    "quint16": "uint16", "qint32": "int32", "float8_e5m2": "uint8", "float8_e4m3fn": "uint8",
    "float8_e4m3fnuz": "uint8", "float8_e4m3b11fnuz": "uint8", "float8_e5m2fnuz": "uint8",
}  # fmt: skip
SMALL_INTS = {"int4": "int8", "uint4": "uint8", "int2": "int8", "uint2": "uint8"}
# Types that NumPy and TensorFlow share memory of; what TensorFlow aligns to; what a script may map.
SHARED = frozenset(("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "complex64", "complex128"))  # fmt: skip
ALIGNED, MOST_ELEMENTS = 64, 1 << 28
KNOWN = frozenset((
    *("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    *("uint64", "bool", "string", "complex64", "complex128", "resource", "variant"),
    *BITS, *SMALL_INTS,
))  # fmt: skip
