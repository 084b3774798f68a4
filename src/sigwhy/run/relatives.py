"""What the other processes of a tree do, in a line each: who waits for whom across processes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sigwhy.autopsy.redact import redacted_command
from sigwhy.autopsy.standing import standing
from sigwhy.machine.signals import LINUX
from sigwhy.model.incident import Incident, Process, Thread, Wait
from sigwhy.run import proc
from sigwhy.run.surroundings import files

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 64
STATUS_FIELD = 49  # of /proc/PID/stat behind the name: the wait status of a process that has ended


def relatives(pids: Iterable[int]) -> list[Process]:
    """Each process as it stands now."""
    return [found for pid, _ in zip(pids, range(MOST), strict=False) if (found := _process(pid))]


def _process(pid: int) -> Process | None:
    fields = proc.stat(pid)
    if len(fields) < 2:
        return None
    parent = int(fields[1])
    if fields[0] in "ZX":
        return _ended(pid, parent, fields)
    return Process(
        pid=pid,
        parent=parent,
        command=redacted_command(proc.command(pid)),
        forked=is_forked(pid, parent),
        stands=_stands(pid, fields[0]),
    )


def is_forked(pid: int, parent: int) -> bool:
    """Whether a process is a copy of its parent that never became another program."""
    same = proc.link(f"/proc/{pid}/exe"), proc.bytes_of(f"/proc/{pid}/cmdline")
    other = proc.link(f"/proc/{parent}/exe"), proc.bytes_of(f"/proc/{parent}/cmdline")
    return bool(same[0]) and same == other


def _ended(pid: int, parent: int, fields: list[str]) -> Process:
    told = int(fields[STATUS_FIELD]) if len(fields) > STATUS_FIELD else 0
    killed = os.WTERMSIG(told) if os.WIFSIGNALED(told) else None
    return Process(
        pid=pid,
        parent=parent,
        command=[proc.text(f"/proc/{pid}/comm").strip()],
        status=os.WEXITSTATUS(told) if os.WIFEXITED(told) else None,
        signal=LINUX.get(killed, f"SIG{killed}") if killed else None,
        stands="has ended, and its parent has not asked how",
    )


def _stands(pid: int, state: str) -> str:
    if state in "Tt":
        return "is stopped"
    words = proc.text(f"/proc/{pid}/task/{pid}/syscall").split()
    if not words or not words[0].isdecimal():
        return "runs"
    wait = Wait(call=words[0], arguments=[int(word, 16) for word in words[1:7]])
    thread = Thread(tid=pid, wait=wait)
    machine = os.uname().machine
    alone = Incident(machine=machine, threads=[thread], files=dict(files(pid)))
    return standing(alone, thread).does
