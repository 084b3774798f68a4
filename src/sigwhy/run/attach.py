"""Looks at a process that runs or hangs, and lets it go on as if nobody had.

All its threads are seized, held for as long as registers, Python frames and a small core take, and
let go again. Nothing is sent to it and nothing is put into it; if it was stopped it stays stopped.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sigwhy.autopsy import native_frames
from sigwhy.autopsy.apart import Apart
from sigwhy.model.error import UsageError
from sigwhy.run import proc, ptrace
from sigwhy.run.capture import Keep, look
from sigwhy.run.finish import finished
from sigwhy.run.hang import inward
from sigwhy.run.pulse import family, pulse
from sigwhy.run.relatives import relatives
from sigwhy.run.turning import turning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

    from sigwhy.model.incident import Incident, Turning
    from sigwhy.run.capture import Look
    from sigwhy.run.pulse import Moved

MOST_BELOW = 3
PATIENCE = 1.0  # seconds in which a thread that is asked to stop must stand
BETWEEN_PULSES = 0.3
UNWIND_SECONDS = 20.0
ROUNDS = 8  # threads that began while the others were seized are seized in the next round
KERNEL_THREAD = 0x00200000  # a flag of /proc/PID/stat
NO_WAIT = 0x7F


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """What was seen of a process, where its core lies, and the whole time for which it had to stand."""

    incident: Incident
    core: Path | None
    held_seconds: float


class Attaching:
    """A context: the folder of the core goes with it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sigwhy-"))

    def see(self, pid: int) -> Attached:
        """Look at a process; raises ``UsageError`` where that cannot be."""
        refuse(pid)
        started = proc.stat(pid)[19:20]
        before = pulse([pid])
        time.sleep(BETWEEN_PULSES)  # whether it moves is a matter of time
        moved = pulse([pid]).since(before)
        if proc.stat(pid)[19:20] != started:
            raise UsageError(_gone(pid))
        kept, turns = self._look(pid, moved)
        unwinding = None
        if kept.core:
            unwinding = Apart(native_frames.of_core, str(kept.core), seconds=UNWIND_SECONDS)
        incident = msgspec.structs.replace(
            finished(pid, kept, unwinding),
            at=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
            way="attach",
            hang_seconds=moved.seconds if moved.is_still else None,
            turning=turns,
            processes=relatives(family(pid)),
        )
        return Attached(
            incident=blaming(incident, turns), core=kept.core, held_seconds=kept.held_seconds
        )

    def below(self, pid: int) -> Iterator[Attached]:
        """Those that a process started and that wait for themselves: it may wait for them."""
        inside = [child for child in family(pid)[1:] if inward(child)]
        for child in sorted(inside, key=inward, reverse=True)[:MOST_BELOW]:
            with contextlib.suppress(UsageError):  # it has ended since, or is somebody else's
                yield self.see(child)

    def _look(self, pid: int, moved: Moved) -> tuple[Look, Turning | None]:
        busy = moved.busiest
        with Held(pid) as held:
            turns = turning(busy[1], moved.wanted[busy], held.note) if busy else None
            held.stop()
            kept = look(
                pid,
                turns.tid if turns else pid,
                info=None,
                standing=held.standing,
                keep=Keep(self.folder / f"core.{pid}"),
            )
        return kept, turns

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def blaming(incident: Incident, turns: Turning | None) -> Incident:
    """The same with the thread marked that turns and turns; one that computes has done nothing."""
    if turns is None or not turns.on_the_spot:
        return incident
    replace = msgspec.structs.replace
    return replace(
        incident,
        tid=turns.tid,
        threads=[replace(t, crashed=t.tid == turns.tid) for t in incident.threads],
    )


# ---- who may be looked at -------------------------------------------------------------------


def refuse(pid: int) -> None:
    """Raise ``UsageError`` where there is nothing to look at, or where we may not."""
    if pid == os.getpid():
        raise UsageError(f"{pid} is sigwhy itself; name the process that hangs")
    fields = proc.stat(pid)
    if not fields:
        raise UsageError(_gone(pid))
    if fields[0] in "ZX":
        raise UsageError(
            f"process {pid} has ended already and waits for its parent {fields[1]} to notice; attach to {fields[1]}"
        )
    told = proc.status(pid)
    if (group := int(told.get("Tgid", pid))) != pid:
        raise UsageError(f"{pid} is a thread of process {group}; type sigwhy attach {group}")
    if int(fields[6]) & KERNEL_THREAD:
        raise UsageError(
            f"{pid} is a thread of the kernel ({proc.name(pid)}); name a process of a user"
        )
    if (tracer := int(told.get("TracerPid", 0))) != 0:
        raise UsageError(
            f"process {pid} is watched by process {tracer} ({proc.name(tracer)}) already, and Linux allows one watcher; {_of_watcher(tracer)}"
        )


