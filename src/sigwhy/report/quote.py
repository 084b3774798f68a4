"""The lines of the evidence that a fact was read from, with their neighbours, ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.report.harmless import harmless, window

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case, Evidence
    from sigwhy.model.fact import Span

NEIGHBOURS = 2
MOST_LINES = 8
WIDEST = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the evidence; ``hit`` tells the lines of the fact from their neighbours."""

    number: int
    text: str
    hit: bool


def lines(case: Case, span: Span) -> tuple[Line, ...]:
    """The lines of a fact, as they were found, and a few around them."""
    evidence = next(e for e in case.evidence if e.name == span.evidence)
    last = min(span.last, span.first + MOST_LINES - 1)
    after = NEIGHBOURS if last == span.last else 0
    rows = range(max(span.first - NEIGHBOURS, 0), min(last + after + 1, len(evidence.raw)))
    found = [
        line
        for row in rows
        for line in _lines(evidence, row, span.words, hit=span.first <= row <= last)
    ]
    told = [n for n, line in enumerate(found) if line.hit or line.text.strip()]
    return tuple(found[told[0] : told[-1] + 1])


def _lines(evidence: Evidence, row: int, words: str, *, hit: bool) -> Iterator[Line]:
    """One row that was read may have been several lines of the source, where it was wrapped."""
    text = harmless(window(evidence.raw[row], words, 4 * WIDEST))
    for offset, part in enumerate(text.split("\n")):
        shown = window(part.rstrip(), harmless(words), WIDEST)
        yield Line(number=evidence.places[row][0] + offset, text=shown, hit=hit)
