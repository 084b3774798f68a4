"""Memory over time: as a line of little bars for the terminal, as a drawing for the page.

The drawing is SVG with the page's own colours, without a script; numbers alone go into it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sigwhy.report.harmless import one_line
from sigwhy.report.size import size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sigwhy.model.incident import Incident, Memory, Sample
    from sigwhy.model.report import Report

T = TypeVar("T")
BARS = "▁▂▃▄▅▆▇█"
CELLS = 16
POINTS = 200
LEFT, RIGHT, TOP, BOTTOM = 0, 640, 0, 120  # the box of the drawing
MOST_SPOTS = 5
NEAR_LIMIT = 0.8
MEMORY = frozenset({"out-of-memory"})
CAUSES = frozenset({"memory-leak", "memory-demand"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the drawing: what it shows, its points, and how it is drawn."""

    name: str
    kind: str
    points: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The drawing: lines in a box, the limit, and words."""

    says: str
    lines: tuple[Line, ...]
    limit: float | None
    limit_says: str
    top_says: str
    end_says: str
    spots: tuple[str, ...]


def sparkline(report: Report) -> str | None:
    """``▁▂▃▄▅▆▇█  0.4 -> 4.0 GiB in 71 s``, where memory has to do with the death."""
    kept = _kept(report)
    if kept is None or not (_is_about_memory(report) or _is_near(kept)):
        return None
    series = _series(kept)
    cells = _thinned([value for _, value in series], CELLS)
    highest = max(cells)
    bars = "".join(BARS[min(value * len(BARS) // (highest + 1), len(BARS) - 1)] for value in cells)
    return f"{bars}  {_span(series)}"


def timeline(report: Report) -> Timeline | None:
    """The drawing of the first Incident that has one."""
    kept = _kept(report)
    if kept is None:
        return None
    samples = kept.samples
    seconds = max(sample.seconds for sample in samples)
    begin = min(sample.seconds for sample in samples)
    highest = max(max(s.resident_bytes, s.tree_bytes, s.group_bytes) for s in samples)
    limit = kept.group_limit_bytes
    shows_limit = limit is not None and 0 < limit < 4 * highest
    top = max(highest, limit or 0) if shows_limit else highest
    box = _Box(begin, max(seconds - begin, 1e-9), max(top, 1))
    series = (
        ("its control group", "group", [(s.seconds, s.group_bytes) for s in samples]),
        ("all its processes", "tree", [(s.seconds, s.tree_bytes) for s in samples]),
        ("the process", "own", [(s.seconds, s.resident_bytes) for s in samples]),
    )
    own = series[2][2]
    return Timeline(
        says=f"Resident memory: {_span(_series(kept))}",
        lines=tuple(
            Line(name=name, kind=kind, points=box.points(rows))
            for name, kind, rows in series
            if any(value for _, value in rows) and (kind == "own" or rows != own)
        ),
        limit=box.y(limit) if shows_limit and limit is not None else None,
        limit_says=f"- - limit {size(limit)}" if shows_limit and limit is not None else "",
        top_says=size(top),
        end_says=f"{seconds - begin:.3g} s",
        spots=tuple(
            one_line(f"at {spot.seconds:.3g} s, {size(spot.resident_bytes)}: {spot.places[0]}")
            for spot in kept.spots[:MOST_SPOTS]
            if spot.places
        ),
    )


@dataclass(frozen=True, slots=True)
class _Box:
    """From seconds and bytes to places in the drawing."""

    begin: float
    seconds: float
    top: int

    def y(self, value: int) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * min(max(value / self.top, 0), 1), 1)

    def points(self, rows: Sequence[tuple[float, int]]) -> str:
        thin = _thinned(rows, POINTS)
        return " ".join(
            f"{LEFT + (RIGHT - LEFT) * min(max((at - self.begin) / self.seconds, 0), 1):.1f},{self.y(value)}"
            for at, value in thin
        )


def _kept(report: Report) -> Memory | None:
    """The timeline of the first Incident that has more than one moment of it."""
    return next((kept for i in report.incidents if (kept := _of(i))), None)


def _of(incident: Incident) -> Memory | None:
    kept = incident.memory
    return kept if kept and len(kept.samples) > 1 and any(map(_all, kept.samples)) else None


def _all(sample: Sample) -> int:
    return max(sample.resident_bytes, sample.tree_bytes, sample.group_bytes)


def _series(kept: Memory) -> list[tuple[float, int]]:
    """What counts: of the process, or of all of them where those grew to much more."""
    own = [(s.seconds, max(s.resident_bytes, 0)) for s in kept.samples]
    tree = [(s.seconds, max(s.tree_bytes, 0)) for s in kept.samples]
    return tree if max(v for _, v in tree) > 2 * max(v for _, v in own) else own


def _span(series: Sequence[tuple[float, int]]) -> str:
    values = [value for _, value in series]
    highest = max(values)
    after = f", {size(highest)} at most" if highest > 1.1 * values[-1] else ""
    return f"{size(values[0])} -> {size(values[-1])} in {series[-1][0] - series[0][0]:.3g} s{after}"


def _thinned(rows: Sequence[T], most: int) -> list[T]:
    """At most so many of them, evenly spread, the first and the last among them."""
    if len(rows) <= most:
        return list(rows)
    return [rows[n * (len(rows) - 1) // (most - 1)] for n in range(most)]


def _is_about_memory(report: Report) -> bool:
    seen = report.seen.mechanism.id if report.seen else None
    cause = report.verdict.cause.id if report.verdict else None
    return seen in MEMORY or cause in CAUSES


def _is_near(kept: Memory) -> bool:
    limit = kept.group_limit_bytes or kept.machine_bytes
    return bool(limit and limit > 0 and max(map(_all, kept.samples)) > NEAR_LIMIT * limit)
