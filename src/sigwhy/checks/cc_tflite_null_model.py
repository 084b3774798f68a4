"""A TensorFlow Lite model is used without asking whether it was loaded.

What happens: ``BuildFromFile`` gives a null pointer where the file is missing, cut, or no model, and ``TfLiteModelCreateFromFile`` does so too. The next line follows it: SIGSEGV at an
address near 0, in ``InterpreterBuilder`` or later.

How to tell: the model is followed (``*model``, ``model->``) or handed on, and no condition or check names it before.

Fix: ``if (!model) return 1;``; ``VerifyAndBuildFromFile`` refuses damaged files, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.cpp_source import CppSource, Node

CHECK = Check(
    id="cc-tflite-null-model",
    title="nobody asks whether the model was loaded",
    fix="if (!model) return ...; before the model is used",
    severity="warning",
    words=("BuildFrom", "TfLiteModelCreate"),
)
FOLLOWS = {"pointer_expression", "field_expression"}
NULL_IS_FATAL = {"TfLiteInterpreterCreate"}


def look(source: CppSource) -> Iterator[Problem]:
    """Yield the first use of a model that nobody asked about."""
    for function in source.functions:
        for name, values in source.values(function).items():
            if len(values) != 1 or not _loads(source.said(values[0])):
                continue
            later = (node for node in source.names(function, name) if node.at > values[0].last)
            first = next(later, None)
            if first and _follows(source, first):
                says = f"{name} is null where the file cannot be loaded, and nobody asked"
                yield CHECK.problem_in(source.area(first), says)


def _loads(words: str) -> bool:
    called = words.partition("(")[0]
    return "BuildFrom" in called or called.endswith(
        ("TfLiteModelCreateFromFile", "TfLiteModelCreate")
    )


def _follows(source: CppSource, node: Node) -> bool:
    """Whether a place goes through the pointer, rather than looking at it."""
    outer = node.parent
    if not outer:
        return False
    if outer.kind == "argument_list" and outer.parent:
        called = outer.parent.part("function")
        return called is not None and source.said(called) in NULL_IS_FATAL
    if outer.kind == "pointer_expression":
        return source.said(outer).startswith("*")
    return outer.kind == "field_expression" and source.data[node.end : node.end + 2] == b"->"
