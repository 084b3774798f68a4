"""So few threads are left that a thread pool may not start.

What happens: TensorFlow makes two pools with one thread for each core, OpenMP one, OpenBLAS one, and every data loader its own. Where the
next thread is refused, the process aborts: ``pthread_create: Resource temporarily unavailable``, ``terminate called after throwing
'std::system_error'``.

How to tell: the lowest of ``pids.max`` of the control group, ``ulimit -u`` and ``kernel.threads-max``, against four threads for each core
and 64 more. The count of what was refused already is a proof.

Fix: ``docker run --pids-limit -1``, ``ulimit -u unlimited``, ``TasksMax=infinity`` for systemd, ``podPidsLimit`` for Kubernetes; or
``OMP_NUM_THREADS=4``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.machine.cgroup import rows
from sigwhy.model.check import Check
from sigwhy.subjects.host import ADMIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.host import Host

CHECK = Check(
    id="host-thread-limit",
    title="few threads are left",
    fix="docker run --pids-limit -1, ulimit -u unlimited, TasksMax=infinity",
    severity="warning",
)
EACH, BESIDES = 4, 64
NAMES = {1: "pids.max", 2: "pids.max"}


def look(host: Host) -> Iterator[Problem]:
    """Yield the limit that leaves too few, and refusals."""
    wanted = EACH * host.cpus + BESIDES
    if (lowest := host.lowest("pids", NAMES)) and _left(host, lowest) < wanted:
        yield CHECK.problem(
            f"this group may have {lowest[0]:,} threads, {_left(host, lowest):,} more than now;"
            f" {wanted:,} are wanted for {host.cpus} cores",
            place=lowest[1],
        )
    limit = host.soft("processes")
    if limit is not None and limit < wanted and not host.may(ADMIN):
        yield CHECK.problem(
            f"this user may have {limit:,} threads (ulimit -u); {wanted:,} are wanted for {host.cpus} cores",
            fix="ulimit -u unlimited, or a line in /etc/security/limits.conf",
            place="ulimit -u",
        )
    group = host.group("pids")
    path = f"{group[1][0]}/pids.events" if group else ""
    if group and (refused := rows(host.text(path)).get("max", 0)):
        yield CHECK.problem(f"the kernel has refused {refused:,} threads of this group", place=path)


def _left(host: Host, lowest: tuple[int, str]) -> int:
    used = host.number(lowest[1].replace("pids.max", "pids.current")) or 0
    return max(lowest[0] - used, 0)
