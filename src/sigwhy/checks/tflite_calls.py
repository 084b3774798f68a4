"""A subgraph calls itself, or calls one that is not there.

What happens: WHILE, IF and CALL_ONCE run other subgraphs. One that leads back to itself makes the runtime allocate tensors in ever deeper calls, until the stack
is used up: SIGSEGV when the model is loaded. An index without a subgraph is refused, or SIGSEGV.

How to tell: the subgraphs that are called are there, and no chain of calls comes back to where it began; the condition of a WHILE gives one BOOL; a
subgraph that is called has as many inputs and outputs as its caller.

Fix: export the model again; a loop is a WHILE with a body and a condition of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check
from sigwhy.subjects.tflite_model import called

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Operator, Subgraph, TfliteModel

CHECK = Check(
    id="tflite-calls",
    title="a subgraph calls itself, or one that is not there",
    fix="export the model again",
)


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield calls that lead nowhere, that lead back, and that do not fit."""
    graphs = {graph.index: graph for graph in model.subgraphs}
    calls: dict[int, dict[int, Operator]] = {}
    for graph in model.subgraphs:
        for operator in graph.operators:
            for option, index in called(operator):
                place = f"{operator.place}, {option}"
                if index not in graphs:
                    says = f"it calls subgraph {index}, but there are {len(graphs)}"
                    yield CHECK.problem(says, place=place)
                    continue
                calls.setdefault(graph.index, {}).setdefault(index, operator)
                yield from _fits(operator, option, graphs[index], place)
    for start, called_by in calls.items():
        for index, operator in called_by.items():
            if start == index or _reaches(index, start, calls):
                says = f"subgraph {start} calls subgraph {index}, which leads back to it"
                yield CHECK.problem(says, place=operator.place)


def _reaches(start: int, end: int, calls: Mapping[int, Mapping[int, Operator]]) -> bool:
    waiting, seen = [start], {start}
    while waiting:
        new = set(calls.get(waiting.pop(), ())) - seen
        if end in new:
            return True
        seen |= new
        waiting += new
    return False


def _fits(operator: Operator, option: str, graph: Subgraph, place: str) -> Iterator[Problem]:
    """Whether a subgraph takes and gives what its caller hands over."""
    given = len(operator.inputs or ())
    wanted = len(graph.outputs)
    if operator.name not in ("WHILE", "IF"):
        return
    given -= operator.name == "IF"  # the first input of an IF is its condition
    if given != len(graph.inputs):
        says = (
            f"it hands over {given} tensors, and subgraph {graph.index} takes {len(graph.inputs)}"
        )
        yield CHECK.problem(says, place=place)
    if option == "cond_subgraph_index":
        first = graph.tensors[graph.outputs[0]] if _is_there(graph) else None
        if wanted != 1 or not first or first.type != "BOOL":
            yield CHECK.problem("the condition does not give one BOOL", place=place)
    elif wanted != len(operator.outputs or ()):
        says = f"subgraph {graph.index} gives {wanted} tensors, {len(operator.outputs or ())} are taken"
        yield CHECK.problem(says, place=place)


def _is_there(graph: Subgraph) -> bool:
    return bool(graph.outputs) and 0 <= graph.outputs[0] < len(graph.tensors)
