"""Libraries were built for smaller pages of memory than the kernel has.

What happens: kernels for ARM and PowerPC may have pages of 16 or 64 KiB. A library whose parts are aligned for pages of 4 KiB cannot be
mapped: ``ELF load command alignment not page-aligned``; an allocator such as jemalloc that was built for them aborts: ``Unsupported
system page size``.

How to tell: the page size that the kernel tells each process, against the alignment of the libraries of the environment.

Fix: use a kernel with pages of 4 KiB (on Raspberry Pi 5 ``kernel=kernel8.img``), or a wheel whose libraries are aligned to 64 KiB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.machine.elf import NotElfError
from sigwhy.machine.loader import at
from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.host import Host

CHECK = Check(
    id="host-page-size",
    title="libraries are aligned for smaller pages",
    fix="use a kernel with pages of 4 KiB, or wheels that are aligned to 64 KiB",
)
SHOWN = 3


def look(host: Host) -> Iterator[Problem]:
    """Yield one problem for all libraries."""
    if host.page_size <= 4096 or not host.env:
        return
    wrong = [path for path in host.env.objects if _is_smaller(path, host.page_size)]
    if wrong:
        names = ", ".join(path.name for path in wrong[:SHOWN])
        yield CHECK.problem(
            f"the kernel has pages of {host.page_size >> 10} KiB, and {len(wrong)} libraries are aligned for smaller"
            f" ones, such as {names}: they cannot be loaded",
            place=str(wrong[0].parent),
        )


def _is_smaller(path: Path, page: int) -> bool:
    try:
        return any(0 < one.alignment < page for one in at(path).loaded())
    except (OSError, NotElfError):
        return False
