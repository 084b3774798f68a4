"""An attribute is deleted that TensorFlow's own code reads without asking.

What happens: a tensor keeps some things in slots of C, such as its handle data and its shape. Deleting one leaves a null pointer in the slot, and the next
one who reads it follows the pointer: SIGSEGV.

How to tell: ``del x._handle_data``, ``del x._tensor_shape`` in a file that imports TensorFlow.

Fix: nothing needs to be deleted; drop the tensor itself.
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
    id="py-deleted-attribute",
    title="an attribute is deleted that TensorFlow reads without asking",
    fix="drop the tensor itself",
    words=("_handle_data", "_tensor_shape"),
)
SLOTS = {"_handle_data", "_tensor_shape"}


def look(source: PythonSource) -> Iterator[Problem]:
    """Yield each deletion of a slot."""
    if not source.imports("tensorflow", "keras"):
        return
    for node in source.nodes:
        for target in node.targets if isinstance(node, ast.Delete) else ():
            if isinstance(target, ast.Attribute) and target.attr in SLOTS:
                says = f"{target.attr} becomes a null pointer, and its next reader follows it"
                yield CHECK.problem_in(source.area(target), says)
