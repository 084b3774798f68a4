"""Huge pages are given to everything.

What happens: with ``always`` the kernel rounds memory up to pages of 2 MiB, also where little of it is used. Processes with many threads
and allocators that give pages back (jemalloc, tcmalloc) grow by a third and more, and meet the limit of their group earlier.

How to tell: ``/sys/kernel/mm/transparent_hugepage/enabled``.

Fix: ``echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled``. Programs that profit ask for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.machine.cgroup import VERSIONS
from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.host import Host

CHECK = Check(
    id="host-huge-pages",
    title="huge pages are given to everything",
    fix="echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
    severity="note",
)
PATH = "/sys/kernel/mm/transparent_hugepage/enabled"


def look(host: Host) -> Iterator[Problem]:
    """Yield it only where a limit makes it matter."""
    limit = host.lowest("memory", {v: files.limit for v, files in VERSIONS.items()})
    if limit and "[always]" in host.text(PATH):
        yield CHECK.problem(
            "transparent huge pages are on for everything, and this group has a memory limit: memory is rounded up to 2 MiB",
            place=PATH,
        )
