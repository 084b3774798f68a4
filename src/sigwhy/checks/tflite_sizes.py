"""A constant asks for an impossible size.

What happens: the kernel multiplies the sizes that it is told into the length of its output, in 32 bits. A negative size, or a product that overflows, gives a
buffer that is too small or a huge request: SIGSEGV while it is filled, or a kill for lack of memory. RANGE with a step of 0 divides by it.

How to tell: constant sizes of FILL, BROADCAST_TO, TILE, ONE_HOT, RANDOM_* and RESIZE_* are not negative, and their product fits; k of TOPK_V2 lies between 1 and the last
dimension; the step of RANGE is not 0.

Fix: correct the size and convert the model again.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Node, TfliteModel

CHECK = Check(
    id="tflite-sizes",
    title="a constant asks for an impossible size",
    fix="correct the size and convert the model again",
)
MOST = 2**31
# Which input says how large the output is.
SHAPES = {"FILL": 0, "BROADCAST_TO": 1, "RANDOM_UNIFORM": 0, "RANDOM_STANDARD_NORMAL": 0}
HIGHEST_RANK = 8
LARGEST_PICTURE = 1 << 16


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield impossible sizes."""
    for node in model.named(*SHAPES):
        shape = node.values(SHAPES[node.name])
        if shape is not None and (
            min(shape, default=0) < 0 or prod(shape) >= MOST or len(shape) > HIGHEST_RANK
        ):
            says = (
                f"it is {list(shape)[:8]}; sizes that are not negative and fit 31 bits are wanted"
            )
            yield CHECK.problem(says, place=node.place("shape"))
    rules = {
        "TILE": _tile,
        "ONE_HOT": _one_hot,
        "TOPK_V2": _top_k,
        "RANGE": _range,
        "RESIZE_BILINEAR": _resize,
        "RESIZE_NEAREST_NEIGHBOR": _resize,
    }
    for node in model.named(*rules):
        yield from rules[node.name](node)


def _tile(node: Node) -> Iterator[Problem]:
    given, times = node.input(0), node.values(1)
    if not given or times is None:
        return
    if len(times) != given.rank or min(times, default=0) < 0 or prod(times) * given.count >= MOST:
        says = f"they are {list(times)[:8]} for an input of {list(given.shape)}"
        yield CHECK.problem(says, place=node.place("multiples"))


def _one_hot(node: Node) -> Iterator[Problem]:
    given, depth, axis = node.input(0), node.values(1), node.option("axis")
    if not given:
        return
    if depth is not None and (len(depth) != 1 or not 0 <= depth[0] * max(given.count, 1) < MOST):
        says = f"it is {list(depth)[:4]} for {given.count} indices"
        yield CHECK.problem(says, place=node.place("depth"))
    if not -1 <= axis <= given.rank:
        says = f"it is {axis}, and the indices have {given.rank} dimensions"
        yield CHECK.problem(says, place=node.place("axis"))


def _top_k(node: Node) -> Iterator[Problem]:
    given, k = node.input(0), node.values(1)
    last = given.shape[-1] if given and given.rank else 0
    if k is not None and (len(k) != 1 or not 0 <= k[0] <= last):
        says = f"it is {list(k)[:4]}, and the last dimension has {last}"
        yield CHECK.problem(says, place=node.place("k"))


def _range(node: Node) -> Iterator[Problem]:
    start, limit, step = (node.values(n) for n in range(3))
    if step is None or not len(step):
        return
    if step[0] == 0:
        yield CHECK.problem(
            "the step is 0, and the kernel divides by it", place=node.place("delta")
        )
    elif start and limit and abs(limit[0] - start[0]) / abs(step[0]) >= MOST:
        says = f"from {start[0]:g} to {limit[0]:g} by {step[0]:g} are more than 2^31 numbers"
        yield CHECK.problem(says, place=node.place())


def _resize(node: Node) -> Iterator[Problem]:
    given, size = node.input(0), node.values(1)
    if given and not given.count:
        yield CHECK.problem(f"its input {list(given.shape)} is empty", place=node.place())
    if size is not None and (len(size) != 2 or not min(size) >= 1 or max(size) > LARGEST_PICTURE):
        says = f"it is {list(size)[:4]}; height and width of at least 1 are wanted"
        yield CHECK.problem(says, place=node.place("size"))
