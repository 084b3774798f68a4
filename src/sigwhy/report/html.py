"""The report as one page that stands alone: no script, nothing loaded from elsewhere."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from sigwhy.report.story import tell
from sigwhy.report.threads import Gap, Shown, folded, threads
from sigwhy.report.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jinja2 import Template

    from sigwhy.model.report import Report
    from sigwhy.report.threads import Thread

MOST_STACKS = 24
MOST_FRAMES = 200
FEW = 3  # calls of the interpreter in a row that are not worth folding


class Numbered(NamedTuple):
    """A row of a stack, with the number of its (first) call; ``call`` is None where it is a gap."""

    number: int
    call: Shown | None
    row: Shown | Gap


def render(report: Report) -> str:
    """Write a report as HTML."""
    return _page().render(
        story=tell(report), stacks=_stacks(report), tags=_tags(report), drawn=timeline(report)
    )


@cache
def _page() -> Template:
    world = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    world.filters["marked"] = marked
    return world.from_string((files("sigwhy.report") / "page.html.j2").read_text(encoding="utf-8"))


def marked(line: str, words: str) -> Markup:
    """A line with the words that matter between ``<mark>`` and ``</mark>``."""
    before, found, after = line.partition(words) if words else (line, "", "")
    if not found:
        return escape(line)
    return Markup("{}<mark>{}</mark>{}").format(before, found, after)


def _tags(report: Report) -> tuple[tuple[str, str], ...]:
    """The ids, as other tools know them."""
    seen, verdict = report.seen, report.verdict
    return (
        *((("mechanism", seen.mechanism.id),) if seen else ()),
        *((("cause", verdict.cause.id),) if verdict else ()),
    )


def _stacks(report: Report) -> list[tuple[Thread, list[Numbered]]]:
    """Each stack with its rows: calls, and runs of the interpreter's own, which are folded."""
    return [
        (thread, list(_numbered(folded(thread.calls[:MOST_FRAMES], _is_open, least=FEW))))
        for thread in threads(report)[:MOST_STACKS]
    ]


def _is_open(call: Shown) -> bool:
    return not call.machinery or call.culprit


def _numbered(rows: list[Shown | Gap]) -> Iterator[Numbered]:
    number = 0
    for row in rows:
        yield Numbered(number, row if isinstance(row, Shown) else None, row)
        number += row.times if isinstance(row, Shown) else sum(call.times for call in row.calls)
