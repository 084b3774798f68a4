"""The arguments of the call that runs, as the user's source writes them, with their values.

A literal is its own value; a name has the value that its frame or its module has for it.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from sigwhy.autopsy.written import expression
from sigwhy.model.operation import Argument

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sigwhy.model.incident import Incident, PythonFrame

OBJECT = re.compile(r"^<(?P<type>[\w.]{1,80}) at 0x[0-9a-f]+>$")
MOST = 12
LONGEST = 80


def call_arguments(incident: Incident, frame: PythonFrame) -> list[Argument]:
    """Each argument on its own; none where the source or the columns are not known."""
    called = expression(incident, frame)
    if not isinstance(called, ast.Call):
        return []
    known = names(incident, frame)
    return [_argument(name, node, known) for name, node in _given(called)][:MOST]


def names(incident: Incident, frame: PythonFrame) -> Mapping[str, str]:
    """What the names of a frame and of its module hold, in short words."""
    frames = (one for thread in incident.threads for one in thread.python)
    module = next((one.globals for one in frames if one.file == frame.file and one.globals), {})
    return {**module, **frame.locals}


def _given(called: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    for node in called.args:
        yield "", node
    for keyword in called.keywords:
        yield keyword.arg or "", keyword.value


def _argument(name: str, node: ast.expr, known: Mapping[str, str]) -> Argument:
    text = ast.unparse(node)[:LONGEST]
    value = known.get(text, "") if isinstance(node, ast.Name) else text
    variable = text if isinstance(node, ast.Name) else ""
    if found := OBJECT.match(value):
        return Argument(name=name, kind="object", text=found["type"], variable=variable)
    kind, values = _plain(value)
    return Argument(
        name=name,
        kind=kind,
        values=values,
        text="" if values else value,
        variable=variable,
    )


def _plain(value: str) -> tuple[str, list[bool | int | float | str | None]]:
    """Kind and values of what is written as a literal."""
    try:
        found = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return "object", []
    match found:
        case bool() | int() | float():
            return type(found).__name__, [found]
        case str():
            return "string", [found[:LONGEST]]
        case list() | tuple() if all(isinstance(n, int | float | str) for n in found):
            return "list", list(found)
        case _:
            return "none" if found is None else "object", []
