"""A failed check, or a status, prints a number which stands among the arguments.

``Expected shape dimensions to be non-negative, got -123``: an attribute ``batch_size = -123`` is where that
came from. A number that is rare fits exactly; -1, 0 or 1 fit only where a single argument holds them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge, at, is_tensor, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.fact import Check
    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Fit, Trial

NUMBER = re.compile(r"(?<![\w.])-?\d{1,20}(?![\w.]|\.\d)")
COUNTS_DIMENSIONS = re.compile(
    r"\bdims\(\)|NDIMS|NumElements|dtype|num_total_dims|nullptr|PyErr_Occurred"
)
OF_A_SYSTEM = re.compile(r"pthread|errno|mmap|\bret\b|0x[0-9a-f]")
OVERFLOW = re.compile(r"overflow|too large|too many", re.IGNORECASE)
RARE = 16
WORD, LONG = 1 << 32, 1 << 63
MOST_NUMBERS = 8


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each argument that holds a number of the check."""
    for check in trial.checks:
        words = f"{check.expression} {check.detail}"
        if COUNTS_DIMENSIONS.search(check.expression) or OF_A_SYSTEM.search(words):
            continue
        for number in _numbers(check):
            yield from _holders(trial, check, number)


def _numbers(check: Check) -> list[int]:
    found = {int(words) for words in NUMBER.findall(check.detail[:2000])}
    return sorted(found, key=abs, reverse=True)[:MOST_NUMBERS]


def _holders(trial: Trial, check: Check, number: int) -> Iterator[Charge]:
    exact: Fit = "exact" if number <= -RARE or number >= RARE else "likely"
    if exact == "likely" and number >= 0:
        return  # small positive numbers stand everywhere
    for argument in trial.arguments:
        for n, value in whole_numbers(argument):
            if value == number or _cut(value) == number:
                yield _charge(argument, at(argument, n), value, check, exact)
        for n, size in enumerate(argument.shape or ()):
            if size == number and OVERFLOW.search(check.detail) and is_tensor(argument):
                name = f"{argument.name}.shape[{n}]"
                yield _charge(argument, name, size, check, "likely")


def _cut(value: int) -> int | None:
    """What is left of a large number in 32 bits."""
    if -(WORD // 2) <= value < WORD // 2:
        return None
    low = value % WORD
    return low - WORD if low >= WORD // 2 else low


def _charge(argument: Argument, name: str, value: int, check: Check, fit: Fit) -> Charge:
    much = "is negative" if value < 0 else "is too large" if OVERFLOW.search(check.detail) else ""
    cut = "" if -(WORD // 2) <= value < WORD // 2 else ", more than 32 bits hold,"
    says = f"{name} = {value}{cut} {much or 'is the number that the check failed on'}"
    return Charge(
        argument=argument, rule="number", says=says, shown_by=check, value=str(value), fit=fit
    )
