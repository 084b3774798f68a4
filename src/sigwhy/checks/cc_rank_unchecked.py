"""A kernel takes an input for a matrix without asking whether it is one.

What happens: ``matrix<T>()``, ``vec<T>()`` and ``tensor<T, N>()`` check the number of dimensions, and abort the process when it is another (SIGABRT,
``Check failed: dims() == 2``). A caller only has to pass a vector.

How to tell: such an accessor on an input, and nothing before it in the function that looks at the dimensions of this input: no ``dims()``, no ``TensorShapeUtils``, no other
function that gets the input or the context. Only for operations that are registered in the same file, and whose shape function does not ask either.

Fix: ``OP_REQUIRES(ctx, TensorShapeUtils::IsMatrix(x.shape()), errors::InvalidArgument("x must be a matrix"));``
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.cpp_source import Call, CppSource, Function, Node

CHECK = Check(
    id="cc-rank-unchecked",
    title="nobody asks how many dimensions an input has",
    fix="OP_REQUIRES(ctx, TensorShapeUtils::IsMatrix(x.shape()), errors::InvalidArgument(...)) before it",
    severity="warning",
    words=("OpKernelContext",),
)
WANTED = {"matrix": "a matrix", "vec": "a vector", "tensor": "a tensor of fixed rank"}
# What is asked of a tensor without learning its rank.
BLIND = {
    *WANTED, "NumElements", "TotalBytes", "flat", "unaligned_flat", "dim_size", "dtype", "tensor_data",
}  # fmt: skip
COPIES = {"allocate_output", "allocate_temp"}  # of these the shape is only passed on
MACROS = ("OP_REQUIRES", "errors::")
MOST = 100  # in one function


def look(source: CppSource) -> Iterator[Problem]:
    """Yield each accessor that takes a rank for granted."""
    for function in source.functions:
        op = source.op_of_class.get(function.owner)
        if not op or not function.context:
            continue
        for call, index in _accessors(source, function)[:MOST]:
            shape = op.shape_function or ""
            if "Rank" in shape and f"input({index})" in shape:
                continue
            if not _asked(source, function, index, call):
                what = WANTED[call.name]
                says = f"input {index} is taken for {what}, and nobody asked: with another rank the process aborts"
                yield CHECK.problem_in(source.area(call.node), says)


def _accessors(source: CppSource, function: Function) -> list[tuple[Call, str]]:
    """The calls that want a rank, each with the number of the input."""
    names = {name: index for index, some in _inputs(source, function).items() for name in some}
    found = []
    for call in function.calls:
        if call.name in WANTED and call.receiver and not call.args:
            index = names.get(source.said(call.receiver)) or _index(source, function, call.receiver)
            if index:
                found.append((call, index))
    return found


def _inputs(source: CppSource, function: Function) -> dict[str, list[str]]:
    """The variables that are inputs, by the number of the input."""
    found: dict[str, list[str]] = {}
    for name, values in source.values(function).items():
        index = _index(source, function, values[0])
        if index and len(values) == 1:
            found.setdefault(index, []).append(name)
    return found


def _index(source: CppSource, function: Function, node: Node) -> str | None:
    words = source.said(node)
    start = f"{function.context}->input("
    index = words[len(start) : -1].strip()
    return index if words.startswith(start) and words.endswith(")") and index.isdecimal() else None


def _asked(source: CppSource, function: Function, index: str, accessor: Call) -> bool:
    """Whether something before the accessor may have looked at the rank."""
    variables = _inputs(source, function).get(index, [])
    named = [node for name in variables for node in source.names(function, name)]
    for call in function.calls:
        if call.node.at >= accessor.node.at:
            break
        macro = call.name.startswith("OP_REQUIRES")
        if not macro and any(source.said(arg) == function.context for arg in call.args):
            return True
        if _index(source, function, call.node) == index:
            named.append(call.node)
    before = (node for node in named if node.at < accessor.node.at)
    return any(_learns(source, node) for node in before if not accessor.node.holds(node))


def _learns(source: CppSource, node: Node) -> bool:
    """Whether a place where an input is named may tell its rank."""
    outer = node.parent
    if (
        not outer
        or outer.role == "declarator"
        or outer.kind in {"init_declarator", "reference_declarator"}
    ):
        return False
    if outer.kind != "field_expression":
        return True
    field = outer.part("field")
    name = source.said(field).removeprefix("template ").split("<")[0] if field else ""
    if name != "shape":
        return name not in BLIND
    call = outer.parent
    given = call.parent if call else None
    taker = given.parent if given else None
    called = taker.part("function") if taker and taker.kind == "call_expression" else None
    return not called or source.said(called).split(">")[-1] not in COPIES
