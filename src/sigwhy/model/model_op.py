"""The operator of a TensorFlow Lite model, or the call of its interpreter, that a process died in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Culprit
from sigwhy.model.fact import Op

if TYPE_CHECKING:
    from sigwhy.model.case import Case

# Calls that are given data or sizes of the caller's own; all others work on what the model holds.
TAKES_DATA = re.compile(
    r"(?:set_tensor|resize_tensor_input|SetTensor|ResizeInputTensor|write|CopyFromBuffer)$"
)
ALIVE = ("running", "constructing")
OF_OURS = re.compile(r"XNN", re.IGNORECASE)  # the delegate that comes with the runtime


def died_in(case: Case) -> Op | None:
    """What was found in memory, where it is no hint and no other thread's."""
    ops = (op for op in case.all(Op) if op.framework == "tflite" and op.from_memory)
    return next((op for op in ops if not op.is_hint and op.state in ALIVE), None)


def is_node(op: Op) -> bool:
    """Whether it is an operator of the model, and not only a call of the interpreter."""
    return op.index is not None


def foreign_delegate(op: Op) -> str | None:
    """The delegate at work, where it is not the runtime's own."""
    return op.delegate if op.delegate and not OF_OURS.search(op.delegate) else None


def whom(op: Op) -> Culprit:
    """The operator with its place in the model, or the call."""
    if is_node(op):
        return Culprit(kind="op", name=op.op, node=op.node)
    return Culprit(kind="api", name=op.op)


def gives_data(case: Case) -> bool:
    """Whether the call that it died in was given anything but a model; so it is where there is none."""
    op = died_in(case)
    return op is None or bool(TAKES_DATA.search(op.call or ""))
