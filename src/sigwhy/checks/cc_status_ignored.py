"""A status is thrown away, and what it should have given is used.

What happens: ``allocate_output``, ``allocate_temp``, ``GetAttr`` and named inputs tell in a ``Status`` whether there is something. When memory
runs out, or the attribute has another type, the pointer stays null or wild, and the next line reads or writes through it (SIGSEGV).

How to tell: the call stands alone as a statement, or is cast to ``void``.

Fix: ``OP_REQUIRES_OK(ctx, ctx->allocate_output(...))``, which returns from the function with the error; in a function that returns a status ``TF_RETURN_IF_ERROR(...)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check
from sigwhy.subjects.cpp_source import CONSTRUCTION, CONTEXT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.cpp_source import Call, CppSource

CHECK = Check(
    id="cc-status-ignored",
    title="a status is thrown away",
    fix="wrap the call in OP_REQUIRES_OK(ctx, ...)",
    severity="warning",
    words=("OpKernelCon",),
)
FALLIBLE = {
    "allocate_output", "allocate_temp", "allocate_persistent", "forward_input_or_allocate_output",
    "forward_input_or_allocate_temp", "GetAttr", "input_list", "output_list", "mutable_input",
}  # fmt: skip
NAMED = {"input", "mutable_input"}  # with a name they return a status, with a number a tensor


def look(source: CppSource) -> Iterator[Problem]:
    """Yield calls on a context whose status nobody sees."""
    for function in source.functions:
        contexts = {
            name
            for name, kind in function.parameters.items()
            if CONTEXT in kind or CONSTRUCTION in kind
        }
        for call in function.calls:
            if call.receiver and source.said(call.receiver) in contexts and _fails(call):
                outer = call.node.parent
                if outer and outer.kind == "cast_expression":
                    outer = outer.parent
                if outer and outer.kind == "expression_statement":
                    says = (
                        f"whether {call.name} succeeded is not looked at: what it gives may be null"
                    )
                    yield CHECK.problem_in(source.area(call.node), says)


def _fails(call: Call) -> bool:
    if call.name in NAMED:
        return len(call.args) > 1 and call.args[0].kind == "string_literal"
    return call.name in FALLIBLE
