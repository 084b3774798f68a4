"""A tensor is asked for that no machine holds.

What happens: the allocation fails. In eager mode that is an exception; in a graph, in tf.data and in kernels that do not look at the failure the process dies; under overcommit it is killed when
the pages are touched (SIGKILL).

How to tell: the constant shape of ``tf.zeros``, ``tf.ones``, ``tf.fill``, ``tf.random.*`` takes 1 TiB or more. NumPy raises and stays alive.

Fix: look at the shape: a factor is there twice, or sizes in bytes were taken for sizes in elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check
from sigwhy.subjects.python_values import SIZES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.python_source import PythonSource

CHECK = Check(
    id="py-huge-tensor",
    title="a tensor is asked for that no machine holds",
    fix="look at the shape",
    words=("tensorflow",),
)
TEBIBYTE = 1 << 40
WORDS = ("zeros", "ones", "empty", "fill", "normal", "uniform")


def look(source: PythonSource) -> Iterator[Problem]:
    """Yield tensors of a tebibyte or more."""
    for call in source.calls:
        name = source.name(call.func)
        if not name.startswith("tensorflow.") or not name.endswith(WORDS):
            continue
        made = source.values.argument(call)
        size = (made.elements or 0) * SIZES.get(made.dtype, 4) if made else 0
        if made and size >= TEBIBYTE:
            says = f"shape {made.shape} takes {size / TEBIBYTE:,.1f} TiB"
            yield CHECK.problem_in(source.area(call), says)
