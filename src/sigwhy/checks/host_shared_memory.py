"""The shared memory of /dev/shm is small.

What happens: data loaders and Ray hand batches over through ``/dev/shm``, a disk in memory. Writing to a page that it has no room for
ends in SIGBUS: ``DataLoader worker is killed by signal: Bus error``. Containers have 64 MiB of it.

How to tell: the size and the room of ``/dev/shm``.

Fix: ``docker run --shm-size 8g`` or ``--ipc=host``; an ``emptyDir`` with ``medium: Memory`` at ``/dev/shm`` in Kubernetes; ``mount -o
remount,size=8G /dev/shm``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.host import Host

CHECK = Check(
    id="host-shared-memory",
    title="the shared memory is small or full",
    fix="docker run --shm-size 8g, or an emptyDir of medium Memory at /dev/shm",
    severity="warning",
)
PLACE = "/dev/shm"  # noqa: S108 -- it is looked at, not written to
MIB = 1 << 20
LITTLE, ROOM = 512 * MIB, 64 * MIB


def look(host: Host) -> Iterator[Problem]:
    """Yield at most one."""
    if host.shared_memory is None:
        return
    size, free = host.shared_memory
    if size < LITTLE:
        yield CHECK.problem(
            f"{PLACE} has {size / MIB:,.0f} MiB; a batch that does not fit ends in SIGBUS, 1 GiB and more are wanted",
            place=PLACE,
        )
    elif free < ROOM:
        yield CHECK.problem(
            f"{free / MIB:,.0f} of the {size / MIB:,.0f} MiB of {PLACE} are free; what does not fit ends in SIGBUS",
            fix="remove what dead processes left there: ls -la /dev/shm",
            place=PLACE,
        )
