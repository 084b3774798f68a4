"""Blocks of space cannot be moved to channels or batches with these sizes.

What happens: the kernel divides height, width, channels or batch by the size of the block: a block of 0 is SIGFPE, a negative one reads and writes
before its tensors, and negative paddings or crops go beyond them: SIGSEGV, or damage that is noticed later.

How to tell: the block of SPACE_TO_DEPTH and DEPTH_TO_SPACE is at least 1 and divides what it must; the constant blocks of SPACE_TO_BATCH_ND and
BATCH_TO_SPACE_ND are at least 1, and their paddings and crops at least 0.

Fix: correct the sizes and convert the model again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Node, TfliteModel

CHECK = Check(
    id="tflite-blocks",
    title="blocks of space cannot be moved with these sizes",
    fix="correct the sizes and convert the model again",
)
RANK = 4
LARGEST = 2**15


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield impossible blocks."""
    for node in model.named("SPACE_TO_DEPTH", "DEPTH_TO_SPACE"):
        yield from _depth(node)
    for node in model.named("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"):
        yield from _batch(node)


def _depth(node: Node) -> Iterator[Problem]:
    block, picture = node.option("block_size"), node.input(0)
    if not 1 <= block <= LARGEST:
        yield CHECK.problem(
            f"it is {block}; the kernel divides by it", place=node.place("block_size")
        )
    elif picture and picture.rank == RANK:
        _, height, width, channels = picture.shape
        whole = not (height % block or width % block)
        if not (whole if node.name == "SPACE_TO_DEPTH" else not channels % block**2):
            says = f"blocks of {block} do not divide the input {list(picture.shape)}"
            yield CHECK.problem(says, place=node.place("block_size"))
    elif picture:
        says = f"its input has {picture.rank} dimensions; {RANK} are wanted"
        yield CHECK.problem(says, place=node.place())


def _batch(node: Node) -> Iterator[Problem]:
    block, around, picture = node.values(1), node.values(2), node.input(0)
    if block is not None and (not len(block) or min(block) < 1 or max(block) > LARGEST):
        says = f"it is {list(block)[:8]}; the kernel divides by it"
        yield CHECK.problem(says, place=node.place("block_shape"))
    if around is not None and any(n < 0 for n in around):
        says = f"{list(around)[:8]} goes beyond the input"
        yield CHECK.problem(says, place=node.place("paddings"))
    if picture and not 3 <= picture.rank <= RANK:
        says = f"its input has {picture.rank} dimensions; 3 or {RANK} are wanted"
        yield CHECK.problem(says, place=node.place())
    elif picture and block is not None and len(block) != picture.rank - 2:
        says = f"{len(block)} sizes are given for {picture.rank - 2} dimensions of space"
        yield CHECK.problem(says, place=node.place("block_shape"))
