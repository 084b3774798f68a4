"""A Python function is made the handler of a fault.

What happens: Python runs handlers between two instructions of its own. After a fault in native code it never comes back to those: the instruction that failed
is tried again, fails again, and the process spins for ever at full speed instead of dying.

How to tell: ``signal.signal`` with SIGSEGV, SIGBUS, SIGFPE or SIGILL, and something else than SIG_DFL or SIG_IGN.

Fix: ``faulthandler.enable()``, which writes the stack and dies; or ``sigwhy.enable()``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.python_source import PythonSource

CHECK = Check(
    id="py-fault-handler",
    title="a Python function handles a fault",
    fix="faulthandler.enable(), which writes the stack and dies",
    words=("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL"),
)
FAULTS = {"signal.SIGSEGV", "signal.SIGBUS", "signal.SIGFPE", "signal.SIGILL"}
HANDLED = 2


def look(source: PythonSource) -> Iterator[Problem]:
    """Yield each such handler."""
    for call in source.calls:
        if source.name(call.func) != "signal.signal" or len(call.args) != HANDLED:
            continue
        fault, handler = (source.name(argument) for argument in call.args)
        if fault in FAULTS and not handler.startswith("signal.SIG_"):
            says = f"the handler of {fault.rsplit('.', 1)[-1]} never runs; the instruction fails again and again"
            yield CHECK.problem_in(source.area(call), says)
