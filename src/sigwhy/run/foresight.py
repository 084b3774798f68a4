"""Looks at Python while memory runs out: whoever is killed for memory has no last words.

A process that fills its memory is looked at at five marks, once each. Where the end is a matter of
moments it is held meanwhile; else it runs on, and a look that fails is none.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from sigwhy.model.incident import PythonFrame, Thread
    from sigwhy.run.timeline import Timeline

# How full memory is, and within how many seconds it must be gone for the mark to count.
MARKS = ((0.3, 0.25), (0.5, 4.0), (0.65, 4.0), (0.8, 3600.0), (0.92, 3600.0))
HOLD_BELOW = 2.0
SECONDS = 0.5
ROOM_BYTES = 96 << 20  # what the look itself needs, if it happens within the same limit
MOST_PLACES, MOST_OWN = 12, 4
PACKAGED = re.compile(r"site-packages|dist-packages|/lib/python\d|^<")


@dataclass(slots=True)
class Foresight:
    """The looks of one run; ``hold`` stops a process, and gives what lets it go on."""

    timeline: Timeline
    hold: Callable[[int], Callable[[], None]]
    passed: dict[int, int] = field(default_factory=dict)  # marks, by process
    threads: dict[int, tuple[float, list[Thread]]] = field(default_factory=dict)

    def look(self) -> None:
        """Look if a mark has been passed."""
        full, left = self.timeline.nearest()
        if full < MARKS[0][0]:
            return
        pid = self.timeline.biggest()
        if pid is None:
            return
        mark = max(
            (n for n, (share, soon) in enumerate(MARKS, 1) if full >= share and left < soon),
            default=0,
        )
        if mark <= self.passed.get(pid, 0):
            return
        self.passed[pid] = mark
        if self.timeline.room_bytes(pid) > ROOM_BYTES:
            self._look(pid, now=left < HOLD_BELOW)

    def _look(self, pid: int, *, now: bool) -> None:
        from sigwhy.autopsy import python_frames
        from sigwhy.autopsy.apart import Apart
        from sigwhy.model.incident import Spot, Thread

        release = self.hold(pid) if now else None
        at, resident = time.monotonic(), self.timeline.read_now(pid)
        try:
            found, _ = Apart(python_frames.of_process, pid, seconds=SECONDS).result()
        finally:
            if release:
                release()
        if not found:
            return
        told = python_frames.interpreter(found)
        asking = told.holds_gil or (pid if pid in told.frames else next(iter(told.frames), pid))
        self.threads[pid] = (
            at,
            [
                Thread(tid=tid, crashed=tid == asking, python=calls)
                for tid, calls in told.frames.items()
            ],
        )
        calls = told.frames.get(asking, [])
        self.timeline.add_spot(
            pid,
            Spot(
                round(at - self.timeline.series[pid].began, 3),
                resident,
                [f"{c.file}:{c.line} in {c.function}()" for c in _kept(calls)],
            ),
        )


def _kept(calls: list[PythonFrame]) -> list[PythonFrame]:
    """The innermost calls, and the innermost of the user's own, however deep they lie."""
    own = [c for c in calls[MOST_PLACES:] if not PACKAGED.search(c.file)]
    return [*calls[:MOST_PLACES], *own[:MOST_OWN]]
