"""What an operation was given when it died: its arguments in rows, the guilty one marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.model.blame import short_path
from sigwhy.model.fact import Guilty
from sigwhy.report.harmless import one_line, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.operation import Argument, Operation
    from sigwhy.model.report import Report

MOST_ROWS = 12
MOST_VALUES = 8
MOST_PLAIN = 6  # attributes on one line
LONGEST = 160
# How the memory of an argument stands, where that is worth a word.
STANDING = {
    "gone": "its memory is gone",
    "protected": "its memory may not be touched",
    "missing": "it has no memory",
    "device": "on the device",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One argument: ``boxes``, ``float32[3]``, ``0.1 0.2 0.3``, and whether it is to blame."""

    name: str
    type: str
    values: str
    guilty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The rows, what is left out of them, the plain attributes, and where the operation stood."""

    rows: tuple[Row, ...]
    untold: int
    attributes: str
    place: str


def given(report: Report) -> Given | None:
    """What the operation of the report was given, where memory showed one."""
    kept = next((o for incident in report.incidents for o in incident.operations), None)
    if kept is None:
        return None
    blamed = {g.argument for g in report.case.all(Guilty) if g.op == kept.op}
    plain = [a for a in kept.attributes if not a.name.startswith("_")]
    named = [*kept.inputs, *(a for a in plain if a.name in blamed)]
    # What is to blame is shown even where there are many more.
    order = sorted(range(len(named)), key=lambda n: (named[n].name not in blamed, n))[:MOST_ROWS]
    rows = tuple(_row(n, named[n], blamed) for n in sorted(order))
    implied = {i.dtype for i in kept.inputs}  # a type that an input shows need not be said again
    rest = [
        a for a in plain if a.name not in blamed and not (a.kind == "dtype" and a.text in implied)
    ]
    return Given(
        rows=rows,
        untold=len(named) - len(rows),
        attributes=_attributes(rest),
        place=one_line(", ".join(_place(kept)), most=240),
    )


def _row(n: int, argument: Argument, blamed: set[str]) -> Row:
    return Row(
        name=one_line(argument.name or f"input {n}", most=40),
        type=one_line(type_of(argument), most=60),
        values=one_line(" ".join(_values(argument)), most=LONGEST),
        guilty=argument.name in blamed,
    )


def type_of(argument: Argument) -> str:
    """``float32[2,3]``; what is no tensor by its kind."""
    word = argument.dtype or ("" if argument.kind == "list" else argument.kind)
    if argument.kind not in {"tensor", "array", "resource", "variant"}:
        return word
    sizes = "?" if argument.shape is None else ",".join(map(str, argument.shape))
    return f"{word}[{sizes}]" if argument.shape != [] else word


def _values(argument: Argument) -> Iterator[str]:
    if argument.values:
        shown = " ".join(shown_value(value) for value in argument.values[:MOST_VALUES])
        more = max(argument.elements or 0, len(argument.values)) > MOST_VALUES
        yield shown + (" …" if more else "")
    if argument.text:
        yield argument.text
    if argument.standing in STANDING:
        yield f"({STANDING[argument.standing]})"
    if argument.variable and argument.variable != argument.name:
        yield f"(your {argument.variable})"
    if argument.note:
        yield f"({argument.note})"


def shown_value(value: object) -> str:
    """A value in few characters."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return short(str(value), 40)


def _attributes(attributes: list[Argument]) -> str:
    """The attributes on one line, those that are more than a type first."""
    words = [f"{a.name} = {_plain(a)}" for a in attributes[:MOST_PLAIN]]
    left = len(attributes) - MOST_PLAIN
    more = f" and {left} more" if left > 0 else ""
    return one_line("with " + ", ".join(words) + more, most=240) if words else ""


def _plain(argument: Argument) -> str:
    said = next(_values(argument), "")
    if argument.kind == "list" or len(argument.values) > 1:
        return f"[{said}]"
    if argument.kind == "shape" and not said:
        return "?" if argument.shape is None else str(argument.shape)
    return said or argument.dtype or argument.kind


def _place(kept: Operation) -> Iterator[str]:
    """The node, the device, the kernel; of a model the operator and the file."""
    model = kept.model
    if model and model.index is not None:
        yield f"operator {model.index} of subgraph {model.subgraph or 0}"
    named = (
        ("model ", short_path(model.path) if model else ""),
        ("node ", kept.node if kept.node != kept.op else ""),
        ("pipeline ", kept.pipeline),
        ("delegate ", kept.delegate),
        ("", kept.device.rpartition("device:")[2] or kept.device),
        ("inside it ", kept.inner),
        ("kernel ", kept.kernel),
        ("", "its kernel was being made" if kept.state == "constructing" else ""),
    )
    yield from (label + name for label, name in named if name)
