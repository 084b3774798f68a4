"""An asynchronous kernel does not call ``done``, or calls it twice.

What happens: ``ComputeAsync`` tells through ``done()`` that it is finished. Where a path forgets it, the step waits for ever (a hang without any message).
Where it is called twice, TensorFlow works on state that is gone (SIGSEGV or SIGABRT, often elsewhere and later).

How to tell: a ``done`` that is never named, a plain ``OP_REQUIRES`` or ``OP_REQUIRES_OK``, which returns without calling it, a ``return`` before
``done`` was named at all, and a second ``done()`` on the same way.

Fix: ``OP_REQUIRES_ASYNC(ctx, condition, error, done)`` and ``OP_REQUIRES_OK_ASYNC(ctx, status, done)``; one ``done()`` on each way out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check
from sigwhy.subjects.cpp_source import always_before, in_lambda, in_loop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.cpp_source import CppSource, Function

CHECK = Check(
    id="cc-async-done",
    title="done is not called, or twice",
    fix="OP_REQUIRES_ASYNC and OP_REQUIRES_OK_ASYNC with done; one done() on each way out",
    words=("ComputeAsync",),
)
FORGETS = {"OP_REQUIRES", "OP_REQUIRES_OK"}
MOST = 100  # in one function


def look(source: CppSource) -> Iterator[Problem]:
    """Yield the ways out that are wrong."""
    for function in source.functions:
        if function.name == "ComputeAsync" and function.context and len(function.parameters) == 2:
            done = list(function.parameters)[1]
            found = [*_never(source, function, done), *_twice(source, function, done)]
            yield from sorted(found, key=lambda problem: problem.line or 0)


def _never(source: CppSource, function: Function, done: str) -> Iterator[Problem]:
    named = source.names(function, done)
    if not named:
        says = "done is never called: the step waits for ever"
        yield CHECK.problem_in(source.area(function.head), says)
        return
    for call in function.calls:
        if call.name in FORGETS and not call.receiver and not in_lambda(call.node):
            says = f"{call.name} returns without done(): when it fails, the step waits for ever"
            yield CHECK.problem_in(
                source.area(call.node),
                says,
                severity="warning",
                fix=f"{call.name}_ASYNC(..., {done})",
            )
    for node in source.inside(function.body, "return_statement"):
        if not in_lambda(node) and node.at < named[0].at:
            says = "this returns without done(): the step waits for ever"
            yield CHECK.problem_in(source.area(node), says)


def _twice(source: CppSource, function: Function, done: str) -> Iterator[Problem]:
    called = [c.node for c in function.calls if c.name == done and not c.receiver and not c.args]
    plain = [node for node in called if not in_lambda(node) and not in_loop(node)][:MOST]
    for n, second in enumerate(plain):
        first = next((node for node in plain[:n] if always_before(node, second)), None)
        if first:
            says = f"done was called in line {source.area(first).line} already"
            yield CHECK.problem_in(source.area(second), says)
