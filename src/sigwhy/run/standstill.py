"""Notices that nothing moves any more, or that something turns in a circle; says when to look.

Every few seconds the CPU time of the tree is read, some ten microseconds for each thread; nobody is
disturbed. A closer look is taken when somebody asks the command to end and it had not moved, when
its time is over (``timeout``), and when it has not moved for so long as the user said (``hang``).
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sigwhy.run import proc
from sigwhy.run.pulse import Pulse, pulse

if TYPE_CHECKING:
    from sigwhy.run.pulse import Moved
    from sigwhy.run.supervise import Loop

OFTEN, SELDOM, OLD = 2.0, 5.0, 20.0  # seconds between pulses of a young and of an old command
YOUNG = 1.5  # seconds: whoever is ended so early did not hang
SHORT = 0.3  # seconds between two pulses, at the least
GRACE = 5.0  # seconds from SIGTERM to SIGKILL
OVERTIME = 124  # the exit status, as timeout(1) has it
LOOKS_FOR_HANG = 4
MOST_ASKED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why to look: what moved, since when nothing did, and who asked for the end."""

    moved: Moved
    still_seconds: float
    asked: int | None = None  # the signal
    sender: int | None = None
    sender_name: str | None = None
    goes_on: bool = False


@dataclass(slots=True)
class Standstill:
    """Watches one tree, and gives the reason to look closer where there is one.

    ``due`` is in how many seconds it wants to be asked again.
    """

    timeout: float | None = None
    hang: float | None = None
    began: float = field(default_factory=time.monotonic)
    overtime: bool = False
    due: float = 0.0
    _last: Pulse | None = None
    _still_since: float | None = None
    _pulse_at: float = 0.0
    _kill_at: float | None = None
    _has_told: bool = False
    _asked: int = 0

    def tick(self, loop: Loop) -> Reason | None:
        """Read a pulse, if it is due; gives a reason to look."""
        now = time.monotonic()
        if self._kill_at is not None:
            self._kill(loop, now)
            return None
        if self.timeout is not None and now - self.began >= self.timeout:
            self.overtime = True
            moved = self._feel(loop, wait=True)
            return self._reason(
                moved, asked=signal.SIGTERM, sender=(os.getpid(), "sigwhy run --timeout")
            )
        reason = None
        if now >= self._pulse_at:
            moved = self._feel(loop)
            self._pulse_at = now + self._interval(now)
            if self._hangs(now) and not _is_stopped(loop.root):
                self._has_told = True
                reason = self._reason(moved, goes_on=True)
        self.due = self._pulse_at - now
        if self.timeout is not None:
            self.due = min(self.due, self.began + self.timeout - now)
        return reason

    def answer(self, loop: Loop, reason: Reason | None) -> None:
        """After the look: a command whose time is over is asked to end, and killed after a moment."""
        if reason is None or not self.overtime or self._kill_at is not None:
            return
        self._kill_at = time.monotonic() + GRACE
        self.due = GRACE
        for number in (signal.SIGTERM, signal.SIGCONT):
            with contextlib.suppress(OSError):
                os.kill(loop.root, number)

    def asked(self, loop: Loop, number: int, sender: int | None) -> Reason | None:
        """Somebody asks the command to end: a reason to look first, if it seems to hang."""
        if time.monotonic() - self.began < YOUNG or _is_stopped(loop.root):
            return None
        name = proc.name(sender) if sender else None
        moved = self._feel(loop, wait=sender is not None)
        # Ctrl-C is for whoever computes, too, and has reached him already: only a hang is looked at.
        if self._asked >= MOST_ASKED or not (moved.is_still or (sender and moved.busiest)):
            return None
        self._asked += 1
        return self._reason(moved, asked=number, sender=(sender, name))

    def _interval(self, now: float) -> float:
        usual = OFTEN if now - self.began < OLD else SELDOM
        return usual if self.hang is None else min(usual, max(self.hang / LOOKS_FOR_HANG, SHORT))

    def _feel(self, loop: Loop, *, wait: bool = False) -> Moved:
        """What moved since the last pulse, or in a moment where that was just now."""
        new = pulse(_living(loop))
        last = self._last or new
        moved = new.since(last)
        short = new.at - last.at < SHORT
        if wait and (short or not (moved.is_still or moved.busiest)):
            last = new  # it moved since the last pulse; whether it does now is another question
            time.sleep(SHORT)
            new = pulse(_living(loop))
            moved = new.since(last)
        self._last = new
        if not moved.is_still:
            self._still_since, self._has_told = None, False
        elif self._still_since is None:
            self._still_since = last.at
        return moved

    def _hangs(self, now: float) -> bool:
        since = self._still_since
        if self.hang is None or since is None or self._has_told:
            return False
        return now - since >= self.hang

    def _reason(
        self,
        moved: Moved,
        *,
        asked: int | None = None,
        sender: tuple[int | None, str | None] = (None, None),
        goes_on: bool = False,
    ) -> Reason:
        since = self._still_since
        return Reason(
            moved=moved,
            still_seconds=0.0 if since is None else time.monotonic() - since,
            asked=asked,
            sender=sender[0],
            sender_name=sender[1],
            goes_on=goes_on,
        )

    def _kill(self, loop: Loop, now: float) -> None:
        """Who has not ended in time is killed, with all that it started."""
        self.due = GRACE
        if self._kill_at is None or now < self._kill_at:
            self.due = (self._kill_at or now) - now
            return
        for pid in _living(loop):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def _living(loop: Loop) -> list[int]:
    return [member.pid for member in loop.members.values() if member.status is None]


def _is_stopped(pid: int) -> bool:
    """Whether somebody has stopped it, with Ctrl-Z or a signal: then it may stand still."""
    state = proc.stat(pid)[:1]
    return bool(state) and state[0] == "T"
