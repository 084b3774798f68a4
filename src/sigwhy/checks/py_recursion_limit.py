"""The limit of recursion is raised beyond what the stack holds.

What happens: the limit is what turns endless recursion into an exception. Each Python call that goes through C takes some 500 bytes to some kB of a stack that has 8 MB, and threads have
less. With the limit out of the way the stack runs into its guard page: SIGSEGV.

How to tell: ``sys.setrecursionlimit`` with a constant of 50,000 or more, without a larger stack (``threading.stack_size``, ``resource.RLIMIT_STACK``) in the file.

Fix: a loop with a list of what is left to do; or a thread with ``threading.stack_size(512 << 20)`` for the recursion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.python_source import PythonSource

CHECK = Check(
    id="py-recursion-limit",
    title="the limit of recursion is beyond what the stack holds",
    fix="a loop with a list of what is left, or a thread with a larger threading.stack_size",
    severity="warning",
    words=("setrecursionlimit",),
)
HIGH = 50_000


def look(source: PythonSource) -> Iterator[Problem]:
    """Yield limits that are too high."""
    if "stack_size" in source.text or "RLIMIT_STACK" in source.text:
        return
    for call in source.calls:
        if source.name(call.func) == "sys.setrecursionlimit" and call.args:
            limit = source.values.constant(call.args[0])
            if isinstance(limit, int) and limit >= HIGH:
                says = (
                    f"{limit:,} calls do not fit a stack of 8 MB: SIGSEGV instead of RecursionError"
                )
                yield CHECK.problem_in(source.area(call), says, confidence="likely")
