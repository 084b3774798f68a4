"""``sigwhy.attach()``: what a process that lives and hangs waits for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    import os

    from sigwhy.model.report import Report
    from sigwhy.run.attach import Attached, Attaching


def attach(pid: int, *, incidents: str | os.PathLike[str] | None = None) -> Report:
    """Say what a process waits for, and let it go on unharmed.

    Its threads are held together for a fraction of a second; where it only waits for a process that it
    started, so are that one's. ``incidents`` is a folder in which what
    was seen is kept. Raises ``UsageError`` where the process cannot be looked at, and says why.
    """
    if sys.platform != "linux":
        raise UsageError(f"sigwhy.attach works on Linux, this is {sys.platform}")
    from dataclasses import replace
    from pathlib import Path

    from sigwhy.run.attach import Attaching
    from sigwhy.run.shelf import Shelf

    kept = None
    with Attaching() as attaching:
        found, report = _told(attaching, pid)
        if incidents is not None:
            kept = Shelf(Path(incidents)).put(found.incident, found.core)
    report = replace(report, kept_in=(str(kept.path) if kept and kept.path else None,))
    return replace(report, notes=(*report.notes, kept.word)) if kept and kept.word else report


def _told(attaching: Attaching, pid: int) -> tuple[Attached, Report]:
    """The process itself; where it only waits, the one below it that it waits for, if that tells."""
    from sigwhy.explain import judge
    from sigwhy.model.case import Gathered

    found = attaching.see(pid)
    report = judge(Gathered(()), found.incident)
    if report.verdict or found.incident.hang_seconds is None:
        return found, report
    for child in attaching.below(pid):
        other = judge(Gathered(()), child.incident)
        if other.verdict:
            return child, other
    return found, report
