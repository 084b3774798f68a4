"""An operator of a model has the tensor -1, which means "none", where it cannot do without one.

Few operators know inputs that may be left out; the others follow a null pointer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.trial import Trial

FIRST_PAGES = 1 << 16
# Inputs that may be left out, by operator.
OPTIONAL = {
    "FULLY_CONNECTED": {2}, "CONV_2D": {2}, "DEPTHWISE_CONV_2D": {2}, "CONV_3D": {2},
    "TRANSPOSE_CONV": {3}, "CONV_3D_TRANSPOSE": {3}, "SVDF": {3},
    "LSTM": set(range(1, 24)), "UNIDIRECTIONAL_SEQUENCE_LSTM": set(range(1, 24)),
    "BIDIRECTIONAL_SEQUENCE_LSTM": set(range(1, 48)), "BIDIRECTIONAL_SEQUENCE_RNN": set(range(7, 12)),
}  # fmt: skip


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each tensor that is not there, where memory was touched for lack of one."""
    operation = trial.operation
    if operation.framework != "tflite" or trial.signal not in ("SIGSEGV", "SIGBUS"):
        return
    # Number -1 also reads what lies before the first tensor, and follows whatever stands there.
    near = trial.address is None or trial.address < FIRST_PAGES
    may_lack = OPTIONAL.get(operation.op, set())
    lacking = [a for n, a in enumerate(operation.inputs) if a.number == -1 and n not in may_lack]
    for argument in (*lacking, *(a for a in operation.outputs if a.number == -1)):
        yield Charge(
            argument=argument,
            rule="missing",
            says=f"{argument.name} of {operation.op} is tensor -1 (none), and the operator needs it",
            shown_by=trial.fault,
            value="-1",
            wanted="the number of a tensor",
            fit="exact" if near else "likely",
            cause="malformed-model",
        )
