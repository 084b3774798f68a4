"""The lists that tell where the numbers of a sparse tensor stand do not fit.

What happens: a sparse constant holds only some of its numbers, and lists of segments and indices that say where these
belong. The runtime follows the lists when it prepares or runs the operator, without looking at their ends: SIGSEGV, or writes into other memory.

How to tell: the traversal order is a permutation of the dimensions and the blocks; every dense dimension has its size; the segments begin with 0,
rise, and are one more than there are positions above; the last is the number of indices; every index lies inside of its dimension.

Fix: make the model sparse again with the tools of the Model Optimization Toolkit.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Tensor, TfliteModel
    from sigwhy.tflite.whole import Row

CHECK = Check(
    id="tflite-sparsity",
    title="the lists of a sparse tensor do not fit",
    fix="make the model sparse again from the dense one",
)
SPARSE = 1
HIGHEST_RANK = 8
MOST = 1 << 20


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield what is wrong first in each sparse tensor: what follows from it says nothing new."""
    for graph in model.subgraphs:
        for tensor in graph.tensors:
            if tensor.sparsity is not None and (says := _wrong(tensor, tensor.sparsity)):
                yield CHECK.problem(says, place=f"subgraph {graph.index}, {tensor}, sparsity")


def _wrong(tensor: Tensor, row: Row) -> str | None:
    order, blocks, dims = row["traversal_order"], row["block_map"] or (), row["dim_metadata"]
    if order is None or dims is None or None in dims:
        return "the traversal order or the description of the dimensions is missing"
    levels = tensor.rank + len(blocks)
    if tensor.rank > HIGHEST_RANK or len(order) != levels or len(dims) != levels:
        return (
            f"{len(order)} entries of the traversal order and {len(dims)} dimensions "
            f"stand for {tensor.rank} dimensions and {len(blocks)} blocks"
        )
    if sorted(order) != list(range(levels)):
        return f"the traversal order {list(order)} is no permutation of 0 to {levels - 1}"
    if any(not 0 <= block < tensor.rank for block in blocks):
        return f"the block map {list(blocks)} names a dimension that is not there"
    return _levels(tensor, order, blocks, dims)


def _levels(
    tensor: Tensor, order: Sequence[int], blocks: Sequence[int], dims: Sequence[Row]
) -> str | None:
    """Walk from the outermost dimension to the innermost, counting the positions."""
    sizes = [d["dense_size"] for d in dims]
    block = {d: prod(sizes[n] for n, o in enumerate(order) if o >= tensor.rank and blocks[o - tensor.rank] == d) for d in range(tensor.rank)}  # fmt: skip
    positions = 1
    for n, (dim, level) in enumerate(zip(order, dims, strict=True)):
        dense = dim >= tensor.rank or not block[dim]
        wanted = level["dense_size"] if dense else tensor.shape[dim] // block[dim]
        if level["format"] != SPARSE:
            if level["dense_size"] <= 0 or level["dense_size"] != wanted:
                return f"dimension {n} is {level['dense_size']} long, and {wanted} is wanted"
            positions *= level["dense_size"]
        elif isinstance(found := _compressed(level, n, positions, wanted), str):
            return found
        else:
            positions = found
        if positions > MOST * MOST:
            return "the lists describe more positions than any tensor has"
    values = len(tensor.data) * 8 if tensor.data is not None else 0
    if values < positions:
        return f"{positions} numbers are described, and the buffer is too short for them"
    return None


def _compressed(level: Row, n: int, positions: int, wanted: int) -> int | str:
    """How many positions a compressed dimension has, or what is wrong with it."""
    segments = (level["array_segments"] or {}).get("values")
    indices = (level["array_indices"] or {}).get("values")
    if segments is None or indices is None:
        return f"dimension {n} has no segments or no indices"
    if len(segments) > MOST or len(indices) > MOST:
        return len(indices)
    held, given = list(segments), list(indices)
    if len(held) != positions + 1:
        return f"dimension {n} has {len(held)} segments, and {positions + 1} are wanted"
    if held[0] != 0 or held != sorted(held) or held[-1] != len(given):
        return f"the segments of dimension {n} do not rise from 0 to its {len(given)} indices"
    if any(not 0 <= index < wanted for index in given):
        return f"an index of dimension {n} lies outside of 0 to {wanted - 1}"
    return len(given)
