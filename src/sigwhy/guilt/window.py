"""A window that is larger than what it slides over, or over nothing: no output is left.

``Check failed: out_rows > 0 (0 vs. 0)`` names neither; the sizes of the input and of the filter do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge, is_tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.fact import Check
    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Trial

OUTPUT = re.compile(r"\b(?:out|output)_(?:rows|cols|height|width|planes|depth|size)\w* >=? ?0?")
DATA = re.compile(r"^(?:input|value|images?|x|data)$")
WINDOW = re.compile(r"^(?:filter|filters|kernel|weights?|ksize|kernel_size)$")


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield the window that does not fit, or the input that has nothing to slide over."""
    for check in trial.checks:
        if OUTPUT.search(check.expression):
            data = [a for a in trial.operation.inputs if is_tensor(a) and DATA.match(a.name)]
            for argument in trial.arguments:
                if WINDOW.match(argument.name) and data:
                    yield from _too_large(check, argument, data[0])
            yield from _empty(check, trial)


def _too_large(check: Check, window: Argument, data: Argument) -> Iterator[Charge]:
    sizes, room = _sizes(window), (data.shape or [])[1:-1]
    for n, (size, there) in enumerate(zip(sizes, room, strict=False)):
        if size > there:
            yield Charge(
                argument=window,
                rule="window",
                says=f"{window.name} is {size} wide in dimension {n} of the window, {data.name} only {there}",
                shown_by=check,
                value=f"size {size}",
                wanted=f"at most {there}, or padding SAME,",
            )
            return


def _sizes(window: Argument) -> list[int]:
    """How wide the window is in each direction: a filter's first sizes, the middle ones of a list."""
    if window.shape and len(window.shape) > 1:
        return window.shape[:-2]
    numbers = [v for v in window.values if isinstance(v, int) and not isinstance(v, bool)]
    return numbers[1:-1]


def _empty(check: Check, trial: Trial) -> Iterator[Charge]:
    for argument in trial.operation.inputs:
        if is_tensor(argument) and 0 in (argument.shape or ()):
            yield Charge(
                argument=argument,
                rule="empty",
                says=f"{argument.name} has a size of 0, and nothing comes out",
                shown_by=check,
                value=f"shape {argument.shape}",
                wanted="no size of 0",
            )
