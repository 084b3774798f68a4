"""Whole numbers that an operator of a model indexes or counts with: negative, or far too large."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge, at, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.trial import Trial

ENDS = frozenset({"SIGSEGV", "SIGBUS", "SIGABRT"})
TYPES = frozenset({"int32", "int64"})
FAR = 1 << 20
HUGE = 1 << 30  # nothing that fits into memory has so many rows
# Operators that compute with such numbers; for the others they are places, sizes or counts.
COMPUTES = frozenset({"ADD", "SUB", "MUL", "DIV", "FLOOR_DIV", "FLOOR_MOD", "MAXIMUM", "MINIMUM", "LESS", "GREATER",
                      "EQUAL", "NOT_EQUAL", "LESS_EQUAL", "GREATER_EQUAL", "CAST", "ABS", "NEG", "SIGN", "POW"})  # fmt: skip


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each input of which a value leads far outside, or asks for more than there is."""
    operation = trial.operation
    if operation.framework != "tflite" or trial.signal not in ENDS or operation.op in COMPUTES:
        return
    for argument in operation.inputs:
        if argument.dtype not in TYPES:
            continue
        worst = max(whole_numbers(argument), key=lambda pair: _oddity(pair[1]), default=(0, 0))
        if _oddity(worst[1]):
            yield Charge(
                argument=argument,
                rule="index",
                says=f"{at(argument, worst[0])} = {worst[1]} leads outside of what {operation.op} works on",
                shown_by=trial.fault,
                value=str(worst[1]),
                fit="exact" if abs(worst[1]) >= HUGE else "likely",
                cause="malformed-model" if argument.constant else "op-argument",
            )
    yield from _permutation(trial)


def _permutation(trial: Trial) -> Iterator[Charge]:
    """The order of dimensions must name each of them once."""
    order = next(iter(trial.operation.inputs[1:2]), None)
    if trial.operation.op != "TRANSPOSE" or order is None or not order.values:
        return
    numbers = [value for _, value in whole_numbers(order)]
    if order.elements == len(numbers) and sorted(numbers) != list(range(len(numbers))):
        yield Charge(
            argument=order,
            rule="order",
            says=f"{order.name} = {numbers} is no order of {len(numbers)} dimensions",
            value=str(numbers),
            wanted="each dimension once",
            cause="malformed-model" if order.constant else "op-argument",
        )


def _oddity(value: int) -> int:
    """How far a value lies outside of what can be meant; -1 often means "the last" or "all"."""
    return abs(value) if value < -1 or value >= FAR else 0
