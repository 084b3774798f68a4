"""An operator, or this version of it, is unknown to the runtime that the model is meant for.

What happens: the interpreter refuses the model when it is loaded: "Didn't find op for builtin opcode", an exception. Programs in C++ that do not look
at the status go on with a null interpreter: SIGSEGV.

How to tell: without a target, operators that no runtime registers. With --target tensorflow==X, versions of operators that came after X; with --target litert, those that
LiteRT does not register; with --target tflite-micro, operators that have no kernel there. Custom operators and operators of TensorFlow
(Flex) are named: somebody must register them.

Fix: a newer runtime, or convert again for the older one; Flex operators want the Flex delegate, which only TensorFlow has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check
from sigwhy.tflite.contracts import SINCE, VERSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.model.target import Target
    from sigwhy.subjects.tflite_model import Operator, TfliteModel

CHECK = Check(
    id="tflite-target",
    title="the runtime does not know an operator",
    fix="take a newer runtime, or convert the model for the older one",
)
OWN = {"TFLite_Detection_PostProcess", "Mfcc", "AudioSpectrogram", "NumericVerify"}
NEVER = {"CUSTOM", "DELEGATE"}
# Operators with a kernel in TensorFlow Lite Micro.
MICRO = {
    "ABS", "ADD", "ADD_N", "ARG_MAX", "ARG_MIN", "ASSIGN_VARIABLE", "AVERAGE_POOL_2D", "BATCH_MATMUL",
    "BATCH_TO_SPACE_ND", "BROADCAST_ARGS", "BROADCAST_TO", "CALL_ONCE", "CAST", "CEIL", "CONCATENATION", "CONV_2D",
    "COS", "CUMSUM", "DEPTH_TO_SPACE", "DEPTHWISE_CONV_2D", "DEQUANTIZE", "DIV", "DYNAMIC_UPDATE_SLICE", "ELU",
    "EMBEDDING_LOOKUP", "EQUAL", "EXP", "EXPAND_DIMS", "FILL", "FLOOR", "FLOOR_DIV", "FLOOR_MOD", "FULLY_CONNECTED",
    "GATHER", "GATHER_ND", "GREATER", "GREATER_EQUAL", "HARD_SWISH", "IF", "L2_NORMALIZATION", "L2_POOL_2D",
    "LEAKY_RELU", "LESS", "LESS_EQUAL", "LOG", "LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR", "LOGISTIC", "LOG_SOFTMAX",
    "MAXIMUM", "MAX_POOL_2D", "MEAN", "MINIMUM", "MIRROR_PAD", "MUL", "NEG", "NOT_EQUAL", "PACK", "PAD", "PADV2",
    "PRELU", "QUANTIZE", "READ_VARIABLE", "REDUCE_ALL", "REDUCE_MAX", "REDUCE_MIN", "RELU", "RELU6", "RESHAPE",
    "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "REVERSE_V2", "ROUND", "RSQRT", "SELECT_V2", "SHAPE", "SIN", "SLICE",
    "SOFTMAX", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQRT", "SQUARE", "SQUARED_DIFFERENCE",
    "SQUEEZE", "STRIDED_SLICE", "SUB", "SUM", "SVDF", "TANH", "TRANSPOSE", "TRANSPOSE_CONV",
    "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNPACK", "VAR_HANDLE", "WHILE", "ZEROS_LIKE",
}  # fmt: skip


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield each operator that somebody does not know, once."""
    seen: dict[tuple[str, int, str | None], Operator] = {}
    for graph in model.subgraphs:
        for operator in graph.operators:
            if operator.known:
                seen.setdefault((operator.name, operator.version, operator.custom), operator)
    for operator in seen.values():
        if operator.custom:
            yield from _custom(operator)
        elif operator.name not in NEVER:
            for says in _unknown(operator, model.targets):
                yield CHECK.problem(says, place=operator.place)


def _custom(operator: Operator) -> Iterator[Problem]:
    if operator.custom in OWN:
        return
    flex = (operator.custom or "").startswith("Flex")
    who = "the Flex delegate of TensorFlow" if flex else "somebody who registers it"
    yield CHECK.problem(f"it needs {who}", place=operator.place, severity="note")


def _unknown(operator: Operator, targets: tuple[Target, ...]) -> Iterator[str]:
    name, version = operator.name, operator.version
    if name not in VERSIONS:
        yield f"no runtime has a kernel for {name}"
        return
    if version > VERSIONS[name][1]:
        yield f"its version is {version}, and runtimes know {name} up to {VERSIONS[name][1]}"
    for target in targets:
        if target.runtime == "tflite-micro" and name not in MICRO:
            yield f"{target} has no kernel for {name}"
        elif target.runtime == "tensorflow" and target.version:
            since = dict(row.split(":") for row in SINCE.get(name, "").split()).get(str(version))
            if since and tuple(int(n) for n in since.split(".")) > target.version:
                yield f"version {version} of {name} came with TensorFlow {since}, after {target}"
