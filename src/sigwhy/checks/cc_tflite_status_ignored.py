"""Nobody looks whether TensorFlow Lite succeeded.

What happens: ``AllocateTensors`` and ``Invoke`` do not throw, they return a status. After a failed ``AllocateTensors`` the tensors have no memory, and
writing the input is SIGSEGV; after a failed ``Invoke`` the output is what was there before. ``ModifyGraphWithDelegate`` and ``ResizeInputTensor`` leave an interpreter that must not be used.

How to tell: the call stands alone as a statement.

Fix: ``if (interpreter->Invoke() != kTfLiteOk) return ...;``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.cpp_source import CppSource

CHECK = Check(
    id="cc-tflite-status-ignored",
    title="the status of TensorFlow Lite is thrown away",
    fix="if (... != kTfLiteOk) return or report",
    severity="warning",
    words=("tflite", "TfLite", "tensorflow/lite"),
)
METHODS = {
    "AllocateTensors", "Invoke", "ResizeInputTensor", "ResizeInputTensorStrict", "ModifyGraphWithDelegate",
}  # fmt: skip
FUNCTIONS = {
    "TfLiteInterpreterAllocateTensors", "TfLiteInterpreterInvoke", "TfLiteInterpreterResizeInputTensor",
    "TfLiteTensorCopyFromBuffer", "TfLiteTensorCopyToBuffer",
}  # fmt: skip


def look(source: CppSource) -> Iterator[Problem]:
    """Yield calls whose status nobody sees."""
    for call in source.calls:
        outer = call.node.parent
        if not outer or outer.kind != "expression_statement":
            continue
        if call.name in FUNCTIONS or (call.receiver and call.name in METHODS):
            says = f"whether {call.name} succeeded is not looked at"
            yield CHECK.problem_in(source.area(call.node), says)
