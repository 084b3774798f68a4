"""One crash: all the evidence of it, and the facts read from the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.fact import Fact, Span

F = TypeVar("F", bound="Fact")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A text about the crash: what readers read, and the raw lines that it was peeled from.

    ``lines`` are free of prefixes, colours and line ends. ``raw`` and ``places`` run beside them:
    the words as they were found, and the first and last line number (from 1) in the source.
    """

    name: str
    lines: tuple[str, ...]
    raw: tuple[str, ...]
    places: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, name: str, text: str) -> Evidence:
        """Take a text as it is: one line of it is one line to read."""
        lines = tuple(text.splitlines())
        return cls(name, lines, lines, tuple((n, n) for n in range(1, len(lines) + 1)))

    @property
    def is_thin(self) -> bool:
        """Whether hardly anything was said: three lines or fewer that hold words."""
        return sum(bool(line.strip()) for line in self.lines) <= 3


@dataclass(frozen=True, slots=True)
class Gathered:
    """The evidence of one case, and words about what was left out of it."""

    evidence: tuple[Evidence, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Words from the evidence, with the lines (from 1) on which they stand."""

    evidence: str
    first: int
    last: int
    text: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """The facts of one crash, in the order in which they were read."""

    evidence: tuple[Evidence, ...]
    facts: tuple[Fact, ...]

    def all(self, kind: type[F]) -> Iterator[F]:
        """Every fact of this kind."""
        return (fact for fact in self.facts if isinstance(fact, kind))

    def first(self, kind: type[F]) -> F | None:
        """The first fact of this kind, if there is one."""
        return next(self.all(kind), None)

    def quote(self, span: Span) -> Quote:
        """The very words the fact was read from."""
        found = next(e for e in self.evidence if e.name == span.evidence)
        rows = slice(span.first, span.last + 1)
        places = found.places[rows]
        return Quote(
            evidence=span.evidence,
            first=places[0][0],
            last=places[-1][1],
            text="\n".join(found.raw[rows]),
            words=span.words,
        )
