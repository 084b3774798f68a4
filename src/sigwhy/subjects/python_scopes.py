"""Which expression a name stands for, where that is certain: it is bound once, and nobody changes it.

This is all the data flow that the checks use. A name that is bound twice, in a loop, by a parameter or by
``with`` is unknown, and so is a list that is appended to.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Scope: TypeAlias = "ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef"

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
# Where other nodes hold names that they bind, to what nobody knows.
UNKNOWN: dict[type, tuple[str, ...]] = {
    ast.AugAssign: ("target",), ast.For: ("target",), ast.AsyncFor: ("target",), ast.withitem: ("optional_vars",),
    ast.Delete: ("targets",), ast.FunctionDef: ("name",), ast.AsyncFunctionDef: ("name",), ast.ClassDef: ("name",),
    ast.ExceptHandler: ("name",), ast.Global: ("names",), ast.Nonlocal: ("names",), ast.comprehension: ("target",),
    ast.MatchAs: ("name",), ast.MatchStar: ("name",),
}  # fmt: skip
CHANGES = {
    "append",
    "extend",
    "insert",
    "remove",
    "pop",
    "clear",
    "sort",
    "reverse",
    "fill",
    "resize",
    "update",
}


class Scopes:
    """The names of each function, and of the module, with what they are bound to."""

    def __init__(self, tree: ast.Module) -> None:
        self.scope_of: dict[ast.AST, Scope] = {}
        self.bound: dict[Scope, dict[str, list[ast.expr | None]]] = {}
        self.in_loop: set[ast.AST] = set()
        self._walk(tree, tree, looped=False)

    def origin(self, node: ast.expr) -> ast.expr:
        """The expression that a name stands for, or the node itself."""
        for _ in range(10):  # x = y; y = x
            if not isinstance(node, ast.Name):
                break
            found = self._bound(node)
            if found is None:
                break
            node = found
        return node

    def _bound(self, node: ast.Name) -> ast.expr | None:
        scope: Scope | None = self.scope_of.get(node)
        while scope is not None:
            held = self.bound.get(scope, {}).get(node.id)
            if held is not None:
                return held[0] if len(held) == 1 else None
            outer = self.scope_of.get(scope)
            scope = outer if outer is not scope else None
        return None

    def _walk(self, node: ast.AST, scope: Scope, *, looped: bool) -> None:
        """Note of each node its scope, and of each name what it is bound to; without recursion."""
        waiting = [(node, scope, looped)]
        while waiting:
            node, scope, looped = waiting.pop()
            self.scope_of[node] = scope
            if looped:
                self.in_loop.add(node)
            for name, value in _bindings(node):
                self.bound.setdefault(scope, {}).setdefault(name, []).append(
                    None if looped else value
                )
            inner: Scope = scope
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                inner = node
                self.bound.setdefault(inner, {}).update(_parameters(node))
            within = isinstance(node, LOOPS) or (looped and inner is scope)
            waiting += [(child, inner, within) for child in ast.iter_child_nodes(node)]


def _parameters(node: ast.AST) -> dict[str, list[ast.expr | None]]:
    if not isinstance(node, FUNCTIONS):
        return {}
    arguments = node.args
    every = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]
    return {argument.arg: [None] for argument in every if argument}


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """The names that a node binds or changes; None where nobody knows to what."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _pairs(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _pairs(target, value)
        case ast.NamedExpr(target=target, value=value):
            yield from _pairs(target, value)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if (
            method in CHANGES
        ):
            yield name, None
        case _:
            for field in UNKNOWN.get(type(node), ()):
                yield from _unknown(getattr(node, field))


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr | None]]:
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case (
            (ast.Tuple(elts=left) | ast.List(elts=left)),
            (ast.Tuple(elts=right) | ast.List(elts=right)),
        ) if len(left) == len(right):
            for one, other in zip(left, right, strict=True):
                yield from _pairs(one, other)
        case _:
            yield from _unknown(target)


def _unknown(target: object) -> Iterator[tuple[str, None]]:
    """Every name in a target, also ``x`` of ``x[0] = 1``, whose value changes."""
    if isinstance(target, str):
        yield target, None
    elif isinstance(target, list):
        for one in target:
            yield from _unknown(one)
    elif isinstance(target, ast.AST):
        yield from ((node.id, None) for node in ast.walk(target) if isinstance(node, ast.Name))
