"""One run of a command from its start to its end: supervise, look, keep, and pass its fate on."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.run import launch, proc, ptrace, stderr, supervise

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sigwhy.model.incident import Incident
    from sigwhy.run.recorder import Recorder, Seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a run ended: the wait status of the command, and each death that was seen.

    ``trouble`` is what failed of ours; ``remarks`` is what the user should know besides.
    """

    status: int
    incidents: tuple[tuple[Incident, Path | None], ...] = ()
    trouble: str | None = None
    remarks: tuple[str, ...] = ()
    overtime: bool = False


def supervised(
    command: Sequence[str], recorder: Recorder, *, alone: bool = False, output: bool = True
) -> Ended:
    """Run a command to its end under the eyes of ``recorder``.

    ``alone`` says that this process has no other business: it lets go of its standard input, and of
    its standard output unless ``output``. Raises ``CannotStartError`` where the command cannot be
    started.
    """
    before = launch.Before.taking(supervise.TAKEN)
    try:
        tail = _tail()
        held = launch.held(command, before, streams=tail.streams)
        why_not = refused(held)
        loop = supervise.Loop(held.pid, recorder, command=tuple(command), traced=why_not is None)
        recorder.loop = loop
        tail.started()
        if alone:
            launch.let_go_of_streams(output=output)
        held.start()
        gc.disable()  # nothing that the loop keeps goes in a circle
        status = loop.run()
        gc.enable()
        held.outcome()
        found, trouble = _told(recorder, status, tail, why_not)
        return Ended(
            status=status,
            incidents=tuple(found),
            trouble=loop.broke or trouble,
            remarks=tuple(loop.remarks),
            overtime=recorder.standstill.overtime,
        )
    finally:
        before.restore()


def _tail() -> stderr.Tail:
    try:
        return stderr.tail()
    except Exception as error:  # noqa: BLE001 -- the command runs without that, too
        return stderr.Nothing(f"they could not be kept ({error})")


def refused(held: launch.Held) -> str | None:
    """Begin to watch a command that waits; why that is not possible, where it is not.

    The next best way, a handler inside the process, would be put in place here.
    """
    if launch.has_rights_of_its_own(held.command[0]):
        return f"{held.command[0]} is a set-user-id program, and a watched one would get no rights of its file"
    try:
        ptrace.seize(held.pid)
    except OSError as error:
        return f"ptrace is refused here: {_who_refuses(held.pid, error)}"
    return None


def _who_refuses(pid: int, error: OSError) -> str:
    told = proc.status(pid)
    tracer = int(told.get("TracerPid", "0"))
    if tracer:
        return f"{proc.name(tracer) or 'another program'} (process {tracer}) watches already"
    scope = proc.text("/proc/sys/kernel/yama/ptrace_scope").strip()
    if scope in ("2", "3"):
        return f"the machine forbids it (kernel.yama.ptrace_scope is {scope})"
    if told.get("Seccomp", "0") != "0":
        return "a seccomp filter forbids it (in a container: --cap-add SYS_PTRACE, or --security-opt seccomp=unconfined)"
    return str(error.strerror)


def _told(
    recorder: Recorder, status: int, tail: stderr.Tail, why_not: str | None
) -> tuple[list[tuple[Incident, Path | None]], str | None]:
    """What is to be told, and what went wrong with that."""
    try:
        words = tail.words()
        return incidents(recorder, status, words, _blind(tail, why_not)), None
    except Exception as error:  # noqa: BLE001 -- whatever fails here, the fate of the command is passed on
        return [], f"{type(error).__name__}: {error}"


def _blind(tail: stderr.Tail, why_not: str | None) -> list[str]:
    """What could not be seen at all in this run."""
    found = []
    if why_not:
        found.append(f"stacks, memory, threads and children: {why_not}")
    if tail.why_not:
        found.append(f"the last words: {tail.why_not}")
    return found


def incidents(
    recorder: Recorder, status: int, words: str, blind: list[str]
) -> list[tuple[Incident, Path | None]]:
    """What is to be told: deaths that were looked at, else how the command itself ended."""
    if not recorder.seen and status == 0 and not recorder.standstill.overtime:
        return []
    import msgspec

    from sigwhy.autopsy.redact import redacted

    told = redacted(words)
    found: list[tuple[Incident, Path | None]] = [
        (_with_sender(recorder.incident(seen), seen), seen.look.core) for seen in recorder.seen
    ]
    found += recorder.hangs(status)
    member = next(recorder.killed_for_memory(), None) or (None if found else recorder.root)
    if member:
        unseen = recorder.unseen(member)
        if recorder.loop and not recorder.loop.traced:
            unseen = msgspec.structs.replace(unseen, way="status")
        found.append((unseen, None))
    return [
        (msgspec.structs.replace(incident, stderr=told, blind=[*incident.blind, *blind]), core)
        for incident, core in sorted(found, key=lambda one: one[0].at)
    ]


def _with_sender(incident: Incident, seen: Seen) -> Incident:
    """A sender may be gone before the dying process was looked at; the loop asked for his name."""
    import msgspec

    said = incident.signal
    heard = seen.member.heard.get(said.number) if said else None
    if said is None or heard is None or said.sender_name or said.sender_pid is None:
        return incident
    return msgspec.structs.replace(
        incident, signal=msgspec.structs.replace(said, sender_name=heard[1])
    )


def pass_on(status: int) -> int:
    """Die of the signal that the command died of, or give its exit status."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # nobody reads, or closed
            stream.flush()
    if not os.WIFSIGNALED(status):
        return os.WEXITSTATUS(status)
    number = os.WTERMSIG(status)
    _leave_no_core()
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
    return 128 + number  # where the signal could not kill us


def _leave_no_core() -> None:
    """The command has left its core; a second one of ours would overwrite it or mislead."""
    import ctypes
    import resource

    not_dumpable = 4  # PR_SET_DUMPABLE
    ctypes.CDLL(None).prctl(not_dumpable, 0, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
