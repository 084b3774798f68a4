"""The stack of the main thread is small, or has no limit.

What happens: deep recursion, in Python or in native code (graphs, nested structures, regular expressions), ends in SIGSEGV at the end of
the stack. Without a limit Linux gives threads 2 MiB each instead, so that other threads die earlier.

How to tell: ``ulimit -s``; 8 MiB is what Linux gives.

Fix: ``ulimit -s 8192`` in the shell that starts the program, ``--ulimit stack=8388608`` for docker, ``LimitSTACK=`` for systemd.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.host import Host

CHECK = Check(
    id="host-stack-limit",
    title="the limit of the stack is not the usual one",
    fix="ulimit -s 8192",
    severity="warning",
)
USUAL = 8 << 20


def look(host: Host) -> Iterator[Problem]:
    """Yield at most one."""
    if "stack size" not in host.limits:
        return
    limit = host.soft("stack size")
    if limit is None:
        yield CHECK.problem(
            "the stack has no limit, so that each new thread gets 2 MiB and not 8: deep recursion in a thread dies earlier",
            severity="note",
            place="ulimit -s",
        )
    elif limit < USUAL:
        yield CHECK.problem(
            f"the stack may have {limit >> 10:,} KiB, usual are {USUAL >> 10:,}: deep recursion ends in SIGSEGV earlier",
            place="ulimit -s",
        )
