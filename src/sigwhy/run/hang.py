"""Looks at the processes of a tree that hangs: which of them first, and what becomes of it."""

from __future__ import annotations

import os
import select
import sys
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import msgspec

from sigwhy.autopsy import native_frames
from sigwhy.autopsy.apart import Apart
from sigwhy.machine import waiting
from sigwhy.machine.signals import LINUX
from sigwhy.model.incident import Signal
from sigwhy.run import finish, proc
from sigwhy.run.capture import Keep, look
from sigwhy.run.relatives import relatives
from sigwhy.run.turning import turning

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sigwhy.model.incident import Incident, Process, Turning
    from sigwhy.run.capture import Look
    from sigwhy.run.standstill import Reason
    from sigwhy.run.supervise import Loop

MOST_CANDIDATES = 64
UNWIND_SECONDS = 8.0
MACHINE = os.uname().machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Hanging:
    """A process that was looked at because it hung, or because it was to be ended."""

    look: Look
    unwinding: Apart | None
    at: str
    reason: Reason
    turning: Turning | None
    relatives: list[Process]


@dataclass(slots=True)
class Hang:
    """Takes the looks. ``tell`` is told, in a process of its own, of those after which it goes on."""

    folder: Callable[[], Path]
    tell: Callable[[list[tuple[Incident, Path | None]]], None] | None = None
    seen: list[Hanging] = field(default_factory=list)
    telling: list[int] = field(default_factory=list)  # handles of processes that tell
    _count: int = 0

    def close(self) -> None:
        """Whoever still tells needs the cores: wait for him."""
        for handle in self.telling:
            waiting = select.poll()
            waiting.register(handle, select.POLLIN)
            waiting.poll(int(UNWIND_SECONDS * 1000))
            os.close(handle)
        self.telling.clear()

    def look(self, loop: Loop, reason: Reason) -> None:
        """Look at whoever holds the others up, then at the command itself."""
        busy = reason.moved.busiest
        turns = turning(busy[1], reason.moved.wanted[busy], _later(loop)) if busy else None
        found = []
        for pid in dict.fromkeys((*ranked(loop, busy[0] if busy else None)[:1], loop.root)):
            mine = turns if busy and pid == busy[0] else None
            found.append(self._one(loop, pid, reason, mine))
        if not reason.goes_on:
            self.seen += found
        elif self.tell:
            self._tell(loop, found)

    def _one(self, loop: Loop, pid: int, reason: Reason, turns: Turning | None) -> Hanging:
        self._count += 1
        around = relatives(living(loop))
        standing = loop.hold(pid)
        try:
            kept = look(
                pid,
                turns.tid if turns else pid,
                info=None,
                standing=standing,
                keep=Keep(self.folder() / f"core.{pid}.hang.{self._count}"),
            )
        finally:
            loop.release(standing)
        return Hanging(
            look=kept,
            unwinding=None if reason.goes_on else _unwinding(kept),
            at=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
            reason=reason,
            turning=turns,
            relatives=around,
        )

    def _tell(self, loop: Loop, found: list[Hanging]) -> None:
        """In a process of its own: the loop must not wait."""
        if not self.tell:
            return
        if child := os.fork():
            self.telling.append(os.pidfd_open(child))  # the loop hears of its end, too
            return
        try:
            told = []
            for one in found:
                ready = msgspec.structs.replace(one.look.incident, processes=one.relatives)
                look = replace(one.look, incident=ready)
                told.append(
                    (finished(loop, replace(one, look=look, unwinding=_unwinding(look))), look.core)
                )
            self.tell(told)
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
        finally:
            os._exit(0)


def living(loop: Loop) -> list[int]:
    """Whoever of the tree has not ended."""
    return [m.pid for m in loop.members.values() if m.status is None][:MOST_CANDIDATES]


def _later(loop: Loop) -> Callable[[int, int], None]:
    """What happened to a thread while we asked it to stop is answered by the loop, as all else."""
    return lambda tid, status: loop.waiting.append((tid, status))


def _unwinding(kept: Look) -> Apart | None:
    if kept.core is None:
        return None
    return Apart(native_frames.of_core, str(kept.core), seconds=UNWIND_SECONDS)


def ranked(loop: Loop, busy: int | None) -> list[int]:
    """The processes of a tree, first the one that most likely holds the others up."""
    pids = living(loop)
    order = {pid: n for n, pid in enumerate(pids)}
    return sorted(pids, key=lambda pid: (pid != busy, -inward(pid), -order[pid]))


def inward(pid: int) -> int:
    """How much a process waits for itself: 2 all its threads, 1 the first one, 0 for somebody else."""
    waits = [_waits_inside(pid, tid) for tid in proc.threads(pid)]
    if not waits or not waits[0]:
        return 0
    return 2 if all(waits) else 1


def _waits_inside(pid: int, tid: int) -> bool:
    words = proc.text(f"/proc/{pid}/task/{tid}/syscall").split()
    if len(words) < 7 or not words[0].isdecimal():
        return False
    known = waiting.call(words[0], MACHINE)
    arguments = [int(word, 16) for word in words[1:7]]
    if known is None or known.kind != "futex":
        return False
    return waiting.is_private(arguments) and not waiting.has_limit(known, arguments)


def finished(loop: Loop, hanging: Hanging) -> Incident:
    """The Incident of a look, with native frames, and with how it was ended."""
    pid = hanging.look.incident.pid or 0
    found = finish.finished(pid, hanging.look, hanging.unwinding)
    threads = found.threads
    turns, reason = hanging.turning, hanging.reason
    if turns and turns.on_the_spot:
        threads = [msgspec.structs.replace(t, crashed=t.tid == turns.tid) for t in threads]
    return msgspec.structs.replace(
        found,
        at=hanging.at,
        tid=turns.tid if turns else found.pid,
        threads=threads,
        turning=turns,
        hang_seconds=max(reason.still_seconds, 0.1) if reason.moved.is_still else None,
        signal=_ended_by(loop, found.pid, reason),
    )


def _ended_by(loop: Loop, pid: int | None, reason: Reason) -> Signal | None:
    """The signal that ended the command itself, and who sent it, where it was asked to end."""
    status = next((m.status for m in loop.gone if m.pid == loop.root), None)
    if pid != loop.root or reason.asked is None or status is None or not os.WIFSIGNALED(status):
        return None
    number = os.WTERMSIG(status)
    return Signal(
        name=LINUX.get(number, f"SIG{number}"),
        number=number,
        code="SI_USER",
        sender_pid=reason.sender,
        sender_name=reason.sender_name,
    )


def with_relatives(processes: list[Process], hanging: Hanging) -> list[Process]:
    """The processes as they ended, with what each waited for when it was looked at."""
    ended = {process.pid: process for process in processes}
    for one in hanging.relatives:
        known = ended.get(one.pid, one)
        ended[one.pid] = msgspec.structs.replace(known, forked=one.forked, stands=one.stands)
    return list(ended.values())
