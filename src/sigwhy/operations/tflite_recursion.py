"""Subgraphs that call each other without end: the cycle, read off a stack that is full of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sigwhy.operations.tflite_node import Found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sigwhy.operations.tflite_node import Pointer, Search

DEEP = 1 << 20  # a stack of so many bytes is deeper than any model that works
ROUNDS = 16  # so often must a node stand on it, far more than nested loops do
MOST = 64
# Operators that run other subgraphs; only these can turn in a circle.
CALLERS = frozenset(
    {"IF", "WHILE", "CALL", "CALL_ONCE", "STABLEHLO_COMPOSITE", "STABLEHLO_WHILE", "STABLEHLO_CASE",
     "STABLEHLO_REDUCE", "STABLEHLO_REDUCE_WINDOW", "STABLEHLO_SCATTER", "STABLEHLO_SORT"}
)  # fmt: skip


def cycle(pointers: Sequence[Pointer], depth: int) -> list[int]:
    """The numbers of the subgraphs that repeat; none where the stack is shallow."""
    if depth < DEEP:
        return []
    rounds = Counter((p.subgraph.address, p.index) for p in pointers)
    repeated = {address for (address, _), count in rounds.items() if count >= ROUNDS}
    seen: dict[int, None] = {}
    for pointer in pointers:
        if pointer.subgraph.address in repeated and pointer.subgraph.index is not None:
            seen.setdefault(pointer.subgraph.index)
    return list(seen)[:MOST]


def turning(search: Search) -> Found | None:
    """The innermost node that calls a subgraph and stands on the stack in each round, with its code.

    Where the stack ran out is chance: any node of the round may have asked for the last bytes.
    """
    rounds = Counter((p.subgraph.address, p.index) for p in search.pointers)
    first = {(p.subgraph.address, p.index): p for p in reversed(search.pointers)}
    for place, count in rounds.most_common(MOST):
        pointer = first[place]
        node = search.interpreters.node(pointer.subgraph, pointer.index)
        if count < ROUNDS or node is None or node.registration.op not in CALLERS:
            continue
        if sum(search.is_of(call, node) for call in search.stack) >= ROUNDS:
            how = "its node and its own code stand on the stack again and again"
            return Found(pointer.subgraph, node, how)
    return None
