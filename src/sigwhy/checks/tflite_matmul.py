"""Two matrices cannot be multiplied.

What happens: FULLY_CONNECTED takes as many rows from its input as the columns of the weights allow, and divides by these columns: SIGFPE where there are none. BATCH_MATMUL looks
at the last two dimensions of tensors that have fewer: it reads before their shapes.

How to tell: weights of two dimensions, none of them 0; the elements of the input are a multiple of the columns; a bias for each row; two dimensions
and no empty one for BATCH_MATMUL.

Fix: correct the layer and convert it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Node, TfliteModel

CHECK = Check(
    id="tflite-matmul",
    title="two matrices cannot be multiplied",
    fix="correct the layer and convert it again",
)


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield what does not fit."""
    for node in model.named("FULLY_CONNECTED"):
        yield from _dense(node)
    for node in model.named("BATCH_MATMUL"):
        for n, name in enumerate(("x", "y")):
            tensor = node.input(n)
            if tensor and (tensor.rank < 2 or not tensor.count):
                says = f"its shape is {list(tensor.shape)}; a matrix that is not empty is wanted"
                yield CHECK.problem(says, place=node.place(name))


def _dense(node: Node) -> Iterator[Problem]:
    given, weights, bias = node.input(0), node.input(1), node.input(2)
    if not given or not weights:
        return
    if weights.rank != 2 or not weights.count:
        says = f"their shape is {list(weights.shape)}; a matrix that is not empty is wanted"
        yield CHECK.problem(says, place=node.place("weights"))
        return
    rows, columns = weights.shape
    if given.count % columns:
        says = f"the {given.count} numbers of the input are no multiple of {columns} columns"
        yield CHECK.problem(says, place=node.place("weights"))
    if bias and bias.count != rows:
        says = f"{bias.count} numbers are given for {rows} rows of weights"
        yield CHECK.problem(says, place=node.place("bias"))
