"""A file is changed while an array is mapped from it.

What happens: ``np.memmap`` and ``np.load(..., mmap_mode=...)`` show the pages of the file itself. When the file becomes shorter, or is written anew, pages go away, and
whoever touches them dies of SIGBUS: no exception, no message.

How to tell: the file whose constant name is mapped is truncated, opened for writing or saved again further down, in the same block.

Fix: write to another name and rename it (``os.replace``): the old pages live as long as the mapping. Or read the array with ``np.load(path)``.
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
    id="py-mapped-file",
    title="a file is changed while an array is mapped from it",
    fix="write to another name and rename it with os.replace",
    severity="warning",
    words=("mmap",),
)
REWRITES = {"numpy.save", "os.truncate"}
WRITES = ("w", "wb", "w+", "wb+", "w+b")


def look(source: PythonSource) -> Iterator[Problem]:
    """Yield each place where a mapped file is changed."""
    mapped: dict[tuple[object, str], int] = {}
    for call in source.calls:
        path = _path(source, call)
        key = (source.scopes.scope_of[call], path)
        if path and _is_mapped(source, call):
            mapped[key] = call.lineno
        elif key in mapped and _is_changed(source, call):
            says = f"{path} is mapped since line {mapped[key]}; who touches pages that go away dies of SIGBUS"
            yield CHECK.problem_in(source.area(call), says, confidence="likely")


def _path(source: PythonSource, call: ast.Call) -> str:
    """The file that a call is about: a constant, or the source text of the name that holds it."""
    if not call.args:
        return ""
    first = call.args[0]
    if isinstance(first, ast.Attribute) and first.attr == "name":
        first = first.value
    known = source.values.constant(first)
    if isinstance(known, str):
        return known
    return ast.unparse(first) if isinstance(first, (ast.Name, ast.Attribute)) else ""


def _is_mapped(source: PythonSource, call: ast.Call) -> bool:
    name = source.name(call.func)
    if name == "numpy.load":
        return any(
            k.arg == "mmap_mode" and source.values.constant(k.value) is not None
            for k in call.keywords
        )
    return name == "numpy.memmap"


def _is_changed(source: PythonSource, call: ast.Call) -> bool:
    if source.name(call.func) in REWRITES:
        return True
    opened = isinstance(call.func, ast.Name) and call.func.id == "open" and len(call.args) > 1
    return opened and source.values.constant(call.args[1]) in WRITES
