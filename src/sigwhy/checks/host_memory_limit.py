"""The control group gives less memory than programs with TensorFlow need.

What happens: the kernel kills the process that passes the limit of its group with SIGKILL: nothing is printed, the status is 137.
``free`` and Python libraries show the memory of the whole machine, not the limit.

How to tell: ``memory.max`` (version 2) or ``memory.limit_in_bytes`` (version 1) of the own group and all above it; the count of kills
that the kernel keeps; what is free of the machine. Importing TensorFlow takes 0.4 to 0.7 GiB, saving as ``.keras`` or ``.h5`` about three
times the weights.

Fix: give the container more (``docker run --memory 8g``, ``resources.limits.memory`` in Kubernetes, ``#SBATCH --mem``), or less to do:
smaller batches, fewer workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.machine.cgroup import VERSIONS, rows
from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.host import Host

CHECK = Check(
    id="host-memory-limit",
    title="there is little memory, or the kernel has killed for it",
    fix="give the container more memory: docker run --memory 8g, resources.limits.memory",
    severity="warning",
)
GIB = 1 << 30
LITTLE = 2 * GIB
FULL = 0.9


def look(host: Host) -> Iterator[Problem]:
    """Yield a limit that is low or nearly reached, kills, and a machine that is full."""
    if lowest := host.lowest("memory", {v: files.limit for v, files in VERSIONS.items()}):
        yield from _limit(host, *lowest)
    yield from _kills(host)
    total, free = host.memory.get("MemTotal", 0), host.memory.get("MemAvailable", 0)
    if total and free < (1 - FULL) * total:
        yield CHECK.problem(
            f"{free / GIB:.1f} of {total / GIB:.1f} GiB of memory are free; a program that needs more is killed",
            fix="end what is not needed (ps aux --sort=-rss | head), or take a bigger machine",
            place="/proc/meminfo",
        )


def _limit(host: Host, limit: int, path: str) -> Iterator[Problem]:
    used = host.number(path.rpartition("/")[0] + "/" + VERSIONS[_version(host)].usage) or 0
    if limit < LITTLE:
        yield CHECK.problem(
            f"this group may use {limit / GIB:.2f} GiB; 2 GiB and more are wanted, TensorFlow takes 0.7 for its import",
            place=path,
        )
    elif used > FULL * limit:
        yield CHECK.problem(
            f"{used / GIB:.2f} of the {limit / GIB:.2f} GiB that this group may use are in use (caches counted)",
            place=path,
        )


def _kills(host: Host) -> Iterator[Problem]:
    group = host.group("memory")
    if not group:
        return
    path = f"{group[1][0]}/{VERSIONS[group[0]].kills}"
    kills = rows(host.text(path)).get("oom_kill", 0)
    if kills:
        yield CHECK.problem(
            f"the kernel has killed processes of this group for memory {kills} times",
            fix="give it more memory, or watch the next run with sigwhy run, which tells who took it",
            place=path,
        )


def _version(host: Host) -> int:
    group = host.group("memory")
    return group[0] if group else 2
