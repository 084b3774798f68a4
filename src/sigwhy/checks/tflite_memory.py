"""The model takes more memory than there is.

What happens: tensors, variables and constants of a model have to be in memory together. Where the limit is lower, allocation fails: runtimes before LiteRT 2.3 go on with a
null pointer (SIGSEGV), later ones raise an error without words; in a container the kernel kills the process.

How to tell: with --memory-limit, or memory-limit in [tool.sigwhy.check]. The arena is planned as the runtime does it, from the life of each tensor. An error
where not even the tensors that live at one time fit; a warning above 80 % of the limit. Outputs whose size is known only when it runs are not counted, and
XNNPACK may keep another copy of the weights.

Fix: a smaller batch or picture, a quantised model, or a higher limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check
from sigwhy.subjects.arena import memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import TfliteModel

CHECK = Check(
    id="tflite-memory",
    title="the model takes more memory than there is",
    fix="a smaller batch, a quantised model, or a higher limit",
)
NEARLY = 0.8
MIB = 1 << 20


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield when it does not fit, and when it hardly does."""
    limit = model.memory_limit
    taken = memory(model) if limit else None
    if not limit or not taken:
        return
    least = taken.least + taken.variables + taken.constants
    if least > limit:
        says = f"it takes at least {_mib(least)}, and the limit is {_mib(limit)}"
        yield CHECK.problem(says, place="model")
    elif taken.total > NEARLY * limit:
        says = (
            f"it takes about {_mib(taken.total)} of {_mib(limit)}: {_mib(taken.arena)} for tensors, "
            f"{_mib(taken.constants)} for constants"
        )
        yield CHECK.problem(says, place="model", severity="warning", confidence="likely")


def _mib(size: int) -> str:
    return f"{size / MIB:,.1f} MiB"
