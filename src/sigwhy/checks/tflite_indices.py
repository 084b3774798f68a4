"""A constant index points outside of the tensor that is read or written.

What happens: the kernels of GATHER, SCATTER_ND, SPARSE_TO_DENSE and their kin multiply the index with a stride and read or write there. Older ones check
nothing, newer ones some of it: SIGSEGV, or numbers of somebody else.

How to tell: constant indices lie inside of the dimension that they index; the innermost dimension of index vectors is not longer than the
rank; axis and batch dimensions of GATHER are there; segments are not negative and rise.

Fix: correct the indices and convert the model again; indices that come from inputs can be guarded when the model is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Node, TfliteModel

CHECK = Check(
    id="tflite-indices",
    title="a constant index points outside of the tensor",
    fix="correct the indices and convert the model again",
)
MOST_SEGMENTS = 1 << 24


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield indices that point outside."""
    rules = {
        "GATHER": _gather,
        "GATHER_ND": _gather_nd,
        "SCATTER_ND": _scatter_nd,
        "SPARSE_TO_DENSE": _sparse_to_dense,
        "EMBEDDING_LOOKUP": _embedding,
        "SEGMENT_SUM": _segments,
    }
    for node in model.named(*rules):
        yield from rules[node.name](node)


def _gather(node: Node) -> Iterator[Problem]:
    given, indices = node.input(0), node.input(1)
    if not given or not indices:
        return
    axis, batch = node.option("axis"), node.option("batch_dims")
    if not -given.rank <= axis < given.rank:
        says = f"it is {axis}, and the input has {given.rank} dimensions"
        yield CHECK.problem(says, place=node.place("axis"))
        return
    axis, batch = axis % given.rank, batch + indices.rank if batch < 0 else batch
    if not 0 <= batch <= min(indices.rank, axis):
        says = f"it is {batch}; indices have {indices.rank} dimensions, and the axis is {axis}"
        yield CHECK.problem(says, place=node.place("batch_dims"))
    yield from _inside(node, indices.values, given.shape[axis])


def _embedding(node: Node) -> Iterator[Problem]:
    table = node.input(1)
    if table and (not table.rank or not table.count):
        says = f"the table has the shape {list(table.shape)}, and is empty"
        yield CHECK.problem(says, place=node.place("value"))
    elif table:
        yield from _inside(node, node.values(0), table.shape[0])


def _inside(
    node: Node, known: Sequence[int] | Sequence[float] | None, size: int
) -> Iterator[Problem]:
    wrong = next((int(n) for n in known or () if not 0 <= n < size), None)
    if wrong is not None:
        yield CHECK.problem(f"one is {wrong}, and there are {size}", place=node.place("indices"))


def _gather_nd(node: Node) -> Iterator[Problem]:
    given, indices = node.input(0), node.input(1)
    if not given or not indices:
        return
    if not indices.rank or not 0 <= indices.shape[-1] <= given.rank or not given.count:
        says = f"they have the shape {list(indices.shape)}, and the input {list(given.shape)}"
        yield CHECK.problem(says, place=node.place("indices"))
    else:
        yield from _vectors(node, indices.values, indices.shape[-1], given.shape)


def _vectors(
    node: Node,
    known: Sequence[int] | Sequence[float] | None,
    width: int,
    shape: Sequence[int | float],
) -> Iterator[Problem]:
    """Index vectors of so many numbers, each for one dimension."""
    for n, index in enumerate(known or ()):
        size = shape[n % width] if n % width < len(shape) else 0
        if not 0 <= index < size:
            says = f"one is {index} in dimension {n % width}, and there are {size}"
            yield CHECK.problem(says, place=node.place("indices"))
            return


def _scatter_nd(node: Node) -> Iterator[Problem]:
    indices, shape = node.input(0), node.values(2)
    if shape is None or not indices:
        return
    if min(shape, default=1) < 1:
        says = f"it is {list(shape)[:8]}; each dimension must be at least 1"
        yield CHECK.problem(says, place=node.place("shape"))
    elif not indices.rank or not 1 <= indices.shape[-1] <= len(shape):
        says = f"they have the shape {list(indices.shape)}, and the output {list(shape)[:8]}"
        yield CHECK.problem(says, place=node.place("indices"))
    else:
        yield from _vectors(node, indices.values, indices.shape[-1], shape)


def _sparse_to_dense(node: Node) -> Iterator[Problem]:
    indices, shape, values = node.input(0), node.values(1), node.input(2)
    if not indices or shape is None:
        return
    width = indices.shape[1] if indices.rank == 2 else 1
    if indices.rank > 2 or width != len(shape) or min(shape, default=1) < 1:
        says = f"they have the shape {list(indices.shape)}, and the output is {list(shape)[:8]}"
        yield CHECK.problem(says, place=node.place("indices"))
        return
    yield from _vectors(node, indices.values, width, shape)
    rows = indices.shape[0] if indices.rank else 1
    if values and values.rank and values.count != rows:
        says = f"there are {values.count} values for {rows} indices"
        yield CHECK.problem(says, place=node.place("sparse_values"))


def _segments(node: Node) -> Iterator[Problem]:
    known = node.values(1)
    if known is None or not len(known):
        return
    held = [int(n) for n in known]
    if held[0] < 0 or held != sorted(held) or held[-1] > MOST_SEGMENTS:
        says = "they are negative or do not rise"
        yield CHECK.problem(says, place=node.place("segment_ids"))
