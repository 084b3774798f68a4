"""A slice begins or ends outside of its tensor.

What happens: SLICE and STRIDED_SLICE take where to begin, how far to go and in which steps from constants. A slice beyond its tensor reads other memory: SIGSEGV. A stride of
0 never ends, or divides by 0.

How to tell: begin, size, end and strides have one number for each dimension; begin is not negative, and begin plus size stays inside; no stride is 0 or
the smallest integer; at most one ellipsis.

Fix: correct the slice and convert the model again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Node, Tensor, TfliteModel

CHECK = Check(
    id="tflite-slices",
    title="a slice begins or ends outside of its tensor",
    fix="correct the slice and convert the model again",
)
SMALLEST = -(2**31)
MOST_STRIDED = 5
TO_THE_END = -1


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield slices that do not fit."""
    for node in model.named("SLICE"):
        yield from _slice(node)
    for node in model.named("STRIDED_SLICE"):
        yield from _strided(node)


def _slice(node: Node) -> Iterator[Problem]:
    given, begin, size = node.input(0), node.input(1), node.input(2)
    if not given or not begin or not size:
        return
    if begin.count != given.rank or size.count != given.rank:
        says = f"{begin.count} and {size.count} numbers are given for {given.rank} dimensions"
        yield CHECK.problem(says, place=node.place("begin and size"))
    elif begin.values is not None and size.values is not None:
        for n, whole in enumerate(given.shape):
            start, many = int(begin.values[n]), int(size.values[n])
            end = whole if many == TO_THE_END else start + many
            if start < 0 or end < start or end > whole:
                says = f"it goes from {start} to {end} of {whole}"
                yield CHECK.problem(says, place=node.place(f"dimension {n}"))
                return


def _strided(node: Node) -> Iterator[Problem]:
    parts = [node.input(n) for n in range(4)]
    given = parts[0]
    if not given or not all(parts):
        return
    counts = {part.count for part in parts[1:] if part}
    if len(counts) > 1 or max(counts) > max(MOST_STRIDED, given.rank):
        says = f"begin, end and strides have {sorted(counts)} numbers, the input {given.rank} dimensions"
        yield CHECK.problem(says, place=node.place())
        return
    strides = node.values(3)
    wrong = next((int(s) for s in strides or () if s in (0, SMALLEST)), None)
    if wrong is not None:
        yield CHECK.problem(f"one is {wrong}", place=node.place("strides"))
    if (node.option("ellipsis_mask") & 0xFFFFFFFF).bit_count() > 1:
        says = f"it is {node.option('ellipsis_mask'):#b}; one ellipsis is allowed"
        yield CHECK.problem(says, place=node.place("ellipsis_mask"))
    yield from _shrunk(node, given)


def _shrunk(node: Node, given: Tensor) -> Iterator[Problem]:
    """Dimensions of which one element is taken: it must be there."""
    begin, mask = node.values(1), node.option("shrink_axis_mask")
    if begin is None or node.option("ellipsis_mask") or node.option("new_axis_mask"):
        return
    for n, (start, size) in enumerate(zip(begin, given.shape, strict=False)):
        if mask >> n & 1 and not -size <= start < size:
            says = f"element {start} of dimension {n} is taken, and there are {size}"
            yield CHECK.problem(says, place=node.place("begin"))
