"""Reads a whole model at once, every table one time, and notes what is wrong instead of stopping there.

``flat`` follows one path and raises; here everything that a runtime could follow is followed. A part
that does not fit is noted and left out, and the rest is read on. Numbers stay where they are in the
file: a vector is a view of it, so megabytes of weights cost nothing.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from sigwhy.tflite.flat import SHORT, SIGNED, SIZES, WORD, fields, members

Row: TypeAlias = "dict[str, Any]"  # the fields of a table by name; "" is the name of the table
Trail: TypeAlias = "tuple[Trail, str, int] | None"

MOST_ITEMS = 2_000_000
MOST_FAULTS = 100
LONGEST_NAME = 4096
PARTS = {
    "subgraphs": "subgraph",
    "operators": "operator",
    "tensors": "tensor",
    "buffers": "buffer",
    "operator_codes": "operator code",
    "signature_defs": "signature",
    "dim_metadata": "dimension",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One place where the bytes do not fit together."""

    place: str
    says: str


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    type: str
    letter: Any  # a letter of struct; memoryview wants it as a literal
    size: int
    item: str
    default: Any


@cache
def _plan(table: str) -> tuple[tuple[_Field | None, ...], Row]:
    """The fields of a table by slot, and what they are where they are absent."""
    known = fields(table)
    slots: list[_Field | None] = [None] * (1 + max((f.slot for f in known.values()), default=-1))
    for f in known.values():
        letter = SIZES.get(f.item or f.type, "")
        size = struct.calcsize(letter) if letter else WORD.size
        default = f.default if letter and not f.item else None
        slots[f.slot] = _Field(f.name, f.type, letter, size, f.item, default)
    return tuple(slots), {"": table, **{f.name: f.default for f in slots if f}}


class _TornError(Exception):
    """A part does not fit; whoever asked for it notes it, and goes on."""


