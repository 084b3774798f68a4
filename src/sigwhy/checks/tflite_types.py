"""An operator that computes with numbers is handed strings or handles.

What happens: a tensor of strings or of a resource holds pointers and offsets, not numbers, and grows on its own. A kernel that does not look at the type writes its numbers over these:
SIGSEGV in the kernel, or when the tensor is freed.

How to tell: STRING, RESOURCE or VARIANT among the tensors of an operator that knows only numbers.

Fix: export the model again; where types were changed by hand, change them back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import TfliteModel

CHECK = Check(
    id="tflite-types",
    title="an operator that computes with numbers is handed something else",
    fix="export the model again",
)
NO_NUMBERS = ("STRING", "RESOURCE", "VARIANT")
NUMBERS_ONLY = {
    "ADD", "SUB", "MUL", "DIV", "FLOOR_DIV", "FLOOR_MOD", "MAXIMUM", "MINIMUM", "POW", "SQUARED_DIFFERENCE", "LESS", "LESS_EQUAL",
    "GREATER", "GREATER_EQUAL", "ABS", "NEG", "EXP", "LOG", "SQRT", "RSQRT", "SQUARE", "SIN", "COS", "CEIL", "FLOOR", "ROUND", "SIGN", "RELU",
    "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "PRELU", "LEAKY_RELU", "ELU", "GELU", "HARD_SWISH", "LOGISTIC", "TANH", "SOFTMAX", "LOG_SOFTMAX",
    "L2_NORMALIZATION", "LOCAL_RESPONSE_NORMALIZATION", "CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "CONV_3D", "CONV_3D_TRANSPOSE",
    "FULLY_CONNECTED", "BATCH_MATMUL", "MAX_POOL_2D", "AVERAGE_POOL_2D", "L2_POOL_2D", "MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN",
    "CUMSUM", "ARG_MAX", "ARG_MIN", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "SVDF",
    "QUANTIZE", "DEQUANTIZE", "SEGMENT_SUM", "RFFT2D", "TOPK_V2", "RANGE", "BUCKETIZE", "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5",
}  # fmt: skip


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield what is no number where only numbers are known."""
    for node in model.named(*NUMBERS_ONLY):
        for side, tensors in (("input", node.inputs), ("output", node.outputs)):
            for n, tensor in enumerate(tensors):
                if tensor and tensor.type in NO_NUMBERS:
                    says = f"{tensor} is a {tensor.type}, and {node.name} knows only numbers"
                    yield CHECK.problem(says, place=node.place(f"{side} {n}"))
