"""Says why a Python process with native code died, and what to do about it."""

from typing import TYPE_CHECKING

from sigwhy.alive import attach
from sigwhy.check import check
from sigwhy.explain import explain
from sigwhy.inside import enable
from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    from sigwhy.model.problem import Problem
    from sigwhy.model.report import Report

__version__ = "0.1.0"
__all__ = ["Problem", "Report", "UsageError", "attach", "check", "enable", "explain"]


def __getattr__(name: str) -> object:
    """What is loaded when it is asked for, so that the command line starts at once."""
    if name == "Report":
        from sigwhy.model.report import Report

        return Report
    if name == "Problem":
        from sigwhy.model.problem import Problem

        return Problem
    raise AttributeError(f"module 'sigwhy' has no attribute {name!r}")
