"""The scale of a quantised tensor is 0, infinite, no number, or missing: the operator divides by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Trial

QUANTISED = frozenset({"int8", "uint8", "int16"})
FIRST_PAGES = 1 << 16
# Operators that move numbers of these types without asking for their scale.
PLAIN = frozenset({"RESHAPE", "GATHER", "GATHER_ND", "TRANSPOSE", "SQUEEZE", "EXPAND_DIMS", "SHAPE", "CAST",
                   "SLICE", "STRIDED_SLICE", "PACK", "UNPACK", "TILE", "REVERSE_V2", "REVERSE_SEQUENCE", "SPLIT", "SPLIT_V"})  # fmt: skip


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each tensor whose scale cannot be computed with."""
    operation = trial.operation
    near = trial.address is not None and trial.address < FIRST_PAGES
    if operation.framework != "tflite" or not (trial.signal in ("SIGABRT", "SIGFPE") or near):
        return
    for argument in (*operation.inputs, *operation.outputs):
        wrong = _wrong(argument)
        lacks = argument.scales is None and operation.op not in PLAIN
        if wrong is None and not (argument.dtype in QUANTISED and lacks):
            continue
        value = "no scale" if wrong is None else f"scale {wrong}"
        yield Charge(
            argument=argument,
            rule="scale",
            says=f"{argument.name} is quantised ({argument.dtype}) and has {value}",
            value=value,
            wanted="a scale that is a number above 0",
            fit="exact" if wrong is not None else "likely",
            cause="malformed-model",
        )


def _wrong(argument: Argument) -> float | str | None:
    """The first scale that is none, of a tensor that is computed with by scale."""
    if argument.dtype not in QUANTISED:
        return None
    wrong = (s for s in argument.scales or () if isinstance(s, str) or s <= 0)
    return next(wrong, None)
