"""Reads a flatbuffer within its bounds: tables and vectors that say where they stand.

A table is asked for its fields by name (``operator["inputs"]``). Every offset and length is checked when
it is followed; what leads outside raises ``MalformedError``. Nothing is copied until it is asked for,
so megabytes of weights cost nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias, overload

from sigwhy.tflite.schema import TABLES, UNIONS

IDENTIFIER = b"TFL3"
SMALLEST = 8
SIZES = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H",
    "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f", "float64": "d",
}  # fmt: skip
WORD = struct.Struct("<I")
SIGNED = struct.Struct("<i")
SHORT = struct.Struct("<H")

Number: TypeAlias = "bool | int | float"
Value: TypeAlias = "Number | str | Table | Numbers | Tables | Strings | None"


class MalformedError(ValueError):
    """The bytes are no model; the words say where, and what is wrong there."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a table: the slot it stands in, its type, and what it is where it is absent."""

    name: str
    slot: int
    type: str
    default: Number = 0

    @property
    def item(self) -> str:
        """What a vector holds; nothing for what is no vector."""
        return self.type[1:-1] if self.type.startswith("[") else ""


@cache
def fields(table: str) -> dict[str, Field]:
    """The fields of a table by name, in their order."""
    found: dict[str, Field] = {}
    for slot, word in enumerate(TABLES[table].split()):
        name, _, kind = word.partition(":")
        kind, _, default = kind.partition("=")
        if name != "-":
            found[name] = Field(name, slot, kind, _default(kind, default))
    return found


def _default(kind: str, word: str) -> Number:
    if kind == "bool":
        return word == "True"
    return float(word or 0) if kind.startswith("float") else int(word or 0)


@cache
def members(union: str) -> tuple[str, ...]:
    """The tables of a union by their number."""
    return tuple(UNIONS[union].split())


class Bytes:
    """The bytes of a file, each read of which is checked."""

    __slots__ = ("data", "size")

    def __init__(self, data: bytes | memoryview) -> None:
        self.data = memoryview(data).cast("B")
        self.size = len(self.data)

    def number(self, packed: struct.Struct, at: int, place: str) -> int:
        """A number of the format itself."""
        if not 0 <= at <= self.size - packed.size:
            raise MalformedError(f"{place} lies outside of the file ({at:#x} of {self.size:#x})")
        return int(packed.unpack_from(self.data, at)[0])

    def follow(self, at: int, place: str) -> int:
        """Where an offset leads; it never leads back."""
        to = at + self.number(WORD, at, place)
        if not at < to <= self.size - WORD.size:
            raise MalformedError(f"{place} leads outside of the file ({to:#x} of {self.size:#x})")
        return to

    def vector(self, at: int, size: int, place: str) -> tuple[int, int]:
        """Where the items of a vector begin, and how many there are."""
        start = self.follow(at, place)
        count = self.number(WORD, start, place)
        if count * size > self.size - start - WORD.size:
            raise MalformedError(f"{place} has {count} items, more than the file can hold")
        return start + WORD.size, count


class Table:
    """A table of the schema at its place in the file."""

    __slots__ = ("at", "bytes", "end", "name", "place", "slots", "start")

    def __init__(self, data: Bytes, name: str, at: int, place: str) -> None:
        self.bytes, self.name, self.at, self.place = data, name, at, place
        start = at - data.number(SIGNED, at, place)
        size = data.number(SHORT, start, place)
        self.end = at + data.number(SHORT, start + 2, place)
        if size < 4 or size % 2 or start + size > data.size or self.end > data.size:
            raise MalformedError(f"{place} has no sound table of its fields")
        self.start, self.slots = start, size // 2 - 2

    def __contains__(self, name: str) -> bool:
        """Whether the field was written, be it with its default."""
        return self._offset(fields(self.name)[name]) != 0

    def __getitem__(self, name: str) -> Value:
        field = fields(self.name)[name]
        offset = self._offset(field)
        at, place = self.at + offset, f"{self.place}.{name}"
        if field.type in SIZES:
            return self._number(field, at, place) if offset else field.default
        if not offset:
            return None
        if at + WORD.size > self.end:
            raise MalformedError(f"{place} lies outside of its table")
        if field.item:
            return self._vector(field.item, at, place)
        if field.type == "string":
            return string(self.bytes, at, place)
        kind = self._member(field, place) if field.type.startswith("<") else field.type
        return Table(self.bytes, kind, self.bytes.follow(at, place), place) if kind else None

    def number(self, name: str) -> int:
        """A field that holds a whole number."""
        value = self[name]
        return int(value) if isinstance(value, (bool, int, float)) else 0

    def numbers(self, name: str) -> Sequence[Number]:
        """A field that holds numbers; none where it is absent."""
        value = self[name]
        return value if isinstance(value, Numbers) else ()

    def tables(self, name: str) -> Sequence[Table]:
        """A field that holds tables; none where it is absent."""
        value = self[name]
        return value if isinstance(value, Tables) else ()

    def table(self, name: str) -> Table | None:
        """A field that holds a table."""
        value = self[name]
        return value if isinstance(value, Table) else None

    def text(self, name: str) -> str:
        """A field that holds words."""
        value = self[name]
        return value if isinstance(value, str) else ""

    def _offset(self, field: Field) -> int:
        if field.slot >= self.slots:
            return 0
        at = self.start + 4 + 2 * field.slot
        return self.bytes.number(SHORT, at, f"{self.place}.{field.name}")

    def _number(self, field: Field, at: int, place: str) -> Number:
        packed = struct.Struct(f"<{SIZES[field.type]}")
        if not self.at + WORD.size <= at <= self.end - packed.size:
            raise MalformedError(f"{place} lies outside of its table")
        value: Number = packed.unpack_from(self.bytes.data, at)[0]
        return value

    def _vector(self, item: str, at: int, place: str) -> Numbers | Tables | Strings:
        if item in SIZES:
            return Numbers(self.bytes, item, at, place)
        return (
            Strings(self.bytes, at, place)
            if item == "string"
            else Tables(self.bytes, item, at, place)
        )

    def _member(self, field: Field, place: str) -> str:
        """Which table of its union stands here; nothing where the schema knows none of this number."""
        number, names = self.number(f"{field.name}_type"), members(field.type[1:-1])
        if number == 0:
            raise MalformedError(f"{place} is there, and its type says that it is not")
        return names[number] if number < len(names) and names[number] != "-" else ""