class Whole:
    """The bytes of a model, what could be read of it, and what could not."""

    __slots__ = ("_layouts", "_left", "_read", "_structs", "data", "faults", "size")

    def __init__(self, data: bytes | memoryview) -> None:
        self.data = memoryview(data).cast("B")
        self.size = len(self.data)
        self.faults: list[Fault] = []
        self._left = min(self.size // WORD.size + 1000, MOST_ITEMS)
        self._layouts: dict[tuple[str, int], tuple[tuple[_Field, int], ...]] = {}
        self._read: dict[tuple[str, int], Any] = {}
        self._structs = {letter: struct.Struct(f"<{letter}") for letter in SIZES.values()}

    def model(self) -> Row | None:
        """The table ``Model``; None where not even that can be read."""
        try:
            return self.table(self._follow(0), "Model", None)
        except _TornError as error:
            self._fault(None, str(error))
            return None

    def table(self, at: int, name: str, trail: Trail) -> Row | None:
        """A table and all below it."""
        key = (name, at)
        if key in self._read:
            found: Row | None = self._read[key]
            return found
        self._read[key] = None
        layout = self._layout(at, name)
        row = dict(_plan(name)[1])
        for field, offset in layout:
            row[field.name] = self._value(field, at + offset, row, trail)
        self._read[key] = row
        return row

    def _layout(self, at: int, name: str) -> tuple[tuple[_Field, int], ...]:
        """Which fields a table has, and where in it. Tables of one form share this."""
        if at % 4 or at + SIGNED.size > self.size:
            raise _TornError(f"the table does not lie at a multiple of 4 ({at:#x})")
        start = at - SIGNED.unpack_from(self.data, at)[0]
        if (name, start) not in self._layouts:
            self._layouts[name, start] = self._fields_at(start, name)
        return self._layouts[name, start]

    def _fields_at(self, start: int, name: str) -> tuple[tuple[_Field, int], ...]:
        if start % 2 or not 0 <= start <= self.size - 4:
            raise _TornError(f"the list of its fields lies outside of the file ({start:#x})")
        length = SHORT.unpack_from(self.data, start)[0]
        if length < 4 or length % 2 or start + length > self.size:
            raise _TornError(f"the list of its fields has an impossible length ({length})")
        offsets = self.data[start + 4 : start + length].cast("H").tolist()
        slots = _plan(name)[0]
        return tuple((f, o) for f, o in zip(slots, offsets, strict=False) if f and o)

    def _value(self, field: _Field, at: int, row: Row, trail: Trail) -> Any:
        """The value of one field; its default where it cannot be read."""
        below = (trail, field.name, -1)
        try:
            if field.letter and not field.item:
                return self._number(field, at)
            return self._led(field, self._follow(at), row, below)
        except _TornError as error:
            self._fault(below, str(error))
            return field.default

    def _number(self, field: _Field, at: int) -> Any:
        if at % field.size or at + field.size > self.size:
            raise _TornError(
                f"it lies outside of the file, or at no multiple of its size ({at:#x})"
            )
        return self._structs[field.letter].unpack_from(self.data, at)[0]

    def _led(self, field: _Field, to: int, row: Row, trail: Trail) -> Any:
        """What an offset leads to."""
        if field.item:
            return self._vector(field, to, trail)
        if field.type == "string":
            return self._string(to)
        if not field.type.startswith("<"):
            return self.table(to, field.type, trail)
        names = members(field.type[1:-1])
        number = row[f"{field.name}_type"]
        known = 0 < number < len(names) and names[number] != "-"
        return self.table(to, names[number], trail) if known else None

    def _follow(self, at: int) -> int:
        if at % WORD.size or at + WORD.size > self.size:
            raise _TornError(
                f"its offset lies outside of the file, or at no multiple of 4 ({at:#x})"
            )
        to: int = at + WORD.unpack_from(self.data, at)[0]
        if not at < to <= self.size - WORD.size:
            raise _TornError(f"it leads outside of the file ({to:#x} of {self.size:#x})")
        return to

    def _vector(self, field: _Field, at: int, trail: Trail) -> Any:
        """The items of a vector: a view of numbers, or a list."""
        key = (field.type, at)
        if key in self._read:
            return self._read[key]
        self._read[key] = None
        count = WORD.unpack_from(self.data, at)[0] if at % WORD.size == 0 else -1
        size = count * field.size
        if count < 0 or size > self.size - at - WORD.size:
            raise _TornError(f"it has {count} items, more than the file can hold")
        start = at + WORD.size
        if field.letter:
            self._read[key] = self.data[start : start + size].cast(field.letter)
        else:
            self._read[key] = self._items(field, start, count, trail)
        return self._read[key]

    def _items(self, field: _Field, start: int, count: int, trail: Trail) -> list[Any]:
        self._left -= count
        if self._left < 0:
            raise _TornError("the file leads to the same bytes over and over")
        parent, name, _ = trail or (None, "", 0)
        found: list[Any] = []
        for n in range(count):
            below = (parent, name, n)
            try:
                to = self._follow(start + n * WORD.size)
                words = field.item == "string"
                found.append(self._string(to) if words else self.table(to, field.item, below))
            except _TornError as error:
                self._fault(below, str(error))
                found.append(None)
        return found

    def _string(self, at: int) -> str:
        count = WORD.unpack_from(self.data, at)[0] if at % WORD.size == 0 else -1
        end = at + WORD.size + count
        if count < 0 or end >= self.size:
            raise _TornError(f"it has {count} bytes, more than the file can hold")
        if self.data[end]:
            raise _TornError("it does not end with a zero byte")
        cut = min(count, LONGEST_NAME)
        start = at + WORD.size
        return bytes(self.data[start : start + cut]).decode(errors="backslashreplace")

    def _fault(self, trail: Trail, says: str) -> None:
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(Fault(_words(trail), says))


def _words(trail: Trail) -> str:
    """A trail as words: subgraph 0, operator 4, builtin_options."""
    parts: list[str] = []
    while trail:
        trail, name, index = trail
        parts.append(f"{PARTS.get(name, name)} {index}" if index >= 0 else name)
    return ", ".join(reversed(parts)) or "model"
