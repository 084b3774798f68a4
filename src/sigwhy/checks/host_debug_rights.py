"""sigwhy run and attach see less than they could.

What happens: watching a process needs the right to trace it. Where a container or a setting of the kernel refuses that, ``sigwhy run``
falls back to a helper inside the process, and sees neither other programs' threads nor what died in a child; ``sigwhy attach`` sees
nothing.

How to tell: ``kernel.yama.ptrace_scope``, the capability CAP_SYS_PTRACE, a filter of system calls (seccomp), and the right to read the
kernel's log, which tells whom the OOM killer took.

Fix: ``docker run --cap-add SYS_PTRACE``, ``sudo sysctl kernel.yama.ptrace_scope=1``, ``sudo sysctl kernel.dmesg_restrict=0``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check
from sigwhy.subjects.host import ADMIN, PTRACE, SYSLOG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.host import Host

CHECK = Check(
    id="host-debug-rights",
    title="sigwhy may not look everywhere",
    fix="docker run --cap-add SYS_PTRACE, or sudo sysctl kernel.yama.ptrace_scope=1",
    severity="note",
)
YAMA = "/proc/sys/kernel/yama/ptrace_scope"
DMESG = "/proc/sys/kernel/dmesg_restrict"
ATTACH_REFUSED, ADMIN_ONLY, NOBODY = 1, 2, 3


def look(host: Host) -> Iterator[Problem]:
    """Yield what may not be seen."""
    yield from _tracing(host)
    if host.number(DMESG) == 1 and not host.may(ADMIN) and not host.may(SYSLOG):
        yield CHECK.problem(
            "the kernel's log may not be read: whom the OOM killer took, and where a process died, is told there",
            fix="sudo sysctl kernel.dmesg_restrict=0",
            place=DMESG,
        )


def _tracing(host: Host) -> Iterator[Problem]:
    scope = host.number(YAMA) or 0
    rights = host.may(PTRACE)
    if scope >= NOBODY or (scope == ADMIN_ONLY and not rights):
        yield CHECK.problem(
            f"kernel.yama.ptrace_scope is {scope}: sigwhy run and attach may trace nothing",
            fix="sudo sysctl kernel.yama.ptrace_scope=1"
            + (" needs a restart of the machine" if scope >= NOBODY else ""),
            severity="warning",
            place=YAMA,
        )
    elif scope == ATTACH_REFUSED and not rights:
        yield CHECK.problem(
            "kernel.yama.ptrace_scope is 1: sigwhy run sees all that it starts, sigwhy attach only as root",
            fix="sudo sigwhy attach PID",
            place=YAMA,
        )
