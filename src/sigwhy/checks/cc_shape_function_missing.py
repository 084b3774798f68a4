"""An operation is registered without a shape function.

What happens: nothing dies of it here. But TensorFlow then knows nothing of the shapes of the outputs: graphs that need them do not build, and ranks
that a shape function would have refused while the graph is built arrive in the kernel, where they fail checks that abort the process (SIGABRT).

How to tell: ``REGISTER_OP`` without ``SetShapeFn``, of an operation that has outputs.

Fix: ``.SetShapeFn(shape_inference::UnchangedShape)``, or a function that checks the ranks with ``c->WithRank`` and sets each output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.cpp_source import CppSource

CHECK = Check(
    id="cc-shape-function-missing",
    title="an operation has no shape function",
    fix=".SetShapeFn(...) that checks the ranks of the inputs and sets each output",
    severity="note",
    words=("REGISTER_OP",),
)


def look(source: CppSource) -> Iterator[Problem]:
    """Yield the registrations without one."""
    for op in source.ops.values():
        if op.shape_function is None and op.outputs != 0:
            says = f"{op.name} has no shape function: TensorFlow knows nothing of its outputs"
            yield CHECK.problem_in(source.area(op.node), says)
