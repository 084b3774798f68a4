"""Cuts a record that somebody sent down to what an honest one can hold.

Whoever sends an Incident may be hostile: names of megabytes and numbers without end are for all that
come after it. What is cut was never there in an Incident that was written here.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, TypeVar

import msgspec

LONGEST_WORD = 4000
MOST_ROWS = 1200
LOWEST, HIGHEST = -(1 << 63), 1 << 64
# What may be longer than other things are: field, characters or rows.
LONGER = {
    "stderr": 1 << 18,
    "exception_says": 1 << 16,
    "abort_message": 1 << 16,
    "mappings": 1 << 17,
    "modules": 4000,
    "samples": 20_000,
    "cpu_flags": 4000,
    "environment": 4000,
    "packages": 4000,
    "sizes": 4000,
    "files": 4000,
}

S = TypeVar("S", bound=msgspec.Struct)


def bounded(record: S) -> S:
    """The same record, with nothing in it that is longer or larger than it can be."""
    values = {
        name: _bounded(getattr(record, name), LONGER.get(name)) for name in _fields(type(record))
    }
    return type(record)(**values)


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    return kind.__struct_fields__


def _bounded(value: Any, most: int | None) -> Any:
    match value:
        case str() | bytes():
            return value[: most or LONGEST_WORD]
        case bool() | None:
            return value
        case int():
            return min(max(value, LOWEST), HIGHEST - 1)
        case float():
            return value if math.isfinite(value) else 0.0
        case msgspec.Struct():
            return bounded(value)
        case _:
            return _of_many(value, most or MOST_ROWS)


def _of_many(value: Any, most: int) -> Any:
    if isinstance(value, dict):
        rows = list(value.items())[:most]
        return {_bounded(key, None): _bounded(one, None) for key, one in rows}
    return [_bounded(one, None) for one in value[:most]] if isinstance(value, list) else value
