"""What a check found: where, how bad, why, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
Confidence = Literal["certain", "likely", "possible"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A piece of a text. Lines and columns begin with 1; ``end_column`` is the first one behind it."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Another text for a piece of a file. Only one that is ``certain`` is made by ``--fix``."""

    area: Area
    text: str
    certain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake in one place.

    ``error`` dies when it runs, ``warning`` can die, ``note`` wastes something or dies elsewhere.
    A text has an ``area``; of a model or a machine ``place`` says in words where it is.
    """

    id: str
    severity: Severity
    says: str
    fix: str
    path: str = ""
    area: Area | None = None
    place: str | None = None
    confidence: Confidence = "certain"
    edit: Edit | None = None

    @property
    def line(self) -> int | None:
        """The first line, where there are lines."""
        return self.area.line if self.area else None

    @property
    def column(self) -> int | None:
        """The first column, where there are columns."""
        return self.area.column if self.area else None
