"""The sizes of a tensor are such as an operator cannot work with: too many of them, or one that is 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge, is_tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.trial import Trial

MOST = 6  # dimensions that operators of two inputs can broadcast; newer versions do 8
FEWER = {"SELECT_V2": 4, "SELECT": 4, "TRANSPOSE": 6, "MIRROR_PAD": 5, "TILE": 8}
ENDS = frozenset({"SIGSEGV", "SIGBUS", "SIGABRT"})
MEMORY = frozenset({"SIGSEGV", "SIGBUS"})


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each tensor that has too many dimensions, and each input without elements."""
    operation = trial.operation
    if operation.framework != "tflite" or trial.signal not in ENDS:
        return
    most = FEWER.get(operation.op, MOST)
    for argument in (*operation.inputs, *operation.outputs):
        rank = len(argument.shape or ())
        if is_tensor(argument) and rank > most:
            yield Charge(
                argument=argument,
                rule="rank",
                says=f"{argument.name} has {rank} dimensions, and {operation.op} works with {most}",
                value=f"rank {rank}",
                wanted=f"at most {most} dimensions",
                # Operators check little, but how many dimensions they can do many of them do.
                fit="exact" if trial.signal == "SIGABRT" else "likely",
                cause="malformed-model",
            )
    for argument in operation.inputs if trial.signal in MEMORY else ():
        if is_tensor(argument) and 0 in (argument.shape or ()):
            yield Charge(
                argument=argument,
                rule="empty",
                says=f"{argument.name} is empty, and {operation.op} reads its first element",
                shown_by=trial.fault,
                value=f"shape {argument.shape}",
                wanted="at least one element",
                # Of a list of numbers the first is read as a matter of course.
                fit="exact" if argument.dtype in ("int32", "int64") else "likely",
                cause="malformed-model",
            )
