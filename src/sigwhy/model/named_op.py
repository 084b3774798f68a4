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


def best(case: Case) -> Op | None:
    """The operation of the case: found in memory for sure, else named by a text, else a hint."""
    return min(case.all(Op), key=_doubt, default=None)


def _doubt(op: Op) -> tuple[bool, bool, bool]:
    """Another thread's comes last; a text that names the kernel too knows more than one that does not."""
    is_sure = op.from_memory and not op.is_hint
    return op.state == "beside", not is_sure and (op.is_hint or op.kernel is None), not is_sure


def operation(case: Case) -> Culprit | None:
    """The operation of the case as the one to blame, where it is of a framework of kernels."""
    op = best(case)
    if op is None or op.framework not in {"tensorflow", "torch", "paddle"}:
        return None
    return None if op.state == "beside" and not op.is_hint else blamed(op)


def blamed(op: Op) -> Culprit:
    """An operation as the one to blame."""
    return Culprit(kind="op", name=op.op, node=op.node)


def place(case: Case, fact: Check | Log) -> Culprit:
    """The operation where it is known, else the function or the place of the check."""
    function, ran = getattr(fact, "function", None), operation(case)
    name = (fact.file or "").replace("\\", "/").rpartition("/")[2] or None
    at = Culprit(kind="file", name=name, file=fact.file, line=fact.line, function=function)
    if fact.framework == "opencv":
        name = function and f"cv2.{function.rpartition('::')[2]}"
        return replace(at, kind="api", name=name, library="OpenCV")
    return replace(at, kind="op", name=ran.name, node=ran.node) if ran else at
