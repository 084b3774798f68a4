"""A failed check that names an argument: ``strides.size() == 4 (3 vs. 4)``, ``batch_size > 0``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Trial

WORD = re.compile(r"[A-Za-z_]\w{0,60}")
NUMBER = re.compile(r"(?<![\w.])-?\d{1,20}(?![\w.])")
# What checks call things that are no arguments of the call.
ORDINARY = frozenset(
    {"index", "size", "dims", "dim", "dtype", "data", "shape", "rank", "status", "value", "values", "ptr", "type", "n", "k", "i", "d", "T", "N"}
)  # fmt: skip
SHORTEST = 3


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each argument whose name stands in the condition."""
    for check in trial.checks:
        words = {word.rstrip("_") for word in WORD.findall(check.expression[:1000])}
        numbers = {int(number) for number in NUMBER.findall(check.detail[:1000])}
        for argument in trial.arguments:
            name = argument.name
            if name not in words or name in ORDINARY or len(name) < SHORTEST:
                continue
            fits = bool(numbers & _sizes(argument))
            yield Charge(
                argument=argument,
                rule="named",
                says=f"the check that failed is about {name}: {_shown(check.expression, check.detail)}",
                shown_by=check,
                value=_value(argument),
                fit="exact" if fits else "likely",
            )


def _shown(expression: str, detail: str) -> str:
    said = f"{expression} ({detail})" if detail else expression
    return said if len(said) <= 120 else f"{said[:119]}…"


def _sizes(argument: Argument) -> set[int]:
    """All numbers that could be printed of an argument: values, sizes, how many."""
    found = {value for _, value in whole_numbers(argument)}
    found.update(argument.shape or ())
    if argument.shape is not None:
        found.add(len(argument.shape))
    if argument.elements is not None:
        found.add(argument.elements)
    return found | ({len(argument.values)} if argument.kind == "list" else set())


def _value(argument: Argument) -> str | None:
    if argument.values:
        values = argument.values
        return str(values[0] if len(values) == 1 else list(values[:8]))
    return None if argument.shape is None else f"shape {argument.shape}"
