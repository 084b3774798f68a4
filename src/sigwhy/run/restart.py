"""Services: a command that dies is started again, a few times, with longer and longer pauses.

A command that ends well, or that somebody asked to end, stays ended.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

LONGEST_PAUSE = 300.0
RAN_WELL_SECONDS = 60.0  # a run so long makes the next pause the shortest again
ASKED_TO_END = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})


@dataclass(slots=True)
class Restart:
    """How often a command may be started again, and how long to wait before."""

    times: int = 0
    backoff_seconds: float = 1.0
    done: int = 0
    _pause: float = 0.0

    def wanted(self, status: int, *, seconds: float, asked: bool) -> bool:
        """Whether a command that ended so, after so many seconds, is to be started again."""
        if asked or status == 0 or self.done >= self.times:
            return False
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) in ASKED_TO_END:
            return False
        if seconds >= RAN_WELL_SECONDS:
            self._pause = 0.0
        self._pause = min(self._pause * 2 or self.backoff_seconds, LONGEST_PAUSE)
        self.done += 1
        return True

    @property
    def pause_seconds(self) -> float:
        """How long to wait before the next start."""
        return self._pause
