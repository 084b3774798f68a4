"""The model is gone while its interpreter lives.

What happens: an ``Interpreter`` does not copy the weights, it reads them in the model. When the ``FlatBufferModel`` is freed first, ``AllocateTensors`` or ``Invoke`` reads memory
that is no longer there (SIGSEGV), or results that are sometimes wrong.

How to tell: a function that loads a model into a variable of its own and returns the interpreter, or builds it into a member; and a model that is reset, with
the interpreter named afterwards.

Fix: keep both in one object, the model declared first, so that it goes last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.cpp_source import CppSource, Function, Node

CHECK = Check(
    id="cc-tflite-model-freed",
    title="the model is freed before its interpreter",
    fix="keep the model as long as the interpreter, declared before it",
    words=("BuildFrom",),
)
BUILDER = "InterpreterBuilder"


def look(source: CppSource) -> Iterator[Problem]:
    """Yield the places where the model goes and the interpreter stays."""
    for function in source.functions:
        for model, node in _models(source, function):
            for interpreter in _built(source, function, model):
                yield from _gone(source, function, (model, node), interpreter)


def _models(source: CppSource, function: Function) -> Iterator[tuple[str, Node]]:
    """The models that are variables of a function, and own what they point to."""
    for node in source.inside(function.body, "init_declarator"):
        value, name = node.part("value"), source.variable(node)
        declared = node.parent
        if not value or not declared or source.said(declared).startswith(("static ", "auto*")):
            continue
        words = source.said(value)
        called = words.partition("(")[0]
        loads = "FlatBufferModel::" in called and "BuildFrom" in called
        if loads and not words.endswith("release()"):
            yield name, node


def _built(source: CppSource, function: Function, model: str) -> Iterator[str]:
    """The interpreters that are built of a model: ``InterpreterBuilder(*model, ops)(&interpreter)``."""
    builders = {
        name
        for name, values in source.values(function).items()
        if values[0].kind == "argument_list" and source.said(values[0]).startswith(f"(*{model},")
    }
    for call in function.calls:
        called = call.node.part("function")
        words = source.said(called) if called else ""
        direct = BUILDER in words and f"(*{model}," in words
        if (direct or words in builders) and call.args:
            given = source.said(call.args[0])
            if given.startswith("&"):
                yield given[1:].strip()


def _gone(
    source: CppSource, function: Function, model: tuple[str, Node], interpreter: str
) -> Iterator[Problem]:
    name, declared = model
    places = source.names(function, name)
    if any(_kept(source, place) for place in places):
        return
    for place in places:
        call = place.parent.parent if place.parent else None
        if call and source.said(call) in {f"{name}.reset()", f"{name}.reset(nullptr)"}:
            if any(use.at > call.last for use in source.names(function, interpreter)):
                says = f"{name} is freed here, and {interpreter} still reads it"
                yield CHECK.problem_in(source.area(call), says)
            return
    if interpreter.endswith("_") or interpreter.startswith("this->"):
        says = f"{name} is freed when {function.name} ends, and {interpreter} still reads it"
        yield CHECK.problem_in(source.area(declared), says)
    for node in source.inside(function.body, "return_statement"):
        words = source.said(node).removeprefix("return").strip(" ;")
        if words in {interpreter, f"std::move({interpreter})"}:
            says = f"{name} is freed here, and the interpreter that is returned still reads it"
            yield CHECK.problem_in(source.area(node), says)


def _kept(source: CppSource, place: Node) -> bool:
    """Whether the model itself is handed to somebody: moved, released, returned, put beside it."""
    outer = place.parent
    if not outer or outer.kind in {"argument_list", "initializer_list", "return_statement"}:
        return True
    return source.said(outer) in {f"{source.said(place)}.release", f"{source.said(place)}.swap"}
