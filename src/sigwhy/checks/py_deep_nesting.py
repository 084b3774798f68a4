"""A chain of objects is nested deeper than the stack holds.

What happens: a variant that holds a variant (``OptionalFromValue``, ``TensorListPushBack``), and a list in a list that becomes a tensor, are
taken apart by recursion in C++: each level takes stack, 100,000 levels take all 8 MB, and it ends in SIGSEGV or in a failed assertion, often far from the line that made
them. A chain of datasets ends in a RecursionError: that is no case for this check.

How to tell: a loop of 10,000 rounds or more, by a constant, binds a name to something that wraps the same name.

Fix: a flat list, or a tensor with one more dimension.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.python_source import PythonSource

CHECK = Check(
    id="py-deep-nesting",
    title="a chain is nested deeper than the stack holds",
    fix="a flat list, or a tensor with one more dimension",
    severity="warning",
    words=("tensorflow", "keras"),
)
FRAMEWORKS = ("tensorflow", "keras", "tf_keras")
DEEP = 10_000
WRAPPERS = (
    "raw_ops.OptionalFromValue",
    "raw_ops.TensorListPushBack",
    "experimental.Optional.from_value",
)


def look(source: PythonSource) -> Iterator[Problem]:
    """Yield loops that nest too deeply."""
    if not source.imports(*FRAMEWORKS):
        return
    for node in source.nodes:
        match node:
            case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[*limits])) if limits:
                rounds = _rounds(source, limits)
                if rounds >= DEEP:
                    yield from _wrapped(source, node, rounds)
            case _:
                pass


def _rounds(source: PythonSource, limits: list[ast.expr]) -> int:
    known = [source.values.constant(limit) for limit in limits]
    if not 1 <= len(known) <= 3 or any(type(n) is not int for n in known):
        return 0
    try:
        return len(range(*known))
    except (ValueError, OverflowError):
        return 0


def _wrapped(source: PythonSource, loop: ast.For, rounds: int) -> Iterator[Problem]:
    """The statements of the loop itself that put a name into what it is bound to."""
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _wraps(
                source, value, name
            ):
                says = f"{name} is nested {rounds:,} levels deep; who takes it apart overflows the stack"
                yield CHECK.problem_in(source.area(statement), says, confidence="likely")
            case _:
                pass


def _wraps(source: PythonSource, value: ast.expr, name: str) -> bool:
    match value:
        case ast.List(elts=[ast.Name(id=held)]) | ast.Tuple(elts=[ast.Name(id=held)]):
            return held == name
        case ast.Call() if source.name(value.func).endswith(WRAPPERS):
            given = [*value.args, *(keyword.value for keyword in value.keywords)]
            return any(isinstance(n, ast.Name) and n.id == name for g in given for n in ast.walk(g))
        case _:
            return False
