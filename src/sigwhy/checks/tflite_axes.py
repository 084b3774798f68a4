"""An operator is told an axis that its input does not have.

What happens: the kernel uses the axis as an index into the shape, or copies a list of axes into an array of fixed length on the stack: SIGSEGV, an
assertion (SIGABRT), or a smashed stack.

How to tell: constant axes of reductions, ARG_MAX, CUMSUM, EXPAND_DIMS, REVERSE_V2 and SQUEEZE lie between -rank and rank - 1, and there are not more than dimensions; the
permutation of TRANSPOSE names each dimension once; those of REVERSE_SEQUENCE are two different ones. Reversing an empty tensor
reads its first element anyway.

Fix: correct the axis and convert the model again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Node, Tensor, TfliteModel

CHECK = Check(
    id="tflite-axes",
    title="an operator is told an axis that its input does not have",
    fix="correct the axis and convert the model again",
)
REDUCTIONS = ("MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ANY", "REDUCE_ALL")
# One axis, or one for each dimension.
SINGLE = ("ARG_MAX", "ARG_MIN", "CUMSUM", "EXPAND_DIMS")
EMPTY_BREAKS = ("ARG_MAX", "ARG_MIN", "REVERSE_V2")


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield axes that are not there."""
    for node in model.named(*REDUCTIONS, *SINGLE, "REVERSE_V2", "SQUEEZE", "TRANSPOSE"):
        given = node.input(0)
        if not given:
            continue
        if node.name in EMPTY_BREAKS and not given.count:
            says = f"its input {list(given.shape)} is empty, and the kernel reads it anyway"
            yield CHECK.problem(says, place=node.place())
        axes = node.options.get("squeeze_dims") if node.name == "SQUEEZE" else node.values(1)
        if axes is None:
            continue
        if node.name == "TRANSPOSE":
            yield from _permutation(node, given, [int(a) for a in axes])
        else:
            yield from _axes(node, given, [int(a) for a in axes])
    for node in model.named("REVERSE_SEQUENCE"):
        yield from _sequence(node)


def _axes(node: Node, given: Tensor, axes: Sequence[int]) -> Iterator[Problem]:
    rank = given.rank + (node.name == "EXPAND_DIMS")
    most = 1 if node.name in SINGLE else max(given.rank, 1)
    if len(axes) > most or (node.name in SINGLE and not axes):
        says = f"{len(axes)} axes are given, and the input has {given.rank} dimensions"
        yield CHECK.problem(says, place=node.place("axis"))
    low = max(rank, 1)
    wrong = next((a for a in axes if not -low <= a < low), None)
    if wrong is not None:
        says = f"it is {wrong}, and the input has {given.rank} dimensions"
        yield CHECK.problem(says, place=node.place("axis"))


def _permutation(node: Node, given: Tensor, order: Sequence[int]) -> Iterator[Problem]:
    rank = given.rank
    there = all(-rank <= n < rank for n in order)
    if not there or sorted(n % rank for n in order) != list(range(rank)):
        says = f"it is {list(order[:8])}, which does not name each of {rank} dimensions once"
        yield CHECK.problem(says, place=node.place("perm"))


def _sequence(node: Node) -> Iterator[Problem]:
    given, lengths = node.input(0), node.values(1)
    if not given:
        return
    seq, batch = node.option("seq_dim"), node.option("batch_dim")
    if not 0 <= seq < given.rank or not 0 <= batch < given.rank or seq == batch:
        says = f"they are {seq} and {batch}, and the input has {given.rank} dimensions"
        yield CHECK.problem(says, place=node.place("seq_dim and batch_dim"))
    elif not given.count:
        says = f"its input {list(given.shape)} is empty, and the kernel reads it anyway"
        yield CHECK.problem(says, place=node.place())
    elif lengths is not None and any(not 0 <= n <= given.shape[seq] for n in lengths):
        says = f"one of them is not between 0 and {given.shape[seq]}"
        yield CHECK.problem(says, place=node.place("seq_lengths"))
