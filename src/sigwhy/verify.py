"""From the bytes of a model to its problems, for those who hold it in memory: nothing heavy is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.checks import looked
from sigwhy.subjects.tflite_model import TfliteModel

if TYPE_CHECKING:
    from sigwhy.model.problem import Problem
    from sigwhy.model.target import Target


def model_problems(
    data: bytes | memoryview,
    *,
    targets: tuple[Target, ...] = (),
    memory_limit: int | None = None,
) -> tuple[Problem, ...]:
    """Everything that is wrong with the bytes of a .tflite model; never raises for what they are."""
    model = TfliteModel.of(data, targets=targets, memory_limit=memory_limit)
    return looked(model, "tflite").problems