class Numbers(Sequence[Number]):
    """A vector of numbers."""

    __slots__ = ("data", "item", "packed")

    def __init__(self, data: Bytes, item: str, at: int, place: str) -> None:
        self.item, self.packed = item, struct.Struct(f"<{SIZES[item]}")
        start, count = data.vector(at, self.packed.size, place)
        self.data = data.data[start : start + count * self.packed.size]

    def __len__(self) -> int:
        return len(self.data) // self.packed.size

    @overload
    def __getitem__(self, n: int) -> Number: ...

    @overload
    def __getitem__(self, n: slice) -> Sequence[Number]: ...

    def __getitem__(self, n: int | slice) -> Number | Sequence[Number]:
        if isinstance(n, slice):
            return [self[k] for k in range(*n.indices(len(self)))]
        if not -len(self) <= n < len(self):
            raise IndexError(n)
        value: Number = self.packed.unpack_from(self.data, n % len(self) * self.packed.size)[0]
        return value

    def __iter__(self) -> Iterator[Number]:
        return (value for (value,) in self.packed.iter_unpack(self.data))


class Tables(Sequence["Table"]):
    """A vector of tables; each is looked at when it is asked for."""

    __slots__ = ("bytes", "many", "name", "place", "start")

    def __init__(self, data: Bytes, name: str, at: int, place: str) -> None:
        self.bytes, self.name, self.place = data, name, place
        self.start, self.many = data.vector(at, WORD.size, place)

    def __len__(self) -> int:
        return self.many

    @overload
    def __getitem__(self, n: int) -> Table: ...

    @overload
    def __getitem__(self, n: slice) -> Sequence[Table]: ...

    def __getitem__(self, n: int | slice) -> Table | Sequence[Table]:
        if isinstance(n, slice):
            return [self[k] for k in range(*n.indices(self.many))]
        if not -self.many <= n < self.many:
            raise IndexError(n)
        n %= self.many
        place = f"{self.place}[{n}]"
        at = self.bytes.follow(self.start + WORD.size * n, place)
        return Table(self.bytes, self.name, at, place)


class Strings(Sequence[str]):
    """A vector of strings."""

    __slots__ = ("bytes", "many", "place", "start")

    def __init__(self, data: Bytes, at: int, place: str) -> None:
        self.bytes, self.place = data, place
        self.start, self.many = data.vector(at, WORD.size, place)

    def __len__(self) -> int:
        return self.many

    @overload
    def __getitem__(self, n: int) -> str: ...

    @overload
    def __getitem__(self, n: slice) -> Sequence[str]: ...

    def __getitem__(self, n: int | slice) -> str | Sequence[str]:
        if isinstance(n, slice):
            return [self[k] for k in range(*n.indices(self.many))]
        if not -self.many <= n < self.many:
            raise IndexError(n)
        n %= self.many
        return string(self.bytes, self.start + WORD.size * n, f"{self.place}[{n}]")


def string(data: Bytes, at: int, place: str) -> str:
    """The words that an offset leads to; bytes that are no UTF-8 come as escapes."""
    start, count = data.vector(at, 1, place)
    return bytes(data.data[start : start + count]).decode(errors="backslashreplace")


def root(data: bytes | memoryview) -> Table:
    """The table ``Model`` of a .tflite file."""
    held = Bytes(data)
    if held.size < SMALLEST:
        raise MalformedError(f"the file has {held.size} bytes, too few for a model")
    if bytes(held.data[4:8]) != IDENTIFIER:
        raise MalformedError(
            f"the file is no .tflite model: {IDENTIFIER!r} does not stand at byte 4"
        )
    at = held.follow(0, "the model")
    return Table(held, "Model", at, "model")
