"""The kernel promises no more memory than it has.

What happens: with ``vm.overcommit_memory=2`` every reserved address counts as used. TensorFlow, CUDA and thread stacks reserve far more
than they touch, so allocations fail while memory is free: ``std::bad_alloc``, SIGABRT, ``Resource temporarily unavailable`` from thread
creation.

How to tell: the setting, and how much of ``CommitLimit`` is not committed yet.

Fix: ``sudo sysctl vm.overcommit_memory=0``, or raise ``vm.overcommit_ratio``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.host import Host

CHECK = Check(
    id="host-overcommit",
    title="reserved memory counts as used",
    fix="sudo sysctl vm.overcommit_memory=0",
    severity="warning",
)
PATH = "/proc/sys/vm/overcommit_memory"
NEVER = 2
GIB = 1 << 30
WANTED = 16 * GIB


def look(host: Host) -> Iterator[Problem]:
    """Yield at most one."""
    if host.number(PATH) != NEVER:
        return
    left = host.memory.get("CommitLimit", 0) - host.memory.get("Committed_AS", 0)
    if left < WANTED:
        yield CHECK.problem(
            f"vm.overcommit_memory is 2, and {max(left, 0) / GIB:.1f} GiB may still be promised; a process with TensorFlow reserves more than it uses",
            place=PATH,
        )
