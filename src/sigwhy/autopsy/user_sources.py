"""The user's own sources as evidence: the lines that were kept, and the risks that they take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.autopsy.risks import risks
from sigwhy.model.case import Evidence
from sigwhy.model.fact import Span, Wrote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Incident


def pieces(incident: Incident) -> Iterator[tuple[Evidence, tuple[Wrote, ...]]]:
    """Each file with its kept lines, and a fact for each line that takes a risk."""
    for path, kept in incident.sources.items():
        numbers = sorted(kept)
        lines = tuple(kept[n].replace("\n", " ") for n in numbers)
        name = path if path.startswith("/") else f"source {path}"
        evidence = Evidence(name, lines, lines, tuple((n, n) for n in numbers))
        yield evidence, tuple(_risks(evidence, path, numbers))


def _risks(evidence: Evidence, path: str, numbers: list[int]) -> Iterator[Wrote]:
    for at, (number, line) in enumerate(zip(numbers, evidence.lines, strict=True)):
        for topic, call in risks(line).items():
            span = Span(evidence=evidence.name, first=at, last=at, words=call)
            yield Wrote(span=span, topic=topic, call=call, file=path, line=number)
