"""Turns deaths into Incidents: looks when the loop says so, and finishes the work afterwards.

The modules that look are loaded when somebody dies, so that a program that lives pays nothing.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.run.foresight import Foresight
from sigwhy.run.standstill import Reason, Standstill
from sigwhy.run.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import Self

    from sigwhy.autopsy.apart import Apart
    from sigwhy.model.incident import Incident, Process
    from sigwhy.run.capture import Look
    from sigwhy.run.hang import Hang
    from sigwhy.run.ptrace import SigInfo
    from sigwhy.run.supervise import Loop, Member

UNWIND_SECONDS = 8.0
MOST_LOOKS = 8
MOST_PROCESSES = 200
KILL = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A process that was looked at: what was kept, and its native frames in the making."""

    member: Member
    look: Look
    unwinding: Apart | None
    at: str


def now() -> str:
    """The time, as an Incident tells it."""
    from datetime import datetime, timezone

    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


@dataclass(slots=True)
class Recorder:
    """Watches the loop for one command. A context: its folder of cores goes with it."""

    loop: Loop | None = None
    seen: list[Seen] = field(default_factory=list)
    passed_over: int = 0
    was_asked: bool = False
    memory_broke: str | None = None
    timeline: Timeline = field(default_factory=Timeline)
    ended_at: dict[int, str] = field(default_factory=dict)  # of those that SIGKILL ended
    standstill: Standstill = field(default_factory=Standstill)
    inputs: str = "small"  # how much of whole inputs of operations is kept: none, small, full
    tell_of_hang: Callable[[list[tuple[Incident, Path | None]]], None] | None = None
    _hang: Hang | None = None
    _foresight: Foresight | None = None
    _folder: Path | None = None

    def dying(self, member: Member, tid: int, info: SigInfo) -> None:
        """Hold the process, keep what matters, and let it die as it would have."""
        if self.loop is None:
            return
        if len(self.seen) >= MOST_LOOKS:
            self.passed_over += 1
            return
        from sigwhy.autopsy import native_frames
        from sigwhy.autopsy.apart import Apart
        from sigwhy.operations.keeper import AMOUNTS
        from sigwhy.run.capture import Keep, look

        caught = member.caught.get(tid)
        fault = caught if caught and not caught[0].is_sent else None
        standing = self.loop.hold(member.pid, but=tid)
        try:
            kept = look(
                member.pid,
                tid,
                info=fault[0] if fault else info,
                standing=standing,
                keep=Keep(
                    self.folder / f"core.{member.pid}.{len(self.seen)}", AMOUNTS[self.inputs]
                ),
                at_fault=fault[1] if fault else None,
            )
        finally:
            self.loop.release(standing)
        unwinding = None
        if kept.core:
            unwinding = Apart(native_frames.of_core, str(kept.core), seconds=UNWIND_SECONDS)
        self.seen.append(Seen(member=member, look=kept, unwinding=unwinding, at=now()))

    def ended(self, member: Member) -> None:
        """Ask at once what the kernel counted; a process that ended well is forgotten."""
        status = member.status
        killed = status is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) == KILL
        self.timeline.ended(member.pid, killed=killed)
        if killed:
            self.ended_at[member.pid] = now()
        elif not status and not member.looked_at:
            self.timeline.forget(member.pid)

    def asked(self, number: int, sender: int | None) -> None:
        """Somebody asks the command to end: if it hangs, that is to be seen first."""
        self.was_asked = True
        if self.loop:
            self._look_closer(self.standstill.asked(self.loop, number, sender))

    def tick(self) -> float | None:
        """Read how much memory is used, and look closer when it runs out."""
        if self.loop is None:
            return None
        due = self._memory_due(self.loop)
        reason = self.standstill.tick(self.loop)
        try:
            self._look_closer(reason)
        finally:
            self.standstill.answer(self.loop, reason)
        return min(due, self.standstill.due)

    def _memory_due(self, loop: Loop) -> float:
        """Read memory where it is due; where that fails once, it is not tried again."""
        if self.memory_broke:
            return float("inf")
        try:
            due = self.timeline.tick(loop.members)
            if self._foresight is None:
                self._foresight = Foresight(self.timeline, self._held)
            self._foresight.look()
        except Exception as error:  # noqa: BLE001 -- whatever fails here, the rest of the watching goes on
            self.memory_broke = f"memory over time: {type(error).__name__}: {error}"
            return float("inf")
        return due

    def _look_closer(self, reason: Reason | None) -> None:
        if self.loop is None or reason is None or not self.loop.traced:
            return
        if self._hang is None:
            from sigwhy.run.hang import Hang

            self._hang = Hang(folder=lambda: self.folder, tell=self.tell_of_hang)
        self._hang.look(self.loop, reason)

    def hangs(self, status: int) -> Iterator[tuple[Incident, Path | None]]:
        """What was seen of a command that hung, unless it went on and ended well."""
        if (
            self._hang is None
            or self.loop is None
            or (status == 0 and not self.standstill.overtime)
        ):
            return
        import msgspec

        from sigwhy.run.hang import finished, with_relatives

        for one in self._hang.seen:
            processes = with_relatives(self.processes(), one)
            told = msgspec.structs.replace(finished(self.loop, one), processes=processes)
            yield told, one.look.core

    def _held(self, pid: int) -> Callable[[], None]:
        if self.loop is None:
            return lambda: None
        loop = self.loop
        standing = loop.hold(pid)
        return lambda: loop.release(standing)

    @property
    def folder(self) -> Path:
        """Where cores lie until they are packed."""
        if self._folder is None:
            import tempfile

            self._folder = Path(tempfile.mkdtemp(prefix="sigwhy-"))
        return self._folder

    def incident(self, seen: Seen) -> Incident:
        """The Incident of a process that was looked at, with its native frames and its end."""
        import msgspec

        from sigwhy.run import kernel_log
        from sigwhy.run.finish import finished

        found = finished(seen.member.pid, seen.look, seen.unwinding)
        status = seen.member.status
        return msgspec.structs.replace(
            found,
            at=seen.at,
            blind=[*found.blind, *filter(None, [self.memory_broke])],
            exit_status=None if status is None else os.waitstatus_to_exitcode(status),
            masked=status is not None and os.WIFEXITED(status),
            processes=self.processes(),
            memory=self.timeline.memory(seen.member.pid),
            kernel=kernel_log.hardware(self.timeline.began),
        )

    @property
    def root(self) -> Member | None:
        """The command itself, when it has ended."""
        if self.loop is None:
            return None
        return next((m for m in self.loop.gone if m.pid == self.loop.root), None)

    def killed_for_memory(self) -> Iterator[Member]:
        """Whom the kernel killed for memory, by its counts or its log; the first one first."""
        from sigwhy.run import kernel_log

        victims = {*self.timeline.killed_for_memory}
        if self.ended_at and self.timeline.machine_has_killed():
            victims |= kernel_log.killed(self.timeline.began) & self.ended_at.keys()
        for member in self.loop.gone if self.loop else ():
            if member.pid in victims:
                yield member

    def unseen(self, member: Member) -> Incident:
        """The Incident of a process that ended without a stop in which to look at it."""
        from sigwhy.run.unseen import incident

        return incident(
            member,
            at=self.ended_at.get(member.pid) or now(),
            timeline=self.timeline,
            last_look=self._foresight.threads.get(member.pid) if self._foresight else None,
            processes=self.processes(),
        )

    def processes(self) -> list[Process]:
        """The tree, as far as it matters: whoever was looked at or ended badly, and the root."""
        if self.loop is None:
            return []
        told = [*self.loop.gone, *(m for m in self.loop.members.values() if m.status is None)]
        parents = {member.parent for member in told if member.status or member.looked_at}
        return [
            _process(member)
            for member in told
            if member.status or member.looked_at or member.pid in parents
        ][:MOST_PROCESSES]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.timeline.close()
        if self._hang:
            self._hang.close()
        if self._folder:
            import shutil

            shutil.rmtree(self._folder, ignore_errors=True)


def _process(member: Member) -> Process:
    from sigwhy.autopsy.redact import redacted_command
    from sigwhy.machine.signals import LINUX
    from sigwhy.model.incident import Process

    status = member.status
    killed = os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None
    return Process(
        pid=member.pid,
        parent=member.parent,
        command=redacted_command(member.command),
        status=os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None,
        signal=LINUX.get(killed, f"SIG{killed}") if killed else None,
        seconds=round(time.monotonic() - member.began, 3),
    )
