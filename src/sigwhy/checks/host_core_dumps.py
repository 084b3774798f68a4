"""After a death nothing is kept.

What happens: a process that nobody watched leaves no core file: the kernel is told to write none, or to write it where nobody looks. What
killed it cannot be found out afterwards.

How to tell: ``ulimit -c`` and ``kernel.core_pattern``.

Fix: start the program with ``sigwhy run -- COMMAND``, which needs no core; or ``ulimit -c unlimited`` and ``sudo sysctl
kernel.core_pattern=/var/tmp/core.%p``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.host import Host

CHECK = Check(
    id="host-core-dumps",
    title="no core is kept of a process that dies",
    fix="start it with sigwhy run -- COMMAND, or ulimit -c unlimited",
    severity="note",
)
PATH = "/proc/sys/kernel/core_pattern"


def look(host: Host) -> Iterator[Problem]:
    """Yield at most one."""
    pattern = host.text(PATH).strip()
    if pattern.startswith("|") or not pattern:  # a program gets it, whatever the limit
        return
    if host.soft("core file size") == 0:
        yield CHECK.problem(
            f"ulimit -c is 0, so that the kernel writes no core (kernel.core_pattern is {pattern!r})",
            place="ulimit -c",
        )
