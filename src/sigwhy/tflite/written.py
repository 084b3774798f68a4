"""Values to the bytes of a .tflite file, by the same tables that ``flat`` reads with."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from sigwhy.tflite.flat import (
    SIZES,
    MalformedError,
    Numbers,
    Strings,
    Table,
    Tables,
    fields,
    members,
)

if TYPE_CHECKING:
    from flatbuffers import Builder

    from sigwhy.tflite.flat import Field, Number, Value

DEEPEST = 64
MOST_ITEMS = 1 << 20  # tables, numbers and strings of a model
MOST_TIMES = 4  # that the bytes of a file may be told anew
ALIGNED = 16  # where the bytes of a buffer begin, as the schema demands
SLOTS = {
    "bool": "Bool", "int8": "Int8", "uint8": "Uint8", "int16": "Int16", "uint16": "Uint16",
    "int32": "Int32", "uint32": "Uint32", "int64": "Int64", "uint64": "Uint64",
    "float32": "Float32", "float64": "Float64",
}  # fmt: skip

Plain: TypeAlias = "Number | str | memoryview | Sequence[Number] | Sequence[str] | Sequence[Mapping[str, Plain]] | Mapping[str, Plain] | None"


def plain(table: Table) -> dict[str, Plain]:
    """A table with all below it as plain values, to be changed and written; weights are not copied."""
    return _Copied(table.bytes.size * MOST_TIMES).table(table, 0)


class _Copied:
    """Counts what it copies: a hostile file may lead to the same table again and again."""

    def __init__(self, most_bytes: int) -> None:
        self.left = MOST_ITEMS
        self.left_bytes = most_bytes

    def table(self, table: Table, depth: int) -> dict[str, Plain]:
        self._count(1, 0, table.place if depth <= DEEPEST else "")
        return {
            name: self.value(table[name], depth, table.place)
            for name in fields(table.name)
            if name in table
        }

    def value(self, value: Value, depth: int, place: str) -> Plain:
        match value:
            case Table():
                return self.table(value, depth + 1)
            case Tables():
                return [self.table(one, depth + 1) for one in value]
            case Numbers(item="uint8"):
                self._count(1, len(value), place)
                return value.data
            case Numbers():
                self._count(len(value), 0, place)
                return list(value)
            case Strings():
                self._count(len(value), sum(map(len, value)), place)
                return list(value)
            case _:
                return value

    def _count(self, items: int, size: int, place: str) -> None:
        self.left -= items
        self.left_bytes -= size
        if not place or self.left < 0 or self.left_bytes < 0:
            raise MalformedError(f"{place or 'the model'} holds parts in parts without end")


def written(model: Mapping[str, Plain]) -> bytes:
    """The file of a model."""
    from flatbuffers import Builder

    from sigwhy.tflite.flat import IDENTIFIER

    builder = Builder(1 << 16)
    builder.Finish(_table(builder, "Model", model), file_identifier=IDENTIFIER)
    return bytes(builder.Output())


def _table(builder: Builder, name: str, values: Mapping[str, Plain]) -> int:
    """Write what a table leads to, then the table; where it stands."""
    known = fields(name)
    leads = {
        key: _led(builder, known[key], values)
        for key, value in values.items()
        if value is not None and known[key].type not in SIZES
    }
    builder.StartObject(max((f.slot for f in known.values()), default=-1) + 1)
    for key, value in values.items():
        field = known[key]
        if key in leads:
            builder.PrependUOffsetTRelativeSlot(field.slot, leads[key], 0)
        elif isinstance(value, (bool, int, float)):
            getattr(builder, f"Prepend{SLOTS[field.type]}Slot")(field.slot, value, field.default)
    return int(builder.EndObject())


def _led(builder: Builder, field: Field, values: Mapping[str, Plain]) -> int:
    """Write what a field leads to."""
    value = values[field.name]
    if isinstance(value, str):
        return int(builder.CreateString(value))
    if isinstance(value, Mapping):
        return _table(builder, _kind(field, values), value)
    if field.item in SIZES:
        return _numbers(builder, field.item, value)
    rows = value if isinstance(value, Sequence) else ()
    ends = [
        int(builder.CreateString(one)) if isinstance(one, str) else _table(builder, field.item, one)
        for one in rows
        if isinstance(one, (str, Mapping))
    ]
    builder.StartVector(4, len(ends), 4)
    for end in reversed(ends):
        builder.PrependUOffsetTRelative(end)
    return int(builder.EndVector())


def _kind(field: Field, values: Mapping[str, Plain]) -> str:
    if not field.type.startswith("<"):
        return field.type
    number = values[f"{field.name}_type"]
    return members(field.type[1:-1])[number] if isinstance(number, int) else ""


def _numbers(builder: Builder, item: str, value: Plain) -> int:
    """A vector of numbers, as one piece."""
    if isinstance(value, memoryview):
        raw = bytes(value)
    else:
        rows = value if isinstance(value, Sequence) else ()
        raw = struct.pack(f"<{len(rows)}{SIZES[item]}", *rows)
    size = struct.calcsize(SIZES[item])
    builder.StartVector(size, len(raw) // size, ALIGNED if item == "uint8" else size)
    builder.head = builder.head - len(raw)
    builder.Bytes[builder.head : builder.head + len(raw)] = raw
    return int(builder.EndVector())
