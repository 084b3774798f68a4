"""An operator gets tensors of more dimensions than its kernel can handle.

What happens: the kernels of element by element operators keep shapes in arrays of fixed length. Beyond it an assertion aborts
(SIGABRT), or the stack is overwritten, depending on the release: ADD aborts at 7 dimensions in TensorFlow 2.13, and
smashes the stack at 9 in 2.16 to 2.21; MUL, DIV, comparisons abort at 7; SELECT_V2 at 6.

How to tell: two inputs of different shapes, more than 6 dimensions (5 for SELECT_V2).

Fix: merge dimensions before the operation: ``tf.reshape`` to fewer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import TfliteModel

CHECK = Check(
    id="tflite-rank",
    title="tensors have more dimensions than the kernel can handle",
    fix="merge dimensions before the operation with tf.reshape",
)
# Operators that broadcast, and how many dimensions they can.
BROADCAST = {
    "ADD": 6, "SUB": 6, "MUL": 6, "DIV": 6, "MAXIMUM": 6, "MINIMUM": 6, "LESS": 6, "LESS_EQUAL": 6, "GREATER": 6,
    "GREATER_EQUAL": 6, "EQUAL": 6, "NOT_EQUAL": 6, "FLOOR_DIV": 6, "FLOOR_MOD": 6, "SQUARED_DIFFERENCE": 6, "POW": 6,
    "ATAN2": 6, "LOGICAL_AND": 6, "LOGICAL_OR": 6, "SELECT_V2": 5, "BITWISE_XOR": 6, "RIGHT_SHIFT": 6,
}  # fmt: skip
# Operators that move elements, and how many dimensions they can.
MOVES = {
    "TRANSPOSE": 8,
    "BROADCAST_TO": 8,
    "PAD": 8,
    "PADV2": 8,
    "SLICE": 8,
    "REVERSE_SEQUENCE": 8,
    "TILE": 8,
}


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield operators with too many dimensions."""
    for node in model.named(*BROADCAST, *MOVES):
        tensors = [tensor for tensor in node.inputs if tensor]
        highest = max((tensor.rank for tensor in tensors), default=0)
        same = len({tensor.shape for tensor in tensors}) == 1
        most = BROADCAST.get(node.name) or MOVES[node.name]
        if highest > most and not (same and node.name in BROADCAST):
            says = f"it gets {highest} dimensions; {most} are safe"
            yield CHECK.problem(says, place=node.place())
