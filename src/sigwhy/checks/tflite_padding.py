"""A padding is negative, too large, or not meant for this tensor.

What happens: the kernel adds the paddings to the dimensions in 32 bits and allocates what comes out. A negative padding, or one so large that the sum
overflows, gives a buffer that is too small, and the kernel writes behind it: SIGSEGV or heap corruption.

How to tell: constant paddings have one row of two numbers for each dimension; none is negative; no sum exceeds 2^31; those of MIRROR_PAD are not larger
than the dimension that is mirrored.

Fix: correct the paddings and convert the model again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Node, TfliteModel

CHECK = Check(
    id="tflite-padding",
    title="a padding is negative, too large, or not meant for this tensor",
    fix="correct the paddings and convert the model again",
)
LARGEST = 2**31 - 1
REFLECT = 0


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield impossible paddings."""
    for node in model.named("PAD", "PADV2", "MIRROR_PAD"):
        given, paddings = node.input(0), node.input(1)
        if not given or not paddings:
            continue
        if paddings.shape != (given.rank, 2):
            says = f"their shape is {list(paddings.shape)}, and [{given.rank}, 2] is wanted"
            yield CHECK.problem(says, place=node.place("paddings"))
        elif (known := paddings.values) is not None:
            pairs = list(zip(known[::2], known[1::2], strict=False))
            yield from _pairs(node, given.shape, pairs)


def _pairs(
    node: Node, shape: tuple[int, ...], pairs: list[tuple[int | float, int | float]]
) -> Iterator[Problem]:
    for n, (size, (before, after)) in enumerate(zip(shape, pairs, strict=True)):
        place = node.place(f"paddings of dimension {n}")
        most = size - 1 if node.option("mode") == REFLECT else size
        if before < 0 or after < 0:
            yield CHECK.problem(f"they are {before} and {after}; none may be negative", place=place)
        elif size + before + after > LARGEST:
            says = f"{before} + {size} + {after} does not fit 31 bits"
            yield CHECK.problem(says, place=place)
        elif node.name == "MIRROR_PAD" and max(before, after) > most:
            says = f"they are {before} and {after}, and only {size} can be mirrored"
            yield CHECK.problem(says, place=place)
