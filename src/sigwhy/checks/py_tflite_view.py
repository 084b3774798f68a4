"""A view into an interpreter's memory is still held when the interpreter moves that memory.

What happens: ``interpreter.tensor(i)()`` gives an array that shows the interpreter's own memory. ``allocate_tensors`` and
``resize_tensor_input`` move it: the array then shows memory of nobody, and reading it is SIGSEGV or numbers of somebody else. ``invoke`` refuses to run, or changes it.

How to tell: a name holds a view, the same interpreter is resized or allocated again, and the name is used after that, in the same block.

Fix: ``interpreter.get_tensor(i)``, which copies, or take the view anew after each change.
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
    id="py-tflite-view",
    title="a view is held while the interpreter moves its memory",
    fix="interpreter.get_tensor(index), which copies",
    words=("Interpreter",),
)
MOVES = {"allocate_tensors", "resize_tensor_input"}


def look(source: PythonSource) -> Iterator[Problem]:
    """Yield uses of a view behind a change."""
    if "Interpreter" not in source.text:
        return
    for node in source.nodes:
        if not isinstance(node, ast.Assign) or node in source.scopes.in_loop:
            continue
        interpreter = _viewed(node.value)
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if interpreter and len(names) == 1:
            yield from _used(source, node, names[0], interpreter)


def _viewed(node: ast.expr) -> str:
    """The interpreter of ``interpreter.tensor(i)()``."""
    match node:
        case ast.Call(func=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="tensor"))):
            return name
        case _:
            return ""


def _used(source: PythonSource, view: ast.Assign, name: str, interpreter: str) -> Iterator[Problem]:
    scope = source.scopes.scope_of[view]
    if len(source.scopes.bound.get(scope, {}).get(name, ())) != 1:
        return
    moved = min(
        (c.lineno for c in source.calls if _moves(c, interpreter) and c.lineno > view.lineno),
        default=None,
    )
    if moved is None:
        return
    for node in source.nodes:
        used = isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        if (
            used
            and isinstance(node, ast.Name)
            and node.lineno > moved
            and source.scopes.scope_of[node] is scope
        ):
            says = f"{name} shows memory that the interpreter moved in line {moved}"
            yield CHECK.problem_in(source.area(node), says)
            return


def _moves(call: ast.Call, interpreter: str) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            return name == interpreter and attr in MOVES
        case _:
            return False
