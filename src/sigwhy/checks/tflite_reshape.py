"""A tensor cannot get this shape.

What happens: RESHAPE multiplies the sizes that it is told and divides by their product where one is -1, "what remains". A 0 beside
a -1 is SIGFPE in old runtimes; another number of elements lets later operators read behind the tensor.

How to tell: at most one size is -1, none is smaller; the product is the number of elements of the input, or divides it; there is a shape at all, as an
input or as an option.

Fix: correct the shape and convert the model again.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Node, TfliteModel

CHECK = Check(
    id="tflite-reshape",
    title="a tensor cannot get this shape",
    fix="correct the shape and convert the model again",
)
REST = -1


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield shapes that cannot be."""
    for node in model.named("RESHAPE"):
        wanted = _wanted(node)
        if wanted is None and len(node.inputs) == 1:
            yield CHECK.problem(
                "it has neither a shape input nor a shape option", place=node.place()
            )
        given = node.input(0)
        if wanted is None or not given:
            continue
        known = prod(n for n in wanted if n != REST)
        if any(n < REST for n in wanted) or wanted.count(REST) > 1:
            says = f"it is {wanted[:8]}; at most one -1 is allowed, and nothing below it"
        elif REST not in wanted and known != given.count:
            says = f"it is {wanted[:8]}, {known} elements, and the input has {given.count}"
        elif REST in wanted and (not known or given.count % known):
            says = f"it is {wanted[:8]}; {known} does not divide the {given.count} of the input"
        else:
            continue
        yield CHECK.problem(says, place=node.place("shape"))


def _wanted(node: Node) -> Sequence[int] | None:
    """The shape, as an input or, where there is none, as an option."""
    found = node.values(1) if len(node.inputs) > 1 else node.options.get("new_shape")
    return None if found is None else [int(n) for n in found]
