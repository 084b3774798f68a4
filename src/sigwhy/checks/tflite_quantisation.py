"""The numbers that quantise a tensor are impossible.

What happens: a kernel turns the scales of its inputs and outputs into a multiplier when the tensors are allocated, and checks the result
with an assertion that aborts: SIGABRT where a scale is 0, negative, infinite, no number, or missing. With one scale for each channel and
another number of channels it reads behind the scales.

How to tell: every scale is finite and above 0; there are as many zero points as scales, each in the range of the type; one scale, or as many as the quantised
dimension has. Scales beyond 1e18 or below 1e-30 are no scales of a trained model: a warning.

Fix: quantise the model again with a representative dataset in which every tensor varies.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Node, Tensor, TfliteModel
    from sigwhy.tflite.whole import Row

CHECK = Check(
    id="tflite-quantisation",
    title="the numbers that quantise a tensor are impossible",
    fix="quantise the model again with a representative dataset",
)
RANGES = {
    "INT8": (-128, 127), "UINT8": (0, 255), "INT16": (-32768, 32767), "INT4": (-8, 7),
}  # fmt: skip
LARGEST, SMALLEST = 1e18, 1e-30
# Operators that compute with the scales of what they are given.
COMPUTES = {
    "ADD", "SUB", "MUL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL", "SQUARED_DIFFERENCE",
    "CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "FULLY_CONNECTED", "BATCH_MATMUL", "SOFTMAX", "LOG_SOFTMAX", "LOGISTIC", "TANH",
    "LEAKY_RELU", "PRELU", "HARD_SWISH", "MEAN", "SUM", "RSQRT", "EXP", "ELU", "GELU", "L2_NORMALIZATION", "QUANTIZE",
    "DEQUANTIZE", "ABS", "LOG", "DIV",
}  # fmt: skip
QUANTISED = ("INT8", "UINT8")
OUTPUTS_PLAIN = {"LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL"}


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield impossible numbers, tensor by tensor, and where an operator needs some and has none."""
    for graph in model.subgraphs:
        for tensor in graph.tensors:
            if tensor.quantization:
                place = f"subgraph {graph.index}, {tensor}"
                yield from _numbers(tensor, tensor.quantization, place)
    for node in model.nodes:
        if node.name in COMPUTES:
            yield from _missing(node)


def _numbers(tensor: Tensor, row: Row, place: str) -> Iterator[Problem]:
    scales, zeros = tensor.scales, row["zero_point"]
    wrong = next((s for s in scales if not isfinite(s) or s <= 0), None)
    if wrong is not None:
        yield CHECK.problem(f"a scale is {wrong:g}; it must be above 0 and finite", place=place)
    elif scales and (max(scales) > LARGEST or min(scales) < SMALLEST):
        says = f"its scales reach from {min(scales):g} to {max(scales):g}, as no trained model has"
        yield CHECK.problem(says, place=place, severity="warning", confidence="likely")
    axis = row["quantized_dimension"]
    if len(scales) > 1 and not (0 <= axis < tensor.rank and tensor.shape[axis] == len(scales)):
        says = f"there are {len(scales)} scales for dimension {axis} of shape {list(tensor.shape)}"
        yield CHECK.problem(says, place=place)
    if zeros is not None and len(zeros) and scales and len(zeros) != len(scales):
        says = f"there are {len(scales)} scales and {len(zeros)} zero points"
        yield CHECK.problem(says, place=place)
    low, high = RANGES.get(tensor.type, (-(2**31), 2**31 - 1))
    beyond = next((z for z in zeros or () if not low <= z <= high), None)
    if beyond is not None and scales:
        says = f"zero point {beyond} is out of the range {low} to {high} of {tensor.type}"
        yield CHECK.problem(says, place=place, severity="warning")


def _missing(node: Node) -> Iterator[Problem]:
    outputs = () if node.name in OUTPUTS_PLAIN else node.outputs
    for tensor in (*node.inputs[:2], *outputs):
        if tensor and tensor.type in QUANTISED and tensor.count and not tensor.scales:
            says = f"{tensor} is {tensor.type} and has no scale, and {node.name} computes with it"
            yield CHECK.problem(says, place=node.place(), severity="warning")
            return
