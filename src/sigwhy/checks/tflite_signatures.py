"""A signature names a tensor or a subgraph that is not there.

What happens: a signature gives names to the inputs and outputs of a subgraph. When the model is loaded, a runtime looks each name
and each index up without asking: SIGSEGV where the key, the name or a list is missing, or the index leads nowhere.

How to tell: every signature has a key that no other has, a subgraph that is there, lists of inputs and outputs, and in these a name
and a tensor of that subgraph each.

Fix: export the model again with the signatures that you mean, or take the signatures away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import TfliteModel
    from sigwhy.tflite.whole import Row

CHECK = Check(
    id="tflite-signatures",
    title="a signature names what is not there",
    fix="export the model again with the signatures that you mean",
)


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield each thing that a signature lacks, or names in vain."""
    seen: set[str] = set()
    tensors = {graph.index: len(graph.tensors) for graph in model.subgraphs}
    for n, row in enumerate(model.rows("signature_defs")):
        if row is None:
            continue
        key = row["signature_key"]
        place = f"signature {n}" + (f" ({key})" if key else "")
        if key is None:
            yield CHECK.problem("the signature has no key", place=place)
        elif key in seen:
            yield CHECK.problem(f"another signature is called {key!r} too", place=place)
        seen.add(key or "")
        if row["subgraph_index"] not in tensors:
            says = f"it stands for subgraph {row['subgraph_index']}, but there are {len(tensors)}"
            yield CHECK.problem(says, place=place)
            continue
        for side in ("inputs", "outputs"):
            yield from _side(row, side, place, tensors[row["subgraph_index"]])


def _side(row: Row, side: str, place: str, tensors: int) -> Iterator[Problem]:
    if row[side] is None:
        yield CHECK.problem(f"it has no list of {side}", place=place, severity="warning")
    for n, one in enumerate(row[side] or ()):
        where = f"{place}, {side} {n}"
        if one is None:
            continue
        if one["name"] is None:
            yield CHECK.problem("the name is missing", place=where)
        if one["tensor_index"] >= tensors:
            says = f"it stands for tensor {one['tensor_index']}, but there are {tensors}"
            yield CHECK.problem(says, place=where)
