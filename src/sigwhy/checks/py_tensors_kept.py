"""Whole results of a model are kept in a list that grows in a loop.

What happens: a list of tensors keeps each of them alive, on the CPU or the GPU. Memory grows by one result with every round until the limit is met, and the kernel ends the
process with SIGKILL: nothing is printed.

How to tell: what a model returned is appended to a list inside a loop. Whether that is too much only the sizes and the number of rounds tell: a note.

Fix: keep what you need, ``append(result["boxes"].numpy())``, or write each batch to disk.
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
    id="py-tensors-kept",
    title="whole results of a model are kept in a list that grows",
    fix='keep what you need, append(result["boxes"].numpy()), or write each batch to disk',
    severity="note",
    words=("tensorflow", "keras"),
)
MODELS = {"model", "net", "network", "detector", "detect_fn", "predict_on_batch", "generator"}
FRAMEWORKS = ("tensorflow", "keras", "tf_keras")


def look(source: PythonSource) -> Iterator[Problem]:
    """Yield each append of a model's result in a loop."""
    if not source.imports(*FRAMEWORKS):
        return
    kept = source.scopes.in_loop
    results = {
        (source.scopes.scope_of[node], target.id)
        for node in source.nodes
        if isinstance(node, ast.Assign) and node in kept and _is_result(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in source.calls:
        match call:
            case ast.Call(func=ast.Attribute(attr="append"), args=[one]) if call in kept:
                named = (
                    isinstance(one, ast.Name) and (source.scopes.scope_of[one], one.id) in results
                )
                if _is_result(one) or named:
                    says = (
                        "each round keeps one more result; memory grows until the process is killed"
                    )
                    yield CHECK.problem_in(source.area(call), says, confidence="possible")
            case _:
                pass


def _is_result(node: ast.expr) -> bool:
    """Whether a call looks like that of a model."""
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name in MODELS or name.endswith("_model")
        case _:
            return False
