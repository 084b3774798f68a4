"""A custom operation gives the same output twice.

What happens: ``set_output`` checks that the output is still empty, and aborts the process when it is not (SIGABRT, ``Check failed:
outputs_[index].tensor == nullptr``). An output that ``allocate_output`` made is not empty either.

How to tell: a ``set_output`` of an index that was given before, wherever this line is reached. Two branches of an ``if`` are not meant.

Fix: give each output once: allocate it and fill it in place, or compute a tensor and set it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check
from sigwhy.subjects.cpp_source import always_before

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.cpp_source import Call, CppSource, Function

CHECK = Check(
    id="cc-output-set-twice",
    title="an output is given twice",
    fix="give each output once: allocate it and fill it in place, or set it",
    words=("set_output",),
)
GIVES = {"set_output", "allocate_output"}
LITERAL = {"number_literal", "string_literal"}
MOST = 200  # in one function


def look(source: CppSource) -> Iterator[Problem]:
    """Yield each ``set_output`` that comes second."""
    for function in source.functions:
        given = _given(source, function)
        for n, (index, call) in enumerate(given):
            before = (c for i, c in given[:n] if i == index and always_before(c.node, call.node))
            first = next(before, None)
            if first and call.name == "set_output":
                line = source.area(first.node).line
                says = f"output {index} was given in line {line}: the process aborts here"
                yield CHECK.problem_in(source.area(call.node), says)


def _given(source: CppSource, function: Function) -> list[tuple[str, Call]]:
    """The outputs that are given, where the index is a constant and the context is known."""
    if not function.context or any(call.name == "release_output" for call in function.calls):
        return []
    return [
        (source.said(call.args[0]), call)
        for call in function.calls
        if call.name in GIVES
        and call.receiver
        and source.said(call.receiver) == function.context
        and call.args
        and call.args[0].kind in LITERAL
    ][:MOST]
