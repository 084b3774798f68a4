"""The watcher beside a process that called ``sigwhy.enable()``: the loop of ``run``, for a stranger.

It has nothing of the process and the process has nothing of it. It follows no child unless it was
asked to, hands no signal on, stops with nobody, and ends with the process. A keeper, its parent, ends
it when somebody stops it: a process whose watcher stands still would stand still at its death, too.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import msgspec

from sigwhy.model.incident import Incident
from sigwhy.run import launch, proc, ptrace, session, supervise
from sigwhy.run.recorder import Recorder
from sigwhy.run.relay import END_REQUESTS, Relay

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sigwhy.run.ptrace import SigInfo
    from sigwhy.run.supervise import Member

ALONE = ptrace.CLONE | ptrace.EXEC
LOOK_SECONDS = 5.0  # then the watcher ends, whatever it does, and the process is free
ALIVE_SECONDS = 5.0
ROUNDS = 8
PIDFD_GETFD = 438
STANDARD_ERROR = 2
LONGEST_WORDS = 1 << 20


class Leaving(Exception):  # noqa: N818 -- it is no error
    """Somebody asks the watcher to end, or there is nobody left to watch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What ``sigwhy.enable()`` asks for."""

    pid: int
    began: str
    follow: bool = False
    last_words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was seen of the end; ``stderr`` is where the process would have said it."""

    incidents: tuple[tuple[Incident, Path | None], ...] = ()
    stderr: int | None = None


def kept_from_stopping(work: Callable[[], None]) -> NoReturn:
    """Run the work in a child, and end it when it is stopped."""
    os.setsid()
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    while True:
        try:
            _, status = os.waitpid(child, os.WUNTRACED)
        except InterruptedError:
            continue
        except ChildProcessError:
            os._exit(0)
        if os.WIFSTOPPED(status):
            os.kill(child, signal.SIGKILL)  # the kernel lets everybody go whom it watched
        else:
            os._exit(0)


def beside(watched: Watched, recorder: Beside) -> Seen:
    """Watch a process to its end."""
    handle = _opened(watched)
    before = launch.Before.taking(supervise.TAKEN)
    try:
        if handle is None or not _seized(watched):
            return _by_its_last_words(watched, handle)
        loop = Strangers(watched, recorder)
        recorder.loop = loop
        status = loop.run()
        if loop.has_left or not recorder.seen:
            return Seen()
        found = tuple(
            (msgspec.structs.replace(incident, way="handler"), core)
            for incident, core in session.incidents(recorder, status, "", [])
        )
        return Seen(incidents=found, stderr=recorder.stderr)
    finally:
        before.restore()
        if handle is not None:
            os.close(handle)
        _remove(watched.last_words)


def _opened(watched: Watched) -> int | None:
    """A handle of the very process that asked, not of another with its number."""
    try:
        handle = os.pidfd_open(watched.pid)
    except OSError:
        return None
    if proc.stat(watched.pid)[19:20] == [watched.began]:
        return handle
    os.close(handle)
    return None


def _seized(watched: Watched) -> bool:
    """Seize all threads, also those that begin meanwhile."""
    options = ptrace.FOLLOW if watched.follow else ALONE
    ours: set[int] = set()
    for _ in range(ROUNDS):
        new = set(proc.threads(watched.pid)) - ours
        for tid in new:
            try:
                ptrace.seize(tid, options)
            except OSError:
                if tid == watched.pid:
                    return False
        ours |= new
        if not new:
            break
    return bool(ours)


def _by_its_last_words(watched: Watched, handle: int | None) -> Seen:
    """Where ptrace is refused, or it ended before us: what faulthandler wrote at its end."""
    if not watched.last_words:
        return Seen()
    command = list(proc.command(watched.pid))
    if handle is not None:
        waiting = select.poll()
        waiting.register(handle, select.POLLIN)
        waiting.poll()
    words = proc.text(watched.last_words, LONGEST_WORDS)
    if not words:
        return Seen()
    from sigwhy.autopsy.redact import redacted, redacted_command
    from sigwhy.run.recorder import now

    why = "ptrace is refused here" if handle is not None else "it died before the watcher came"
    incident = Incident(
        way="handler",
        at=now(),
        pid=watched.pid,
        command=redacted_command(command),
        stderr=redacted(words),
        blind=[f"registers, memory and native frames: {why}"],
    )
    return Seen(incidents=((incident, None),))


def _remove(path: str) -> None:
    if path:
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108 -- the name comes from the process itself


class Beside(Recorder):
    """Looks as ``run`` does, but for a limited time, and remembers where the process speaks."""

    stderr: int | None = None

    def dying(self, member: Member, tid: int, info: SigInfo) -> None:
        """Hold it, keep what matters, and let it die; or let it die at once."""
        limit = threading.Timer(LOOK_SECONDS, os._exit, (1,))
        limit.daemon = True
        limit.start()
        try:
            super().dying(member, tid, info)
            if self.stderr is None:
                self.stderr = _descriptor(member.pid, STANDARD_ERROR)
        finally:
            limit.cancel()

    def tick(self) -> float | None:
        """End where there is nobody left to watch."""
        due = super().tick()
        if self.loop and not proc.stat(self.loop.root):
            os.kill(os.getpid(), signal.SIGTERM)
        return ALIVE_SECONDS if due is None else min(due, ALIVE_SECONDS)

    def asked(self, number: int, sender: int | None) -> None:
        """Signals to the watcher are not for the process."""


class Strangers(supervise.Loop):
    """The loop, for a process that is not our child: nothing is handed on to it."""

    def __init__(self, watched: Watched, recorder: Recorder) -> None:
        super().__init__(watched.pid, recorder, command=proc.command(watched.pid))
        self.members[watched.pid].parent = proc.parent(watched.pid)
        self.relay = Deaf(watched.pid)
        self.wanted = ptrace.FOLLOW if watched.follow else ALONE
        self.has_left = False

    def _failed(self, error: Exception) -> None:
        self.has_left = self.has_left or isinstance(error, Leaving)
        super()._failed(error)


class Deaf(Relay):
    """Hears what comes for the watcher, and hands nothing on."""

    def taken(self, info: SigInfo) -> int | None:
        """Somebody wants the watcher to end: it lets go of everybody."""
        if info.number in END_REQUESTS:
            raise Leaving
        return None

    def root_got(self, info: SigInfo) -> SigInfo | None:  # noqa: ARG002 -- the loop gives it
        """The process got a signal of its own."""
        return None

    def stop_ourselves(self) -> None:
        """The process has stopped; nobody waits for us to stop too."""
        self.stop_wanted = None


def _descriptor(pid: int, number: int) -> int | None:
    """A descriptor of a process that is held, for the time after its death."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return None
    try:
        found = ctypes.CDLL(None, use_errno=True).syscall(PIDFD_GETFD, handle, number, 0)
        return found if found >= 0 else None
    finally:
        os.close(handle)
