"""The buffers handed to a model do not fit its shape, type or quantisation.

What happens: the caller fills a tensor of the model with more, fewer or other bytes than it holds.
The Python classes refuse that with an exception; raw pointers in C, C++, Java buffers or ctypes do
not: they write past the tensor, and the process dies later and elsewhere.

How to tell: the words "Cannot copy to a TensorFlow Lite tensor", "Got value of type", "Dimension
mismatch", "Got invalid dimensions for input"; or a copy into a tensor on top of the dead stack.

Fix: ask the model: get_input_details() gives index, shape, dtype and quantisation. Cast, resize the
tensor before allocate_tensors(), or quantise the values with its scale and zero point.

Folklore: wrong shapes or types handed to the Python Interpreter do not crash it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import HeapDamage, Notice, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="model-contract",
    title="a buffer does not fit the model's input or output",
    fix="Read shape, dtype and quantisation from the model (get_input_details()) and fit the data.",
)
SAID = {
    "tensor-size-wrong": ("the shape or size is not the model's", "Give the shape that the model wants, or resize its input before it allocates."),
    "tensor-type-wrong": ("the type is not the model's", "Cast to the model's dtype; for integers quantise with its scale and zero point."),
    "tensor-index-wrong": ("the model has no such tensor", "Take indices and names from get_input_details() and get_output_details()."),
    "input-lacks-data": ("an input was never filled", "Set every input before invoke(), again after each resize."),
}  # fmt: skip
COPIES = re.compile(
    r"TfLiteTensorCopy(?:From|To)Buffer|typed_(?:input_|output_)?tensor|InterpreterWrapper::SetTensor|NativeInterpreterWrapper_(?:run|resizeInput)|Tensor_(?:write|read)\w+|writeDirectBuffer|WriteBufferToTensor"
)
NEAR = 5


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for buffers that do not fit."""
    for notice in case.all(Notice):
        if notice.topic in SAID:
            says, fix = SAID[notice.topic]
            yield Clue(
                Weight.PROOF, notice, says, Culprit(kind="argument", name=notice.subject), fix
            )
    for stack in case.all(Stack):
        if not stack.crashed or stack.role != "fault":
            continue
        for frame in stack.frames[:NEAR]:
            if found := COPIES.search(frame.function or ""):
                culprit = Culprit(kind="api", name=found[0], function=frame.function)
                yield Clue(Weight.STRONG, stack, "it died while a tensor was filled", culprit)
                if damage := case.first(HeapDamage):
                    yield Clue(Weight.FAIR, damage, "and memory next to it was overwritten")
                break
