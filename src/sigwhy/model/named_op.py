"""The operation of a framework that a case is about, and the place of a check that failed in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sigwhy.model.argument_words import KERNEL, OTHERS_CODE
from sigwhy.model.cause import Culprit
from sigwhy.model.fact import Op

if TYPE_CHECKING:
    from sigwhy.model.case import Case
    from sigwhy.model.fact import Check, Log, Stack


def in_kernel(stack: Stack) -> bool:
    """Whether TensorFlow's own kernel is near the top, and nobody else's code above it."""
    near = [f"{frame.function} {frame.library}" for frame in stack.frames[:5]]
    at = next((n for n, words in enumerate(near) if KERNEL.search(words)), None)
    return at is not None and not any(OTHERS_CODE.search(words) for words in near[:at])


def operation(case: Case) -> Culprit | None:
    """The operation of the case: one whose kernel is named first."""
    ops = [op for op in case.all(Op) if op.framework in {"tensorflow", "torch", "paddle"}]
    op = min(ops, key=lambda op: op.kernel is None, default=None)
    return Culprit(kind="op", name=op.op, node=op.node) if op else None


def place(case: Case, fact: Check | Log) -> Culprit:
    """The operation where it is known, else the function or the place of the check."""
    function, ran = getattr(fact, "function", None), operation(case)
    name = (fact.file or "").replace("\\", "/").rpartition("/")[2] or None
    at = Culprit(kind="file", name=name, file=fact.file, line=fact.line, function=function)
    if fact.framework == "opencv":
        name = function and f"cv2.{function.rpartition('::')[2]}"
        return replace(at, kind="api", name=name, library="OpenCV")
    return replace(at, kind="op", name=ran.name, node=ran.node) if ran else at
