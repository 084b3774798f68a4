"""An operator wrote to memory that could not be had: its output has elements, and no data.

TensorFlow Lite before 2.3 of LiteRT does not look whether an allocation failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Trial

FIRST_PAGES = 1 << 16
MUCH = 1 << 26  # elements
ABSURD = 1 << 31


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each output without memory in the middle of an inference, or the input that made it so large."""
    operation, address = trial.operation, trial.address
    if operation.framework != "tflite" or trial.signal != "SIGSEGV" or operation.phase != "invoke":
        return
    for argument in operation.outputs:
        count = argument.elements or 0
        lacks = argument.standing == "missing" and count > 0
        if lacks and (address is None or address < FIRST_PAGES or count >= MUCH):
            yield _absurd(trial, argument, count) if count >= ABSURD else _charge(argument, count)


def _charge(argument: Argument, count: int) -> Charge:
    return Charge(
        argument=argument,
        rule="huge",
        says=f"there was no memory for {argument.name}, which has {count} elements",
        value=f"shape {argument.shape}",
        wanted="fewer elements, or a higher memory limit",
        fit="exact" if count >= MUCH else "likely",
        cause="memory-demand",
    )


def _absurd(trial: Trial, output: Argument, count: int) -> Charge:
    """No memory is large enough: the sizes are wrong, or what they were computed from."""
    asked = next((a for a in trial.operation.inputs if _product(a) == count), None)
    blamed = asked or output
    return Charge(
        argument=blamed,
        rule="huge",
        says=f"{blamed.name} asks for {count} elements, and nothing checks that",
        shown_by=trial.fault,
        value=str(list(blamed.values[:8]) if asked else blamed.shape),
        wanted="sizes whose product fits into memory",
        cause="op-argument" if asked and not asked.constant else "malformed-model",
    )


def _product(argument: Argument) -> int:
    numbers = [value for _, value in whole_numbers(argument)]
    product = 1
    for value in numbers:
        product *= value
    return product if numbers else 0
