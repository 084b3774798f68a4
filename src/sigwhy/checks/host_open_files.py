"""A process may open few files.

What happens: each data loader, socket, checkpoint shard and GPU takes descriptors. Where the next one is refused, Python raises
``OSError: Too many open files``, and native code that does not look dies of a null pointer.

How to tell: ``ulimit -n``; 1024 is what Linux gives, training with many workers wants more.

Fix: ``ulimit -n 65536``, ``docker run --ulimit nofile=65536``, ``LimitNOFILE=65536`` for systemd.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.host import Host

CHECK = Check(
    id="host-open-files",
    title="few files may be open at once",
    fix="ulimit -n 65536, docker run --ulimit nofile=65536",
    severity="warning",
)
USUAL = 1024


def look(host: Host) -> Iterator[Problem]:
    """Yield at most one."""
    limit = host.soft("open files")
    if limit is not None and limit < USUAL:
        yield CHECK.problem(
            f"a process may have {limit:,} files open; Linux gives {USUAL:,}, and data loaders want more",
            place="ulimit -n",
        )
