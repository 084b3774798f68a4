"""Waits for a command that is not watched: ptrace was refused, or our watching broke.

Its fate passes through all the same. Of its children nothing is seen.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sigwhy.run import ptrace

if TYPE_CHECKING:
    from collections.abc import Callable

    from sigwhy.run.ptrace import SigInfo
    from sigwhy.run.relay import Relay

STOPPED = 0x7F


def wait(relay: Relay, take: Callable[[], SigInfo | None]) -> int:
    """Until the command has ended; gives its wait status.

    ``take`` sleeps until a signal comes, and answers it. Threads that we watched until now, and that
    still stand for it, are let go.
    """
    patience = os.WNOHANG
    while True:
        try:
            pid, status = os.waitpid(-1, ptrace.ALL_THREADS | os.WUNTRACED | patience)
        except ChildProcessError:
            return 0
        if pid and status & 0xFF == STOPPED:
            stands(relay, pid, status)
        elif pid == relay.root:
            return status
        elif not pid:
            try:
                relay.stop_ourselves()
                take()
            except Exception:  # noqa: BLE001 -- whatever else fails, the end is waited for
                patience = 0


def stands(relay: Relay, tid: int, status: int) -> None:
    """Let a thread go that stands for us; where it does not, the terminal wants a stop."""
    number, event = status >> 8 & 0xFF, status >> 16
    if not ptrace.let_go(tid, 0 if event else number) and tid == relay.root:
        relay.stop_wanted = number
