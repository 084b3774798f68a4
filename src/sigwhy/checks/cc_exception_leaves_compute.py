"""An exception may leave a kernel.

What happens: TensorFlow runs kernels on threads of its own, and nothing there catches exceptions: the process ends in ``terminate called after throwing
an instance of ...`` (SIGABRT). Where it runs on the caller's thread the exception passes through frames that do not expect it, and locks stay locked.

How to tell: ``throw`` in ``Compute`` or ``ComputeAsync``, or ``std::stoi`` and its kin, which throw for texts that are no numbers, without a ``try`` around it.

Fix: ``OP_REQUIRES(ctx, condition, errors::InvalidArgument("..."))`` instead of ``throw``; ``strings::safe_strto32`` instead of ``std::stoi``; around libraries that throw a ``try``
that makes a status of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.cpp_source import CppSource, Function, Node

CHECK = Check(
    id="cc-exception-leaves-compute",
    title="an exception may leave a kernel",
    fix="OP_REQUIRES(ctx, condition, errors::InvalidArgument(...)), or a try that makes a status of it",
    severity="warning",
    words=("OpKernelContext",),
)
KERNELS = {"Compute", "ComputeAsync"}
THROW = {"stoi", "stol", "stoll", "stoul", "stoull", "stof", "stod", "stold"}


def look(source: CppSource) -> Iterator[Problem]:
    """Yield what throws and is not caught."""
    for function in source.functions:
        if function.name not in KERNELS or not function.context:
            continue
        nodes = [(n, "throw") for n in source.inside(function.body, "throw_statement")]
        for call in function.calls:
            called = call.node.part("function")
            if call.name in THROW and called and source.said(called) == f"std::{call.name}":
                nodes.append((call.node, f"std::{call.name}"))
        for node, name in sorted(nodes, key=lambda pair: pair[0].at):
            if not _caught(function, node):
                says = f"what {name} throws leaves {function.name}: the process is terminated"
                yield CHECK.problem_in(source.area(node), says)


def _caught(function: Function, node: Node) -> bool:
    """Whether a ``try`` stands around it; what a handler throws on leaves it."""
    inner = node
    for outer in node.around():
        if outer is function.node:
            return False
        if outer.kind == "try_statement" and inner.role == "body":
            return True
        inner = outer
    return True
