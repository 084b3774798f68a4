"""Problems as JUnit XML, which build servers show: a test for each problem, or one that passed."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from sigwhy.report.harmless import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.check import Inspection
    from sigwhy.model.problem import Problem


def render(inspection: Inspection, *, seconds: float) -> str:
    """Write the document. Notes are tests that passed: they are shown, and break nothing."""
    return "\n".join(_document(inspection, seconds))


def _document(inspection: Inspection, seconds: float) -> Iterator[str]:
    problems = inspection.problems
    failures = sum(problem.severity != "note" for problem in problems)
    counts = f'tests="{max(len(problems), 1)}" failures="{failures}" time="{seconds:.3f}"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="sigwhy check" {counts}>'
    yield f'<testsuite name="sigwhy check" errors="0" {counts}>'
    for problem in problems:
        yield from _case(problem)
    if not problems:
        yield f'<testcase name="{inspection.checked} files checked" classname="sigwhy"/>'
    yield from ("</testsuite>", "</testsuites>")


def _case(problem: Problem) -> Iterator[str]:
    where = [problem.path, *(str(n) for n in (problem.line, problem.column) if n)]
    place = f" {problem.place}" if problem.place else ""
    name = _attribute(f"{':'.join(where)}{place}")
    yield f"<testcase name={name} classname={_attribute(problem.id)}>"
    says, fix = one_line(problem.says, most=2000), one_line(problem.fix, most=2000)
    if problem.severity == "note":
        yield f"<system-out>{escape(says)} Fix: {escape(fix)}</system-out>"
    else:
        kind = _attribute(problem.severity)
        yield f"<failure type={kind} message={_attribute(says)}>Fix: {escape(fix)}</failure>"
    yield "</testcase>"


def _attribute(words: str) -> str:
    return quoteattr(one_line(words, most=2000))
