"""A constant of a model lies where the model is not, or its table of sparse values leads out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Trial

BROKEN = "broken strings"
MEMORY = frozenset({"SIGSEGV", "SIGBUS"})


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each constant that is not inside of the model, and each that is sparse."""
    if trial.operation.framework != "tflite" or trial.signal not in MEMORY:
        return
    for argument in trial.operation.inputs:
        if says := _outside(trial, argument):
            yield Charge(
                argument=argument,
                rule="outside",
                says=says,
                shown_by=trial.fault,
                value=f"{argument.address:#x}" if argument.address else None,
                cause="malformed-model",
            )
        elif BROKEN in argument.note:
            yield Charge(
                argument=argument,
                rule="strings",
                says=f"{argument.name} holds strings, and their table leads out of its {_size(argument)} bytes",
                shown_by=trial.fault,
                cause="malformed-model",
            )
        elif "sparse" in argument.note:
            yield Charge(
                argument=argument,
                rule="sparse",
                says=f"{argument.name} is sparse, and its tables lead outside of its values",
                shown_by=trial.fault,
                value="sparse",
                cause="malformed-model",
            )


def _size(argument: Argument) -> int:
    return argument.storage[1] if argument.storage else 0


def _outside(trial: Trial, argument: Argument) -> str | None:
    model, begin = trial.operation.model, argument.address
    if not (argument.constant and begin and model and model.address and model.size):
        return None
    end = begin + (argument.storage[1] if argument.storage else 0)
    if model.address <= begin and end <= model.address + model.size:
        return None
    return f"the data of {argument.name} lies {begin - model.address:+d} bytes from the model, outside of its {model.size} bytes"
