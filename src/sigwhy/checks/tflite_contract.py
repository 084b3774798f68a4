"""What the model takes and gives, and how much memory: told, not judged.

What happens: buffers that do not fit the model's inputs are refused by the Python interpreter. Through raw pointers, in C, C++ or
ctypes, they overwrite the heap: SIGSEGV at once, or an abort much later.

How to tell: only with --verbose: type, shape and quantisation of each input and output, by the names of the signatures where there are some; a
dimension that may change is shown as ?. And the memory that the runtime's planner will ask for.

Fix: read sizes from the interpreter, ``get_input_details()`` or ``TfLiteTensorByteSize``, instead of writing them down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check
from sigwhy.subjects.arena import memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Subgraph, Tensor, TfliteModel

CHECK = Check(
    id="tflite-contract",
    title="what the model takes and gives",
    fix="read sizes from the interpreter instead of writing them down",
    severity="note",
)


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield a note for each input and output, and one for the memory."""
    if not model.verbose or not model.subgraphs:
        return
    graph = model.subgraphs[0]
    names = _names(model)
    for side in ("inputs", "outputs"):
        for n, tensor in enumerate(_tensors(graph, side)):
            place = f"{side} {n} ({names.get((side, tensor.index), tensor.name)})"
            yield CHECK.problem(f"{_form(tensor)}, {tensor.bytes or 0:,} bytes", place=place)
    if taken := memory(model):
        says = f"{taken.arena:,} bytes for tensors, {taken.variables:,} for variables, {taken.constants:,} for constants"
        yield CHECK.problem(says, place="memory", confidence="likely")


def _tensors(graph: Subgraph, side: str) -> list[Tensor]:
    indices = getattr(graph, side)
    return [graph.tensors[n] for n in indices if 0 <= n < len(graph.tensors)]


def _names(model: TfliteModel) -> dict[tuple[str, int], str]:
    """What signatures call the tensors of the first subgraph."""
    rows = (row for row in model.rows("signature_defs") if row and not row["subgraph_index"])
    return {
        (side, one["tensor_index"]): str(one["name"])
        for row in rows
        for side in ("inputs", "outputs")
        for one in row[side] or ()
        if one and one["name"]
    }


def _form(tensor: Tensor) -> str:
    shape = tensor.signature or tensor.shape
    sizes = ",".join("?" if n < 0 else str(n) for n in shape)
    words = f"{tensor.type.lower()}[{sizes}]"
    scales = list(tensor.scales)
    if len(scales) == 1 and tensor.quantization:
        zero = next(iter(tensor.quantization["zero_point"] or ()), 0)
        return f"{words}, {scales[0]:g} x (q - {zero})"
    return f"{words}, {len(scales)} scales" if scales else words
