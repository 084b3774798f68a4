"""What a C++ file registers: operations with their inputs and outputs, and the classes that compute them.

Looks like::

REGISTER_OP("Twice").Input("x: float").Output("y: float").SetShapeFn(UnchangedShape);
REGISTER_KERNEL_BUILDER(Name("Twice").Device(DEVICE_CPU), TwiceOp<float>);
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sigwhy.subjects.cpp_source import Call, CppSource, Node

# By text, since most of these stand in macros, which have no tree.
KERNEL = re.compile(
    r'REGISTER_KERNEL_BUILDER\([\s\\]*Name\(\s*"(\w{1,99})"\s*\)([^;#]{0,800}?),[\s\\]*((?:\w{1,99}::){0,9}\w{1,99})\s*(?:<[^;()]{0,200}>)?\s*\)'
)
# "values: N * T", "parts: Tlist" where Tlist is a list.
LIST = re.compile(r'"\s*(\w+)\s*:\s*list\(')
ARGUMENT = re.compile(r'^"\s*\w+\s*:\s*(?:Ref\(\s*)?(\w+)\s*\)?\s*"$')
CHAIN = 400


@dataclass(frozen=True, slots=True)
class Op:
    """A registered operation; ``inputs`` and ``outputs`` are None where a list makes their number open."""

    name: str
    node: Node
    inputs: int | None
    outputs: int | None
    shape_function: str | None


def ops(source: CppSource) -> dict[str, Op]:
    """The operations, by name."""
    found = {}
    for call in source.calls:
        if call.name == "REGISTER_OP" and call.args and call.args[0].kind == "string_literal":
            name = source.said(call.args[0]).strip('"')
            found[name] = _op(source, name, call)
    return found


def op_of_class(source: CppSource, registered: Mapping[str, Op]) -> dict[str, Op]:
    """The operation of each class; without those that compute several, or one that is registered elsewhere."""
    names: dict[str, set[str]] = {}
    for match in KERNEL.finditer(source.text):
        names.setdefault(match[3].split("::")[-1], set()).add(match[1])
    return {
        owner: registered[next(iter(some))]
        for owner, some in names.items()
        if len(some) == 1 and some <= registered.keys()
    }


def _op(source: CppSource, name: str, call: Call) -> Op:
    given: dict[str, list[str]] = {"Input": [], "Output": [], "Attr": [], "SetShapeFn": []}
    for step, words in _steps(source, call.node):
        given.setdefault(step, []).append(words)
    lists = {m[1] for words in given["Attr"] if (m := LIST.search(words))}
    return Op(
        name,
        call.node,
        _count(given["Input"], lists),
        _count(given["Output"], lists),
        " ".join(given["SetShapeFn"]) or None,
    )


def _steps(source: CppSource, node: Node) -> list[tuple[str, str]]:
    """``.Input("x: float")`` and so on, each with its words."""
    steps: list[tuple[str, str]] = []
    while node.parent and node.parent.kind == "field_expression" and len(steps) < CHAIN:
        name, outer = node.parent.part("field"), node.parent.parent
        if not name or not outer or outer.kind != "call_expression":
            break
        given = outer.part("arguments")
        steps.append((source.said(name), source.said(given)[1:-1].strip() if given else ""))
        node = outer
    return steps


def _count(arguments: list[str], lists: set[str]) -> int | None:
    for words in arguments:
        kind = ARGUMENT.match(words)
        if not kind or kind[1] in lists:
            return None
    return len(arguments)
