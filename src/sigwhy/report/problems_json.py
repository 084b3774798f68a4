"""Problems as JSON: the contract for other tools. Every field may be null, and fields may be added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from sigwhy.model.problem import Confidence, Severity  # noqa: TC001 -- msgspec reads annotations at run time

if TYPE_CHECKING:
    from sigwhy.check import Inspection
    from sigwhy.model import problem as model

SCHEMA = 1


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """Another text for a piece of the file."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    certain: bool


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One mistake in one place."""

    id: str
    severity: Severity
    confidence: Confidence
    path: str
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None
    place: str | None
    says: str
    fix: str
    edit: Edit | None


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """All of them, and how many files were looked at."""

    schema: int
    problems: list[Problem]
    checked: int
    notes: list[str]


def render(inspection: Inspection) -> str:
    """Write the document."""
    document = Document(
        schema=SCHEMA,
        problems=[_problem(problem) for problem in inspection.problems],
        checked=inspection.checked,
        notes=[_sound(note) for note in inspection.notes],
    )
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode()


def schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What sigwhy check found",
        **msgspec.json.schema(Document),
    }


def _problem(problem: model.Problem) -> Problem:
    area = problem.area
    return Problem(
        id=problem.id,
        severity=problem.severity,
        confidence=problem.confidence,
        path=_sound(problem.path),
        line=problem.line,
        column=problem.column,
        end_line=area.end_line if area else None,
        end_column=area.end_column if area else None,
        place=_sound(problem.place) if problem.place else None,
        says=_sound(problem.says),
        fix=_sound(problem.fix),
        edit=_edit(problem.edit) if problem.edit else None,
    )


def _edit(edit: model.Edit) -> Edit:
    area = edit.area
    return Edit(
        line=area.line,
        column=area.column,
        end_line=area.end_line,
        end_column=area.end_column,
        text=edit.text,
        certain=edit.certain,
    )


def _sound(words: str) -> str:
    """Without halves of characters, which a path may hold and JSON may not."""
    return words.encode("utf-8", "replace").decode()
