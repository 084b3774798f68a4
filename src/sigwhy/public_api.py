"""The table of public functions: ``causes/public_api.toml``, which call of ``tf.nn`` or ``tf.image`` reaches which operation.

``tools/public_api.py`` writes it: no function is in it that was not seen to die of a known bug. A raw operation is a function too: it takes each argument
as it is.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sigwhy.known_bugs import rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sigwhy.known_bugs import Row

TABLE = Path(__file__).parent / "causes" / "public_api.toml"
RAW = ("tensorflow.raw_ops.", "tensorflow.compat.v1.raw_ops.")


class Function(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One function that reaches an operation, and the bugs that were seen through it."""

    name: str
    op: str
    parameters: list[str]
    arguments: dict[str, str]
    bugs: list[str]


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    function: list[Function]


class Reached(msgspec.Struct, frozen=True):
    """A bug that a function reaches: its parameters in order, and which argument each becomes."""

    row: Row
    parameters: tuple[str, ...] = ()
    arguments: Mapping[str, str] | None = None


@cache
def functions() -> Mapping[str, tuple[Reached, ...]]:
    """Of each public function the bugs that it reaches."""
    table = msgspec.toml.decode(TABLE.read_bytes(), type=Table)
    by_id = {row.id: row for row in rows()}
    found: dict[str, tuple[Reached, ...]] = {}
    for one in table.function:
        bugs = (
            Reached(by_id[bug], tuple(one.parameters), one.arguments)
            for bug in one.bugs
            if bug in by_id
        )
        found[one.name] = found.get(one.name, ()) + tuple(bugs)
    return found


def reached(name: str) -> tuple[Reached, ...]:
    """The bugs that a call of this name can meet."""
    for raw in RAW:
        if name.startswith(raw):
            op = name.removeprefix(raw)
            return tuple(Reached(row) for row in rows() if op in row.ops)
    return functions().get(name.replace("tensorflow.compat.v2.", "tensorflow.", 1), ())
