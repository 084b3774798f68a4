"""The graph is not one that can be run from the first operator to the last.

What happens: the runtime allocates and runs the operators in the order of the file. Where an index leads to no tensor it reads beyond its lists; where an
operator needs what nobody has computed, it reads memory of nobody; where it writes into a constant, it writes into the file's
read-only mapping: SIGSEGV in all three.

How to tell: every input and output of a subgraph and of an operator is a tensor of the subgraph; -1 stands only where an operand is optional; everything
that is read was given, is constant or was computed before; nothing is computed twice, nor into a constant, a
variable or an input of the subgraph; an output of the model is no handle to a resource.

Fix: export the model again; where operators were moved or cut out by hand, put them into the order in which they compute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check
from sigwhy.subjects.tflite_model import HANDLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Operator, Subgraph, TfliteModel

CHECK = Check(
    id="tflite-graph",
    title="the graph cannot be run from the first operator to the last",
    fix="export the model again",
)


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield what stops each subgraph."""
    for graph in model.subgraphs:
        yield from _borders(graph)
        yield from _operators(graph)


def _borders(graph: Subgraph) -> Iterator[Problem]:
    tensors = graph.tensors
    for side in ("inputs", "outputs"):
        for n, index in enumerate(getattr(graph, side)):
            place = f"subgraph {graph.index}, {side} {n}"
            if not 0 <= index < len(tensors):
                says = f"it is tensor {index}, but there are {len(tensors)}"
                yield CHECK.problem(says, place=place)
            elif side == "outputs" and graph.index == 0 and tensors[index].type in HANDLES:
                says = f"{tensors[index]} is a {tensors[index].type}, which nobody outside can read"
                yield CHECK.problem(says, place=place)
    if graph.row["operators"] is None and graph.row["tensors"] is None:
        yield CHECK.problem("it has no tensors and no operators", place=f"subgraph {graph.index}")


def _operators(graph: Subgraph) -> Iterator[Problem]:
    ready = {n for n in graph.inputs if n >= 0}
    given = set(ready)
    ready |= {t.index for t in graph.tensors if t.data is not None or t.is_variable or not t.count}
    made: set[int] = set()
    for operator in graph.operators:
        if not operator.known:
            code = operator.row["opcode_index"]
            says = f"its operator code {code} is not there, or nobody knows its number"
            yield CHECK.problem(says, place=operator.place)
        yield from _read(graph, operator, ready)
        yield from _written(graph, operator, given, made)
        made |= set(operator.outputs or ())
        ready |= made
    for n, index in enumerate(graph.outputs):
        if 0 <= index < len(graph.tensors) and index not in ready:
            says = f"{graph.tensors[index]} is computed by no operator"
            yield CHECK.problem(says, place=f"subgraph {graph.index}, outputs {n}")


def _read(graph: Subgraph, operator: Operator, ready: set[int]) -> Iterator[Problem]:
    tensors = graph.tensors
    for n, index in enumerate(operator.inputs or ()):
        place = f"{operator.place}, input {n}"
        if not -1 <= index < len(tensors):
            says = f"it is tensor {index}, but there are {len(tensors)}"
            yield CHECK.problem(says, place=place)
        elif index >= 0 and index not in ready:
            says = f"{tensors[index]} is read, and nobody has computed it before"
            yield CHECK.problem(says, place=place)


def _written(
    graph: Subgraph, operator: Operator, given: set[int], made: set[int]
) -> Iterator[Problem]:
    tensors = graph.tensors
    for n, index in enumerate(operator.outputs or ()):
        place = f"{operator.place}, output {n}"
        if not -1 <= index < len(tensors):
            says = f"it is tensor {index}, but there are {len(tensors)}"
            yield CHECK.problem(says, place=place)
        elif index < 0:
            continue
        elif tensors[index].data is not None:
            yield CHECK.problem(f"it writes into the constant {tensors[index]}", place=place)
        elif tensors[index].is_variable:
            yield CHECK.problem(f"it writes into the variable {tensors[index]}", place=place)
        elif index in given:
            yield CHECK.problem(f"it writes into the input {tensors[index]}", place=place)
        elif index in made:
            yield CHECK.problem(f"{tensors[index]} was computed before", place=place)
