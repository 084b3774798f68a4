"""The arrays of an Incident as Python writes them: short ones as literals, long ones from a file beside.

Whoever sent the Incident may be hostile: a literal is made of numbers and bytes that were parsed, and
never of words that were found.
"""

from __future__ import annotations

import ast
import math
import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sigwhy.report.repro_script import text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sigwhy.model.operation import Argument

Plain: TypeAlias = "bool | int | float | complex | str | bytes | None"

MAGIC = b"\x93NUMPY\x01\x00"
# As operations/keeper.py writes it.
HEAD = re.compile(
    rb"\{'descr': '(?P<kind>[<|][a-zA-Z][0-9]{1,7})', 'fortran_order': False, "
    rb"'shape': \((?P<shape>[0-9, ]{0,600})\),?\s*\}\s*"
)
FORMS = {
    "f2": "e", "f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q",
    "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "b1": "?", "c8": "ff", "c16": "dd",
}  # fmt: skip
INLINE, INLINE_BYTES = 64, 2000  # elements and bytes of strings that a script can hold
ODD_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
END = b"\1"  # behind each string, see operations/tensorflow_tensors.py
SHORT_FLOAT = {"e": 5, "f": 9}  # digits that tell every float16 and float32 apart


@dataclass(frozen=True, slots=True)
class Whole:
    """An array with all its elements, as bytes."""

    kind: str
    shape: tuple[int, ...]
    data: bytes

    @property
    def elements(self) -> int:
        """How many there are."""
        return math.prod(self.shape)


def whole(member: bytes) -> Whole | None:
    """The array of a ``.npy`` member; None where it is not one of ours."""
    if not member.startswith(MAGIC) or len(member) < len(MAGIC) + 2:
        return None
    begin = len(MAGIC) + 2
    end = begin + int.from_bytes(member[len(MAGIC) : begin], "little")
    head = HEAD.fullmatch(member[begin:end])
    if head is None:
        return None
    kind = head["kind"].decode()[1:]
    shape = tuple(int(word) for word in head["shape"].decode().split(",") if word.strip())
    size = int(kind[1:]) * math.prod(shape)
    known = kind in FORMS or kind.startswith("S")
    fits = known and len(member) - end == size
    return Whole(kind, shape, member[end:]) if fits else None


def elements(array: Whole) -> list[Plain]:
    """The elements as plain values."""
    if array.kind.startswith("S"):
        width = int(array.kind[1:])
        items = [array.data[n : n + width] for n in range(0, len(array.data), width or 1)]
        return [item.rstrip(b"\0").removesuffix(END) for item in items]
    form = FORMS[array.kind]
    rows = struct.iter_unpack(f"<{form}", array.data)
    if len(form) == 2:
        return [complex(*row) for row in rows]
    return [_shortest(row[0], form) for row in rows]


def _shortest(value: float, form: str) -> float:
    """The shortest number that packs into the same bytes: 0.1 and not 0.10000000149011612."""
    digits = SHORT_FLOAT.get(form)
    if digits is None or not math.isfinite(value):
        return value
    for n in range(1, digits):
        short = float(f"{value:.{n}g}")
        try:
            if struct.pack(f"<{form}", short) == struct.pack(f"<{form}", value):
                return short
        except OverflowError:
            continue
    return value


def told(argument: Argument) -> list[Plain]:
    """The values that stand in the record itself, of which there may be more."""
    return [parsed(value, argument.dtype) for value in argument.values]


def parsed(value: bool | float | str | None, dtype: str) -> Plain:
    """A value of the record: numbers that JSON cannot hold, and bytes, came as words."""
    if not isinstance(value, str):
        return value
    if dtype.startswith(("float", "bfloat", "double", "half")):
        return ODD_FLOATS.get(value, 0.0)
    if dtype.startswith("complex"):
        try:
            return complex(value)
        except ValueError:
            return 0j
    return octets(value) if dtype in ("string", "bytes") else value


def octets(words: str) -> bytes:
    """A string as bytes: as it is, or as Python writes bytes."""
    if words.startswith(("b'", 'b"')):
        try:
            found = ast.literal_eval(words)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            found = None
        if isinstance(found, bytes):
            return found
    return words.encode(errors="replace")


def literal(value: Plain) -> str:
    """A value as a program holds it; ``nan`` and ``inf`` are names of the module math."""
    match value:
        case complex():
            return f"complex({literal(value.real)}, {literal(value.imag)})"
        case str():
            return text(value)
        case _:
            return repr(value)


def listed(values: Sequence[Plain], shape: Sequence[int] = ()) -> str:
    """Values as a list, nested as the shape tells; flat where that is not the shape of so many."""
    if len(shape) < 2 or math.prod(shape) != len(values):
        return f"[{', '.join(map(literal, values))}]"
    step = len(values) // shape[0] if shape[0] else 0
    rows = [listed(values[n * step : n * step + step], shape[1:]) for n in range(shape[0])]
    return f"[{', '.join(rows)}]"


def is_short(array: Whole) -> bool:
    """Whether it can stand in the script."""
    return array.elements <= INLINE and len(array.data) <= INLINE_BYTES


def is_even(array: Whole) -> bool:
    """Whether all its elements are the same."""
    size = len(array.data) // array.elements if array.elements else 0
    return size > 0 and array.data == array.data[:size] * array.elements


def of(argument: Argument, inputs: Mapping[str, bytes]) -> Whole | None:
    """All elements of an argument, where the Incident holds them and they are as many as it says."""
    array = whole(inputs[argument.member]) if argument.member in inputs else None
    fits = array is not None and list(array.shape) == (argument.shape or [])
    return array if fits else None
