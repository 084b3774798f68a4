"""A constant of a model was written to: its bytes lie in the file, which is mapped to be read only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.trial import Trial


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield the constant in whose memory the write failed, or which is an output."""
    operation, fault = trial.operation, trial.fault
    denied = fault is not None and fault.access == "write" and fault.present
    if operation.framework != "tflite" or not denied or fault is None or fault.address is None:
        return
    for argument in (*operation.outputs, *operation.inputs):
        begin, size = argument.storage or (0, 0)
        if argument.constant and begin <= fault.address < begin + max(size, 1):
            of_call = operation.op == operation.call
            does = operation.op if of_call else f"the operator {operation.op}"
            yield Charge(
                argument=argument,
                rule="constant",
                says=f"{does} writes to {argument.name}, which is a constant of the model",
                shown_by=fault,
                value=f"tensor {argument.number}",
                wanted="an input of the model" if of_call else None,
                cause="op-argument" if of_call else "malformed-model",
            )
