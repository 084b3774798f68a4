"""Whole numbers are divided by a constant 0.

What happens: the processor raises SIGFPE when a whole number is divided by 0, and when the smallest one is divided by -1. The kernels of DIV, FLOOR_DIV and FLOOR_MOD look at constants
late or not at all.

How to tell: a constant divisor of whole numbers holds a 0.

Fix: mask the divisor in the model: ``tf.where(d == 0, 1, d)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import TfliteModel

CHECK = Check(
    id="tflite-divisor",
    title="whole numbers are divided by a constant 0",
    fix="mask the divisor: tf.where(d == 0, 1, d)",
)
WHOLE = ("INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64")


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield divisors of 0, and of -1, which faults with the smallest number alone."""
    for node in model.named("DIV", "FLOOR_DIV", "FLOOR_MOD"):
        divisor, known = node.input(1), node.values(1)
        if not divisor or known is None or divisor.type not in WHOLE or divisor.scales:
            continue
        if 0 in known:
            yield CHECK.problem("a whole number is divided by 0", place=node.place("divisor"))
        elif -1 in known:
            says = "the smallest number divided by -1 does not fit, and faults as well"
            yield CHECK.problem(says, place=node.place("divisor"), severity="note")
