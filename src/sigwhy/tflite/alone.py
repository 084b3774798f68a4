"""Cuts a model down to one operator, in which every number stays what it was.

Operators, subgraphs and weights that do not belong to it go; tensors and buffers keep their places, so that an
index that leads outside still does. An operator that runs other subgraphs cannot stand alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.tflite.flat import MalformedError
from sigwhy.tflite.model import Model, at, calls, name_of
from sigwhy.tflite.written import plain, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sigwhy.tflite.flat import Number, Table
    from sigwhy.tflite.written import Plain

HANDLES = ("RESOURCE", "VARIANT")  # of what another operator must have made
MOST_MAKERS = 16
OF_A_TENSOR = ("shape", "type", "name", "is_variable", "has_rank")


@dataclass(frozen=True, slots=True)
class Alone:
    """The bytes of a model of one operator, and the tensors that it is to be fed with, in order."""

    data: bytes
    feeds: tuple[int, ...]
    op: str


def alone(
    data: bytes | memoryview,
    subgraph: int,
    index: int,
    shapes: Mapping[int, Sequence[int]] | None = None,
) -> Alone:
    """The model with one operator of it; raises ``MalformedError`` where it cannot be cut so.

    ``shapes`` are those that tensors had when it ran, by their numbers; a file does not know them all.
    """
    model = Model.of(data)
    graph = at(model.subgraphs, subgraph, "subgraph")
    operator = model.operator(subgraph, index)
    if called := calls(operator):
        raise MalformedError(
            f"{operator.place} runs subgraph {called[0]}, so it cannot stand alone"
        )
    kept = _with_makers(graph, operator)
    used = {int(n) for one in kept for n in (*_numbers(one), *one.numbers("outputs"))}
    feeds = tuple(_feeds(model, graph, kept))
    cut: dict[str, Plain] = {
        "tensors": list(_tensors(graph, used, shapes or {}, set(feeds))),
        "inputs": list(feeds),
        "outputs": list(_outputs(graph, operator)),
        "operators": [plain(one) for one in kept],
        "name": "main",
    }
    whole: dict[str, Plain] = {
        "version": model.root.number("version"),
        "operator_codes": [plain(code) for code in model.root.tables("operator_codes")],
        "subgraphs": [cut],
        "description": "one operator of a model, cut out by sigwhy",
        "buffers": list(_buffers(model, graph, used)),
    }
    return Alone(written(whole), feeds, model.op(operator))


def _numbers(operator: Table) -> Iterable[Number]:
    return (*operator.numbers("inputs"), *operator.numbers("intermediates"))


def _with_makers(graph: Table, operator: Table) -> list[Table]:
    """The operator, and before it those that make the handles it is given."""
    tensors, operators = graph.tables("tensors"), graph.tables("operators")
    kept, asked = [operator], [operator]
    while asked and len(kept) < MOST_MAKERS:
        wanted = {int(n) for n in _numbers(asked.pop()) if _is_handle(tensors, int(n))}
        for one in operators if wanted else ():
            known = {other.at for other in kept}
            if one.at not in known and wanted & {int(n) for n in one.numbers("outputs")}:
                kept.insert(0, one)
                asked.append(one)
    return kept


def _is_handle(tensors: Sequence[Table], n: int) -> bool:
    return 0 <= n < len(tensors) and name_of("TensorType", tensors[n].number("type")) in HANDLES


def _feeds(model: Model, graph: Table, kept: Sequence[Table]) -> Iterable[int]:
    """What must come from outside: no constant, no variable, made by none of those that stay."""
    tensors = graph.tables("tensors")
    made = {int(n) for one in kept for n in one.numbers("outputs")}
    seen = set[int]()
    for n in (int(n) for one in kept for n in one.numbers("inputs")):
        if n in seen or n in made or not 0 <= n < len(tensors):
            continue
        seen.add(n)
        if not tensors[n].number("is_variable") and not _has_bytes(model, tensors[n]):
            yield n


def _has_bytes(model: Model, tensor: Table) -> bool:
    try:
        return model.buffer(tensor) is not None
    except MalformedError:
        return False


def _outputs(graph: Table, operator: Table) -> Iterable[int]:
    count = len(graph.tables("tensors"))
    return (int(n) for n in operator.numbers("outputs") if 0 <= n < count)


def _tensors(
    graph: Table, used: set[int], shapes: Mapping[int, Sequence[int]], feeds: set[int]
) -> Iterable[Mapping[str, Plain]]:
    """All tensors; of those that nobody needs only that they are there."""
    for n, tensor in enumerate(graph.tables("tensors")):
        values = plain(tensor)
        if n not in used:
            yield {k: v for k, v in values.items() if k in OF_A_TENSOR}
            continue
        if n in feeds and n in shapes:
            values["shape"] = list(shapes[n])
            values.pop("shape_signature", None)
        yield values


def _buffers(model: Model, graph: Table, used: set[int]) -> Iterable[Mapping[str, Plain]]:
    """All buffers, empty but for those of the tensors that are used."""
    tensors = graph.tables("tensors")
    wanted = {tensors[n].number("buffer"): n for n in used if 0 <= n < len(tensors)}
    for n in range(len(model.root.tables("buffers"))):
        held = model.buffer(tensors[wanted[n]]) if n in wanted else None
        yield {"data": held} if held is not None else {}
