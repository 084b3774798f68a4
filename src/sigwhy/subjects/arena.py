"""How much memory a model takes, from the file alone: what the runtime's planner will do with its tensors.

A tensor lives from the operator that computes it to the last that reads it. The planner places the
large ones first, each into the tightest gap that is free while it lives.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.subjects.tflite_model import Subgraph, Tensor, TfliteModel

ALIGNED = 64
FOR_EVER = 1 << 60
# Operators whose output is their input under another shape.
SHARES = {"RESHAPE", "SQUEEZE", "EXPAND_DIMS", "BITCAST"}
MOST_TENSORS = 20_000


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes: the arena, the least that any planner needs, variables, and constants."""

    arena: int
    least: int
    variables: int
    constants: int

    @property
    def total(self) -> int:
        """All of them, with the constants once."""
        return self.arena + self.variables + self.constants


def memory(model: TfliteModel) -> Memory | None:
    """What a model takes; None where it cannot be told."""
    if not model.subgraphs or sum(len(g.tensors) for g in model.subgraphs) > MOST_TENSORS:
        return None
    if any(n < 0 for g in model.subgraphs for t in g.tensors for n in t.shape):
        return None
    plans = [_lives(graph) for graph in model.subgraphs]
    variables = (t for g in model.subgraphs for t in g.tensors if t.is_variable)
    return Memory(
        arena=sum(_placed(lives) for lives in plans),
        least=max((_at_once(lives) for lives in plans), default=0),
        variables=sum(_rounded(tensor.bytes or 0) for tensor in variables),
        constants=sum(len(data) for data in model.buffers if data is not None),
    )


def _lives(graph: Subgraph) -> list[tuple[int, int, int]]:
    """Of each computed tensor its size, its first and its last operator."""
    same = dict(_shared(graph))
    first, last = dict.fromkeys(graph.inputs, 0), dict.fromkeys(graph.inputs, FOR_EVER)
    for n, operator in enumerate(graph.operators):
        for index in operator.outputs or ():
            first.setdefault(same.get(index, index), n)
            last.setdefault(same.get(index, index), n)
        for index in operator.inputs or ():
            own = same.get(index, index)
            last[own] = max(last.get(own, n), n)
    last |= {same.get(index, index): FOR_EVER for index in graph.outputs}
    tensors = enumerate(graph.tensors)
    return [
        (tensor.bytes or 0, first[n], last[n])
        for n, tensor in tensors
        if n in first and n not in same and _is_computed(tensor)
    ]


def _shared(graph: Subgraph) -> Iterator[tuple[int, int]]:
    """Tensors that lie where another one lies already."""
    same: dict[int, int] = {}
    for operator in graph.operators:
        given, made = (operator.inputs or ())[:1], (operator.outputs or ())[:1]
        if operator.name in SHARES and given and made and made[0] not in graph.outputs:
            own = same.get(given[0], given[0])
            inside = 0 <= own < len(graph.tensors) and own not in graph.inputs
            if inside and _is_computed(graph.tensors[own]):
                same[made[0]] = own
                yield made[0], own


def _is_computed(tensor: Tensor) -> bool:
    return tensor.data is None and not tensor.is_variable


def _placed(lives: list[tuple[int, int, int]]) -> int:
    """The height of the pile when each tensor was put into the tightest gap."""
    order = sorted(lives, key=lambda life: (life[2] != FOR_EVER or life[1] != 0, -life[0], life[1]))
    placed: list[tuple[int, int, int, int]] = []
    height = 0
    for size, first, last in order:
        if not size:
            continue
        at = _gap([p for p in placed if p[2] <= last and p[3] >= first], size)
        insort(placed, (at, size, first, last))
        height = max(height, at + size)
    return height


def _gap(others: list[tuple[int, int, int, int]], size: int) -> int:
    """The start of the tightest gap among those that live at the same time."""
    end, best, room = 0, None, FOR_EVER
    for start, length, _, _ in others:
        at = _rounded(end)
        if at + size <= start and start - at < room:
            best, room = at, start - at
        end = max(end, start + length)
    return _rounded(end) if best is None else best


def _at_once(lives: list[tuple[int, int, int]]) -> int:
    """The most that lives at one time, which no planner can do without."""
    changes: dict[int, int] = {}
    for size, first, last in lives:
        changes[first] = changes.get(first, 0) + size
        changes[last + 1] = changes.get(last + 1, 0) - size
    now = most = 0
    for _, change in sorted(changes.items()):
        now += change
        most = max(most, now)
    return most


def _rounded(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED
