"""Problems for a terminal: each with the line of the source, a mark below it, and what to do."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from sigwhy.report.harmless import harmless, one_line
from sigwhy.report.paper import within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sigwhy.check import Inspection
    from sigwhy.model.problem import Problem

COLOURS = {"error": "31;1", "warning": "33;1", "note": "36"}
UNBROKEN = "\u00a0"  # a space at which no line is broken
MARGIN = 5
MOST_MARKED = 200
MOST_NOTES = 20


def render(
    inspection: Inspection,
    lines: Callable[[str], Sequence[str]],
    *,
    seconds: float,
    width: int = 80,
    colour: bool = False,
) -> str:
    """Write all problems and one line that counts them. ``lines`` gives the text of a path."""
    paint = _painted if colour else _plain
    width = within(width)
    parts = [
        line
        for problem in inspection.problems
        for line in _problem(problem, lines, width=width, paint=paint)
    ]
    if parts:
        parts.append("")
    parts += [f"note: {one_line(note, most=400)}" for note in inspection.notes[:MOST_NOTES]]
    if len(inspection.notes) > MOST_NOTES:
        parts.append(f"note: and {len(inspection.notes) - MOST_NOTES} more like these")
    return "\n".join([*parts, _summary(inspection, seconds)])


def _problem(
    problem: Problem,
    lines: Callable[[str], Sequence[str]],
    *,
    width: int,
    paint: Callable[[str, str], str],
) -> Iterator[str]:
    where = [one_line(problem.path)]
    where += [str(n) for n in (problem.line, problem.column) if n]
    place = f" {one_line(problem.place)}:" if problem.place else ""
    head = f"{':'.join(where)}:{place}"
    label = f"{problem.severity}{UNBROKEN}{problem.id}"
    words = f"{head} {label}: {one_line(problem.says, most=2000)}"
    for line in wrap(words, width, subsequent_indent="  ", break_on_hyphens=False):
        painted = line.replace(label, paint(label, COLOURS[problem.severity]), 1)
        yield painted.replace(UNBROKEN, " ")
    if problem.area:
        yield from _shown(problem, lines(problem.path), width=width, paint=paint)
    yield from wrap(
        f"fix: {one_line(problem.fix, most=2000)}",
        width,
        initial_indent="  ",
        subsequent_indent="       ",
        break_on_hyphens=False,
    )


def _shown(
    problem: Problem, lines: Sequence[str], *, width: int, paint: Callable[[str, str], str]
) -> Iterator[str]:
    """The first line of the piece, and the mark below it."""
    area = problem.area
    if not area or not 1 <= area.line <= len(lines):
        return
    text = lines[area.line - 1].rstrip()
    indent = len(text) - len(text.lstrip())
    end = area.end_column - 1 if area.end_line == area.line else len(text)
    shown = harmless(text[indent:])
    before = len(harmless(text[indent : area.column - 1]))
    marked = min(max(len(harmless(text[area.column - 1 : end])), 1), MOST_MARKED)
    room = width - MARGIN - 4
    if len(shown) > room:
        cut = max(min(before - room // 4, len(shown) - room), 0)
        shown, before = shown[cut : cut + room], before - cut
        marked = max(min(marked, room - before), 1)
    yield f"{area.line:>{MARGIN}} | {shown}"
    mark = paint("^" * marked, COLOURS[problem.severity])
    yield f"{'':{MARGIN}} | {' ' * before}{mark}"


def _summary(inspection: Inspection, seconds: float) -> str:
    files = _count(inspection.checked, "file")
    if not inspection.problems:
        return f"{files} checked, nothing found, {seconds:.1f} s."
    counts = [
        _count(n, severity)
        for severity in COLOURS
        if (n := sum(p.severity == severity for p in inspection.problems))
    ]
    guilty = len({problem.path for problem in inspection.problems})
    first = inspection.problems[0].id
    return (
        f"{', '.join(counts)} in {guilty} of {files}, {seconds:.1f} s.  "
        f"sigwhy cause {first} tells more."
    )


def _count(n: int, word: str) -> str:
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


def _plain(words: str, _: str) -> str:
    return words


def _painted(words: str, code: str) -> str:
    return f"\x1b[{code}m{words}\x1b[0m"
