"""What an autopsy says: lines to quote, and the fact that they show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sigwhy.model.case import Evidence
from sigwhy.model.fact import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sigwhy.model.fact import Fact

NO_SPAN = Span(evidence="", first=0, last=0)  # until the lines have their place


@dataclass(frozen=True, slots=True)
class Told:
    """Some lines and what they show; lines alone are told for the reader's sake."""

    lines: tuple[str, ...]
    fact: Fact | None = None
    words: str = ""

    @classmethod
    def of(cls, line: str, fact: Fact | None = None, words: str = "") -> Told:
        """One line."""
        return cls((line,), fact, words)


def assembled(name: str, told: Iterable[Told]) -> tuple[Evidence, tuple[Fact, ...]]:
    """The lines as evidence, and the facts with their places in it."""
    lines: list[str] = []
    facts: list[Fact] = []
    for one in told:
        first = len(lines)
        lines += [line.replace("\n", " ") for line in one.lines]
        if one.fact:
            last = max(first, len(lines) - 1)
            span = Span(evidence=name, first=first, last=last, words=one.words)
            facts.append(replace(one.fact, span=span))
    return Evidence(
        name, tuple(lines), tuple(lines), tuple((n + 1, n + 1) for n in range(len(lines)))
    ), tuple(facts)
