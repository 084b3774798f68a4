"""Subgraphs that call each other without end: the cycle, read off a stack that is full of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sigwhy.operations.tflite_node import Pointer

DEEP = 1 << 20  # a stack of so many bytes is deeper than any model that works
ROUNDS = 16  # so often must a node stand on it, far more than nested loops do
MOST = 64


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
