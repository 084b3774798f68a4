"""A limit of this shell ends processes.

What happens: a limit of address space or data makes allocations fail (``std::bad_alloc``, ``cannot allocate memory in static TLS block``,
aborts in thread creation), one of file size ends a checkpoint with SIGXFSZ, one of CPU time the training with SIGXCPU or SIGKILL.

How to tell: ``ulimit -a``. Most machines have none of the four. TensorFlow and CUDA reserve far more addresses than they use, so that
``ulimit -v`` is no way to limit memory.

Fix: ``ulimit -v unlimited`` (``-d``, ``-f``, ``-t``) in the shell that starts the program; limit memory with a control group instead:
``systemd-run --user -p MemoryMax=8G``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.host import Host

CHECK = Check(
    id="host-process-limits",
    title="a limit of this shell ends processes",
    fix="take the limit away in the shell that starts the program: ulimit -v unlimited",
    severity="warning",
)
GIB = 1 << 30
# Name in /proc, letter of ulimit, from when on it does no harm, unit, how it ends.
LIMITS = (
    ("address space", "v", 1 << 46, "bytes", "std::bad_alloc, or SIGABRT when a thread is made"),
    ("data size", "d", 1 << 40, "bytes", "std::bad_alloc"),
    ("file size", "f", 1 << 40, "bytes", "SIGXFSZ while a checkpoint is written"),
    ("cpu time", "t", 1 << 40, "seconds", "SIGXCPU, then SIGKILL"),
)


def look(host: Host) -> Iterator[Problem]:
    """Yield each that holds."""
    for name, letter, harmless, unit, ends in LIMITS:
        limit = host.soft(name)
        if limit is not None and limit < harmless:
            amount = f"{limit / GIB:.2f} GiB" if unit == "bytes" else f"{limit:,} seconds"
            yield CHECK.problem(
                f"a process may have {amount} of {name}; what passes that ends with {ends}",
                fix=f"ulimit -{letter} unlimited in the shell that starts the program",
                place=f"ulimit -{letter}",
            )
