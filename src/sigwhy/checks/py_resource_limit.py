"""A limit is set that TensorFlow's threads and memory do not fit into.

What happens: TensorFlow reserves much address space and starts threads at its first operation. Where RLIMIT_AS, RLIMIT_DATA or RLIMIT_NPROC forbids that, a thread cannot be
started or memory cannot be had, and the process aborts (SIGABRT) instead of raising. RLIMIT_CPU and RLIMIT_FSIZE end it with signals of their own.

How to tell: ``resource.setrlimit`` of one of these, in a file that imports TensorFlow.

Fix: limit memory from outside, by a control group: ``systemd-run -p MemoryMax=4G``, ``docker run --memory 4g``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.python_source import PythonSource

CHECK = Check(
    id="py-resource-limit",
    title="a limit is set that TensorFlow does not fit into",
    fix="limit memory from outside, by a control group",
    severity="warning",
    words=("RLIMIT_",),
)
LIMITS = {
    "resource.RLIMIT_AS": "address space that is not there",
    "resource.RLIMIT_DATA": "memory that is not there",
    "resource.RLIMIT_NPROC": "a thread that cannot be started",
}


def look(source: PythonSource) -> Iterator[Problem]:
    """Yield each limit."""
    if not source.imports("tensorflow", "keras"):
        return
    for call in source.calls:
        if source.name(call.func) != "resource.setrlimit" or not call.args:
            continue
        limit = source.name(call.args[0])
        if limit in LIMITS:
            says = f"{limit.rsplit('.', 1)[-1]}: TensorFlow aborts for {LIMITS[limit]}"
            yield CHECK.problem_in(source.area(call), says, confidence="likely")
