"""A kernel asks for an input or an output that its operation does not have.

What happens: ``ctx->input(2)`` of an operation with two inputs fails a check of TensorFlow and aborts the process (SIGABRT, ``Check failed:
index < num_inputs()``); ``set_output`` and ``mutable_output`` do the same. ``allocate_output`` refuses with an error each time.

How to tell: a constant index beyond the ``.Input`` and ``.Output`` of the ``REGISTER_OP`` in the same file. Operations with lists of inputs, and classes that are registered
for several operations, are left alone.

Fix: count from 0, and change ``REGISTER_OP`` and the kernel together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.cpp_source import CppSource

CHECK = Check(
    id="cc-input-index",
    title="there is no such input or output",
    fix="count from 0, and change REGISTER_OP and the kernel together",
    words=("REGISTER_OP",),
)
INPUTS = {"input"}
OUTPUTS = {"set_output", "mutable_output", "allocate_output"}
REFUSES = {"allocate_output"}


def look(source: CppSource) -> Iterator[Problem]:
    """Yield indices beyond the registration."""
    for function in source.functions:
        op = source.op_of_class.get(function.owner)
        if not op or not function.context:
            continue
        for call in function.calls:
            there = op.inputs if call.name in INPUTS else op.outputs
            if call.name not in INPUTS | OUTPUTS or there is None or not call.receiver:
                continue
            index = source.said(call.args[0]) if call.args else ""
            if source.said(call.receiver) != function.context or not index.isdecimal():
                continue
            if len(index) < 10 and int(index) >= there:
                kind = "input" if call.name in INPUTS else "output"
                says = f"{op.name} is registered with {there} {kind}{'s' * (there != 1)}: there is no {kind} {index}"
                yield CHECK.problem_in(
                    source.area(call.node),
                    says,
                    severity="warning" if call.name in REFUSES else "error",
                )