def _of_watcher(tracer: int) -> str:
    ours = any("sigwhy" in word for word in proc.command(tracer))
    return "that is sigwhy, which will tell by itself" if ours else "end that one first"


def _gone(pid: int) -> str:
    return f"there is no process {pid}; pgrep -af python lists those that run"


def _refusal(pid: int, error: OSError) -> UsageError:
    if error.errno == errno.ESRCH or not proc.stat(pid):
        return UsageError(_gone(pid))
    told = proc.status(pid)
    theirs, mine = told.get("Uid", "").split()[:1], str(os.geteuid())
    if theirs and theirs[0] != mine and not _is_able():
        return UsageError(
            f"process {pid} belongs to user {theirs[0]}, you are user {mine}; type sudo sigwhy attach {pid}"
        )
    scope = proc.text("/proc/sys/kernel/yama/ptrace_scope").strip()
    if scope in ("1", "2") and not _is_able():
        return UsageError(
            f"the kernel forbids to look at processes of others (kernel.yama.ptrace_scope is {scope}); type sudo sigwhy attach {pid}"
        )
    if scope == "3":
        return UsageError(
            "the kernel forbids ptrace to everybody until the next boot (kernel.yama.ptrace_scope is 3)"
        )
    if not _is_able():
        return UsageError(
            f"process {pid} may not be looked at: it protects itself (PR_SET_DUMPABLE), or this container lacks a capability; start it with --cap-add SYS_PTRACE, or be root"
        )
    return UsageError(
        f"ptrace is forbidden here ({error.strerror}), as a seccomp profile does it; start the container with --security-opt seccomp=unconfined"
    )


def _is_able() -> bool:
    """Whether we have CAP_SYS_PTRACE."""
    capabilities = int(proc.status(os.getpid()).get("CapEff", "0"), 16)
    return bool(capabilities >> 19 & 1)


# ---- holding --------------------------------------------------------------------------------


class Held:
    """The threads of a process: seized at the beginning, ``stopped`` when asked, let go at the end."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.seized: set[int] = set()
        self.standing: dict[int, int] = {}  # and the signal that each must get when it goes on

    def __enter__(self) -> Self:
        self._seize()
        return self

    def _seize(self) -> set[int]:
        """Those that were not ours yet; raises where the process may not be looked at."""
        new: set[int] = set()
        for tid in proc.threads(self.pid):
            if tid in self.seized:
                continue
            try:
                ptrace.seize(tid, 0)
            except OSError as error:
                if tid == self.pid:
                    raise _refusal(self.pid, error) from None
                continue  # it has ended since
            new.add(tid)
        self.seized |= new
        return new

    def stop(self) -> None:
        """Make all threads stand, also those that begin meanwhile."""
        wanted = set(self.seized)
        for _ in range(ROUNDS):
            for tid in wanted:
                with contextlib.suppress(OSError):
                    ptrace.interrupt(tid)
            self._collect(wanted)
            wanted = self._seize()
            if not wanted:
                return

    def _collect(self, wanted: set[int]) -> None:
        waiting = set(wanted)
        until = time.monotonic() + PATIENCE
        while waiting and time.monotonic() < until:
            for tid in tuple(waiting):
                try:
                    found, status = os.waitpid(tid, ptrace.ALL_THREADS | os.WNOHANG)
                except ChildProcessError:
                    found, status = tid, 0
                if found:
                    waiting.discard(tid)
                    self.note(tid, status)
            if waiting:
                time.sleep(0.0002)

    def note(self, tid: int, status: int) -> None:
        """A thread stands, or has ended."""
        if status & 0xFF != NO_WAIT:
            self.seized.discard(tid)
            return
        event = status >> 16
        self.standing[tid] = 0 if event else status >> 8 & 0xFF

    def __exit__(self, *_: object) -> None:
        late = self.seized - self.standing.keys()
        for tid in late:  # only a thread that stands can be let go
            with contextlib.suppress(OSError):
                ptrace.interrupt(tid)
        self._collect(late)
        for tid, owed in self.standing.items():
            ptrace.let_go(tid, owed)
