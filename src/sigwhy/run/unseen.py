"""Deaths without a stop: SIGKILL, a signal that was sent, an exit status. What is known all the same."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from sigwhy.autopsy.redact import redacted, redacted_command
from sigwhy.machine.signals import LINUX
from sigwhy.model.incident import Incident, Signal
from sigwhy.run import kernel_log

if TYPE_CHECKING:
    from sigwhy.model.incident import Process, Thread
    from sigwhy.run.supervise import Member
    from sigwhy.run.timeline import Timeline

KILL = 9


def incident(
    member: Member,
    *,
    at: str,
    timeline: Timeline,
    last_look: tuple[float, list[Thread]] | None,
    processes: list[Process],
) -> Incident:
    """What is known of a process that nobody could look at when it ended."""
    status = member.status or 0
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    series = timeline.series.get(member.pid)
    blind, log = [], []
    if number == KILL:
        try:
            log = kernel_log.about({member.pid}, kernel_log.lines(timeline.began))
        except kernel_log.CannotReadError as error:
            blind.append(f"the log of the kernel ({error})")
    notes = []
    if last_look:
        notes.append(
            f"the Python frames are those of {time.monotonic() - last_look[0]:.1f} s before the end was told,"
            " when memory ran low"
        )
    return Incident(
        way="trace",
        at=at,
        command=redacted_command(member.command),
        pid=member.pid,
        tid=member.pid if number else None,
        signal=_signal(member, number) if number else None,
        exit_status=os.waitstatus_to_exitcode(status),
        processes=processes,
        memory=timeline.memory(member.pid),
        limits=dict(series.limits) if series else {},
        threads=last_look[1] if last_look else [],
        kernel=[redacted(str(line)) for line in log],
        blind=blind,
        notes=notes,
    )


def _signal(member: Member, number: int) -> Signal:
    from sigwhy.run.capture import signal_of

    if heard := member.heard.get(number):
        return signal_of(heard[0], heard[1])
    return Signal(name=LINUX.get(number, f"SIG{number}"), number=number)
