"""A pooling cannot be computed with its strides or its window.

What happens: the kernel divides by the stride, and an average by the number of elements in the window: a 0 is SIGFPE in AllocateTensors or at
the first invoke. A negative window reads before the picture: SIGSEGV.

How to tell: strides and window of MAX_POOL_2D, AVERAGE_POOL_2D and L2_POOL_2D are at least 1; the input has four dimensions; the
radius of LOCAL_RESPONSE_NORMALIZATION lies between 0 and the channels.

Fix: correct the layer and convert it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import TfliteModel

CHECK = Check(
    id="tflite-pooling",
    title="a pooling cannot be computed with its strides or window",
    fix="correct the layer and convert it again",
)
POOLS = ("MAX_POOL_2D", "AVERAGE_POOL_2D", "L2_POOL_2D")
OPTIONS = ("stride_w", "stride_h", "filter_width", "filter_height")
LARGEST = 2**15 - 1
RANK = 4


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield impossible numbers."""
    for node in model.named(*POOLS):
        for name in OPTIONS:
            value = node.option(name)
            if not 1 <= value <= LARGEST:
                yield CHECK.problem(
                    f"it is {value}; the kernel divides by it", place=node.place(name)
                )
        picture = node.input(0)
        if picture and picture.rank != RANK:
            says = f"its input has {picture.rank} dimensions; {RANK} are wanted"
            yield CHECK.problem(says, place=node.place())
    for node in model.named("LOCAL_RESPONSE_NORMALIZATION"):
        picture, radius = node.input(0), node.option("radius")
        channels = picture.shape[-1] if picture and picture.rank else 0
        if not 0 <= radius <= max(1, channels):
            says = f"it is {radius}, and there are {channels} channels"
            yield CHECK.problem(says, place=node.place("radius"))
