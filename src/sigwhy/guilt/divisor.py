"""SIGFPE: an integer was divided by zero, or the quotient did not fit; some argument is 0.

An attribute or a value of 0 first; then a product that is 0 in 32 bits although no factor is; then a
size of 0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge, at, is_tensor, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Trial

WORD = 1 << 32
SMALLEST = {-(1 << 31), -(1 << 63)}
REGISTER = re.compile(r"^i?div (?P<name>[a-z][a-z0-9]{1,4})$")
# What makes a size, and is divided by.
DIVIDES = re.compile(
    r"stride|size|group|block|rate|dilation|ksize|num_|depth|count|batch|window|bins|buckets|shards|shape|factor|every|step|multiple|cycle|length"
)
NEVER = re.compile(
    r"^(?:seed2?|.*axis|.*_mask|out_type|begin|start|min|max|.*padding\w*|id|index|.*indices)$"
)


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each argument that makes a divisor of 0, or a quotient without end."""
    if trial.signal != "SIGFPE":
        return
    zeros = [c for a in trial.arguments for c in _zeros(trial, a)]
    cut = [c for a in trial.arguments for c in _cut_products(trial, a)]
    yield from zeros or cut
    if not zeros and not cut:
        yield from _sizes(trial)
        yield from _quotients(trial)


def _zeros(trial: Trial, argument: Argument) -> Iterator[Charge]:
    if NEVER.match(argument.name) or not (is_named(argument) or argument.elements == 1):
        return
    for n, value in whole_numbers(argument):
        if value == 0:
            name = at(argument, n)
            yield Charge(
                argument=argument,
                rule="divisor",
                says=f"{name} = 0 is the divisor",
                shown_by=trial.instruction,
                value="0",
                wanted="not 0",
                fit="exact" if is_named(argument) else "likely",
            )
            return


def is_named(argument: Argument) -> bool:
    """Whether an argument with this name is something that is divided by."""
    return bool(DIVIDES.search(argument.name.lower()))


def _cut_products(trial: Trial, argument: Argument) -> Iterator[Charge]:
    """A square or a product of values that has 32 zero bits at its end."""
    numbers = [value for _, value in whole_numbers(argument) if value]
    product = 1
    for value in numbers:
        product *= value
    # A square is taken of sizes, and of nothing else.
    square = len(numbers) == 1 and is_named(argument) and numbers[0] ** 2 % WORD == 0
    if square or (numbers and product % WORD == 0):
        much = (
            f"the square of {argument.name} = {numbers[0]}"
            if square
            else f"the product of {argument.name}"
        )
        yield Charge(
            argument=argument,
            rule="divisor",
            says=f"{much} is 0 in 32 bits, and that is the divisor",
            shown_by=trial.instruction,
            value=str(numbers[0] if square else numbers[:8]),
            wanted="a smaller value",
        )


def _sizes(trial: Trial) -> Iterator[Charge]:
    for argument in trial.operation.inputs:
        empty = [n for n, size in enumerate(argument.shape or ()) if size == 0]
        if empty and is_tensor(argument):
            yield Charge(
                argument=argument,
                rule="divisor",
                says=f"the size of {argument.name} in dimension {empty[0]} is 0, and a size is the divisor",
                shown_by=trial.instruction,
                value=f"shape {argument.shape}",
                wanted="no size of 0",
                fit="likely",
            )


def _quotients(trial: Trial) -> Iterator[Charge]:
    """The smallest number there is, divided by -1, is one too large."""
    for argument in trial.operation.inputs:
        for n, value in whole_numbers(argument):
            if value in SMALLEST:
                yield Charge(
                    argument=argument,
                    rule="quotient",
                    says=f"{at(argument, n)} = {value} divided by -1 does not fit its type",
                    shown_by=trial.instruction,
                    value=str(value),
                    fit="likely",
                )
                break
