"""Problems as commands of GitHub Actions, which become annotations of a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.report.harmless import harmless, one_line

if TYPE_CHECKING:
    from sigwhy.check import Inspection
    from sigwhy.model.problem import Problem

LEVELS = {"error": "error", "warning": "warning", "note": "notice"}
# What a command would take for its own.
ESCAPES = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
IN_FIELDS = ((":", "%3A"), (",", "%2C"))


def render(inspection: Inspection) -> str:
    """Write one command for each problem."""
    return "\n".join(_command(problem) for problem in inspection.problems)


def _command(problem: Problem) -> str:
    fields = [f"file={_field(problem.path)}"]
    if area := problem.area:
        fields += [
            f"line={area.line}",
            f"endLine={area.end_line}",
            f"col={area.column}",
            f"endColumn={area.end_column}",
        ]
    fields.append(f"title={_field(problem.id)}")
    place = f"{problem.place}: " if problem.place else ""
    says = one_line(f"{place}{problem.says}. Fix: {problem.fix}", most=2000)
    return f"::{LEVELS[problem.severity]} {','.join(fields)}::{_escaped(says)}"


def _field(words: str) -> str:
    found = _escaped(harmless(words))
    for sign, escape in IN_FIELDS:
        found = found.replace(sign, escape)
    return found


def _escaped(words: str) -> str:
    for sign, escape in ESCAPES:
        words = words.replace(sign, escape)
    return words
