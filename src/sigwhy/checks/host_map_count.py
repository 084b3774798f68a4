"""A process may have few mappings.

What happens: every library, thread stack and mapped file is some mappings; data sets that are mapped in pieces, and allocators that give
memory back in pieces, need tens of thousands. At the limit ``mmap`` fails while memory is free: ``std::bad_alloc``, ``Cannot allocate
memory``, SIGSEGV in allocators that do not look.

How to tell: ``vm.max_map_count``; Linux gives 65,530.

Fix: ``sudo sysctl vm.max_map_count=262144``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.host import Host

CHECK = Check(
    id="host-map-count",
    title="a process may have few mappings",
    fix="sudo sysctl vm.max_map_count=262144",
    severity="warning",
)
PATH = "/proc/sys/vm/max_map_count"
USUAL = 65_530


def look(host: Host) -> Iterator[Problem]:
    """Yield at most one."""
    limit = host.number(PATH)
    if limit is not None and limit < USUAL:
        yield CHECK.problem(
            f"a process may have {limit:,} mappings; Linux gives {USUAL:,}", place=PATH
        )
