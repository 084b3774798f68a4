"""A tensor was asked for whose bytes cannot be made into an array: handles, or strings that lead astray."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.trial import Trial

MEMORY = frozenset({"SIGSEGV", "SIGBUS"})
SAYS = {
    "resource": "{name} is a RESOURCE: its bytes are a handle, and were taken for Python objects",
    "variant": "{name} is a VARIANT: its bytes are a handle, and were taken for Python objects",
    "string": "{name} holds strings whose table of offsets leads out of its data",
}


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield the tensor that was to be copied out."""
    operation = trial.operation
    copies = operation.call.endswith("get_tensor") and operation.op == operation.call
    if operation.framework != "tflite" or not copies or trial.signal not in MEMORY:
        return
    for argument in operation.inputs[:1]:
        if says := SAYS.get(argument.dtype):
            yield Charge(
                argument=argument,
                rule="dtype",
                says=says.format(name=argument.name),
                shown_by=trial.fault,
                value=argument.dtype,
                cause="malformed-model",
            )
