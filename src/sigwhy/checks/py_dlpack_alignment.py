"""Memory that TensorFlow wants aligned is handed over by DLPack from the middle of an array.

What happens: ``from_dlpack`` takes the memory as it is, without a copy, and checks with an assertion that it begins at a multiple of 64 bytes:
SIGABRT where it does not. NumPy aligns its own memory to 16 bytes only, so that a whole array works or dies by chance.

How to tell: a slice that begins some elements into a NumPy array goes to ``from_dlpack`` (an error where the distance is no multiple of 64 bytes); a
whole NumPy array does so (a warning).

Fix: ``tf.constant(array)``, which copies.
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
    id="py-dlpack-alignment",
    title="memory that is not aligned goes to from_dlpack",
    fix="tf.constant(array), which copies",
    words=("dlpack",),
)
TAKES = ("tensorflow.experimental.dlpack.from_dlpack",)
MAKES = ("numpy.",)
ALIGNED = 64
ELEMENT = {
    "float64": 8,
    "int64": 8,
    "float32": 4,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "float16": 2,
}


def look(source: PythonSource) -> Iterator[Problem]:
    """Yield arrays of NumPy that are handed over."""
    for call in source.calls:
        if source.name(call.func) not in TAKES or not call.args:
            continue
        given = _exported(source, call.args[0])
        if given is None:
            continue
        offset = _offset(source, given)
        if offset is None:
            whole = source.scopes.origin(given)
            if isinstance(whole, ast.Call) and source.name(whole.func).startswith(MAKES):
                says = (
                    "NumPy aligns memory to 16 bytes, and from_dlpack aborts where 64 are missing"
                )
                yield CHECK.problem_in(
                    source.area(call), says, severity="warning", confidence="possible"
                )
        elif offset % ALIGNED:
            says = f"this begins {offset} bytes into its memory; from_dlpack aborts unless it is a multiple of 64"
            yield CHECK.problem_in(source.area(call), says)


def _exported(source: PythonSource, node: ast.expr) -> ast.expr | None:
    """The array of ``array.__dlpack__()``."""
    match source.scopes.origin(node):
        case ast.Call(func=ast.Attribute(value=value, attr="__dlpack__")):
            return source.scopes.origin(value)
        case _:
            return None


def _offset(source: PythonSource, node: ast.expr) -> int | None:
    """How many bytes a slice begins behind the start of its array."""
    match node:
        case ast.Subscript(value=value, slice=ast.Slice(lower=ast.expr() as lower)):
            start = source.values.constant(lower)
            made = source.scopes.origin(value)
        case _:
            return None
    if not isinstance(start, int) or not isinstance(made, ast.Call):
        return None
    name = source.name(made.func)
    if not name.startswith(MAKES):
        return None
    dtype = next((k.value for k in made.keywords if k.arg == "dtype"), None)
    usual = "int64" if name.endswith("arange") else "float64"
    return start * ELEMENT.get(source.values.dtype(dtype) or usual, 8)
