"""A tensor cannot be cut into these pieces, or put together from them.

What happens: SPLIT divides a dimension by the number of pieces: SIGFPE or SIGSEGV where that is 0. An axis that is not there, or another
number of outputs than pieces, makes the kernel read and write beyond shapes and lists.

How to tell: SPLIT and SPLIT_V have as many pieces as outputs, at least 1, and the pieces make up the dimension; UNPACK and PACK have
as many tensors as they say; the axis is one of the input's; all parts of a CONCATENATION have one type and rank.

Fix: export the model again; where it was edited by hand, change pieces and outputs together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Node, TfliteModel

CHECK = Check(
    id="tflite-pieces",
    title="a tensor cannot be cut into these pieces, or put together from them",
    fix="export the model again",
)


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield what does not add up."""
    rules = {
        "SPLIT": _split,
        "SPLIT_V": _split_v,
        "UNPACK": _unpack,
        "PACK": _pack,
        "CONCATENATION": _concatenation,
    }
    for node in model.named(*rules):
        yield from rules[node.name](node)


def _split(node: Node) -> Iterator[Problem]:
    pieces, outputs = node.option("num_splits"), len(node.outputs)
    if pieces < 1 or pieces != outputs:
        says = f"it is {pieces}, and there are {outputs} outputs"
        yield CHECK.problem(says, place=node.place("num_splits"))
        return
    yield from _axis(node, 0, 1, pieces)


def _split_v(node: Node) -> Iterator[Problem]:
    pieces, outputs, sizes = node.option("num_splits"), len(node.outputs), node.values(1)
    if pieces < 1 or pieces != outputs:
        says = f"it is {pieces}, and there are {outputs} outputs"
        yield CHECK.problem(says, place=node.place("num_splits"))
    if sizes is not None:
        held = list(sizes)
        if len(held) != outputs or min(held, default=0) < -1 or held.count(-1) > 1:
            says = f"{held[:8]} are no sizes for {outputs} outputs"
            yield CHECK.problem(says, place=node.place("size_splits"))
    yield from _axis(node, 2, 0, 1)


def _axis(node: Node, at_axis: int, at_value: int, pieces: int) -> Iterator[Problem]:
    """The axis of a cut, and whether the pieces divide it."""
    axis, value = node.input(at_axis), node.input(at_value)
    if axis and axis.count != 1 and axis.data is not None:
        yield CHECK.problem(
            f"it has {axis.count} elements, and one is wanted", place=node.place("axis")
        )
        return
    known = node.values(at_axis)
    if not known or not value:
        return
    n = int(known[0])
    if not -value.rank <= n < value.rank:
        yield CHECK.problem(
            f"it is {n}, and the input has {value.rank} dimensions", place=node.place("axis")
        )
    elif value.shape[n] % pieces:
        says = f"{pieces} pieces do not divide dimension {n} of {list(value.shape)}"
        yield CHECK.problem(says, place=node.place("num_splits"))


def _unpack(node: Node) -> Iterator[Problem]:
    value, axis, number = node.input(0), node.option("axis"), node.option("num")
    if not value:
        return
    if not -value.rank <= axis < value.rank:
        says = f"it is {axis}, and the input has {value.rank} dimensions"
        yield CHECK.problem(says, place=node.place("axis"))
    elif number != len(node.outputs) or value.shape[axis] != number:
        says = f"it is {number}; dimension {axis} is {value.shape[axis]}, outputs are {len(node.outputs)}"
        yield CHECK.problem(says, place=node.place("num"))


def _pack(node: Node) -> Iterator[Problem]:
    value, axis, number = node.input(0), node.option("axis"), node.option("values_count")
    if number != len(node.inputs):
        says = f"it is {number}, and there are {len(node.inputs)} inputs"
        yield CHECK.problem(says, place=node.place("values_count"))
    if value and not -value.rank - 1 <= axis <= value.rank:
        says = f"it is {axis}, and the inputs have {value.rank} dimensions"
        yield CHECK.problem(says, place=node.place("axis"))


def _concatenation(node: Node) -> Iterator[Problem]:
    parts = [tensor for tensor in node.inputs if tensor]
    axis = node.option("axis")
    if not parts:
        yield CHECK.problem("it has no inputs", place=node.place())
        return
    rank = parts[0].rank
    if not rank or not -rank <= axis < rank:
        says = f"it is {axis}, and the inputs have {rank} dimensions"
        yield CHECK.problem(says, place=node.place("axis"))
    elif any(part.rank != rank for part in parts):
        yield CHECK.problem("its inputs do not have one number of dimensions", place=node.place())
    elif sum(part.shape[axis] for part in parts) >= 2**31:
        yield CHECK.problem("the dimension of its output does not fit 31 bits", place=node.place())
    if len({part.type for part in parts}) > 1:
        yield CHECK.problem("its inputs are of several types", place=node.place())
