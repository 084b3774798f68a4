"""A failed check that counts elements: ``1 == NumElements() (1 vs. 2) Must have a one element tensor``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge, is_tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.fact import Check
    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Trial

PAIR = re.compile(r"^(?P<left>-?\d{1,19}) vs\. (?P<right>-?\d{1,19})(?!\d)")
RIGHT = re.compile(r"== (?:\w+\.)?NumElements\(\)$")
LEFT = re.compile(r"^(?:\w+\.)?NumElements\(\) ==")


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each argument that has as many elements as the check found."""
    for check in trial.checks:
        pair = PAIR.match(check.detail)
        right, left = RIGHT.search(check.expression), LEFT.search(check.expression)
        if pair and (right or left):
            sides = ("left", "right") if right else ("right", "left")
            yield from _of_so_many(trial, check, int(pair[sides[0]]), int(pair[sides[1]]))


def _of_so_many(trial: Trial, check: Check, wanted: int, count: int) -> Iterator[Charge]:
    inputs = trial.operation.inputs
    found = [a for a in inputs if is_tensor(a) and _elements(a) == count]
    for argument in found:
        yield Charge(
            argument=argument,
            rule="elements",
            says=f"{argument.name} has {_so_many(count)}, the kernel wants {wanted}",
            shown_by=check,
            value=str(argument.shape),
            wanted=_so_many(wanted),
        )
    holders = [a for a in inputs if not is_tensor(a)]
    if not found and len(holders) == 1:
        yield Charge(
            argument=holders[0],
            rule="elements",
            says=f"what {holders[0].name} holds has {_so_many(count)}, the kernel wants {wanted}",
            shown_by=check,
            wanted=_so_many(wanted),
            fit="likely",
        )


def _so_many(count: int) -> str:
    return "one element" if count == 1 else f"{count} elements"


def _elements(argument: Argument) -> int | None:
    if argument.elements is not None or argument.shape is None:
        return argument.elements
    product = 1
    for size in argument.shape:
        product *= size
    return product
