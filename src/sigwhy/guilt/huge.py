"""A container or an allocation was asked to be larger than anything, and the exception killed the process.

Eager TensorFlow shows it as a fault inside of the interpreter: the exception left the operation while
Python's lock was not held. In a thread of a pool it is ``terminate called``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge, at, is_attribute, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Fit, Trial

OF_SIZES = re.compile(r"length_error|bad_(?:array_new_length|alloc)|max_size")
HUGE = 1 << 31
# Names of what is counted; a value of -1 elsewhere may mean "all" or "unknown".
COUNTED = re.compile(
    r"size|num|count|length|shape|capacity|cycle|parallel|buffer|batch|depth|rows|cols|nrows|nbins|splits|elements|limit|end|indices"
)
NEVER = re.compile(r"^seed|_seed|^axis$|timeout|_id$")
FACTORS = 1 << 20
WORDS = (1, 2, 4, 8, 16)


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each number that no memory can hold so many of."""
    if not _is_about_size(trial):
        return
    for argument in trial.arguments:
        if NEVER.search(argument.name):
            continue
        for n, value in whole_numbers(argument):
            negative = value < 0 and COUNTED.search(argument.name)
            if value >= HUGE or (negative and not _means_all(trial, argument, value)):
                yield _charge(trial, argument, at(argument, n), value)
                break
    yield from _products(trial)


def _is_about_size(trial: Trial) -> bool:
    thrown = " ".join(f"{t.type} {t.what}" for t in trial.thrown)
    left = trial.operation.state == "left" and not trial.thrown
    return bool(left or OF_SIZES.search(thrown) or trial.allocations)


def _means_all(trial: Trial, argument: Argument, value: int) -> bool:
    return value == -1 and is_attribute(trial, argument)


def _charge(trial: Trial, argument: Argument, name: str, value: int) -> Charge:
    said = next((t.type or t.what for t in trial.thrown), None)
    much = "is negative" if value < 0 else "is more than memory can hold"
    fit: Fit = "exact" if said and OF_SIZES.search(said) else "likely"
    return Charge(
        argument=argument,
        rule="huge",
        says=f"{name} = {value} {much}" + (f", which ended in {said}" if said else ""),
        shown_by=next(iter(trial.thrown), None),
        value=str(value),
        wanted="a smaller value" if value > 0 else "0 or more",
        fit=fit,
    )


def _products(trial: Trial) -> Iterator[Charge]:
    """An allocation whose size is that of a shape among the arguments."""
    asked = {a.asked_bytes for a in trial.allocations if a.asked_bytes}
    for argument in trial.arguments if asked else ():
        product, numbers = 1, [value for _, value in whole_numbers(argument)]
        for value in numbers:
            product *= value
        if numbers and product >= FACTORS and {product * word for word in WORDS} & asked:
            yield Charge(
                argument=argument,
                rule="huge",
                says=f"{argument.name} asks for {product} elements, which is what could not be allocated",
                shown_by=trial.allocations[0],
                value=str(numbers[0] if len(numbers) == 1 else numbers[:8]),
                wanted="a smaller value",
                cause="memory-demand",
            )
