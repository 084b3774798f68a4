"""An operator has too few or too many operands, or one is left out that must be there.

What happens: a kernel asks for its inputs and outputs by number. Most kernels check how many there are; those that do not, and those whose operand is -1, follow a null
pointer: SIGSEGV in AllocateTensors, without a word.

How to tell: each operator has the operands of its definition; -1, which says that an operand was left out, stands only where the definition allows that.

Fix: export the model again with a converter not newer than the runtime; where a tool cut operands out, give them back.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sigwhy.model.check import Check
from sigwhy.tflite.contracts import CONTRACTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Operator, TfliteModel

CHECK = Check(
    id="tflite-operands",
    title="an operator has not the operands that it needs",
    fix="export the model again",
)
LEFT_OUT = -1
# Operators that may leave out what their definition wants, or whose definition says nothing.
FREE = {"CUSTOM", "DELEGATE", "WHILE", "IF", "CALL_ONCE", "CALL", "STABLEHLO_COMPOSITE"}
# Operands that need not be there at all, but may not be -1.
FEWEST_INPUTS = {"RESHAPE": 1}


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield wrong numbers of operands, and those that are left out."""
    for graph in model.subgraphs:
        for operator in graph.operators:
            if not operator.known or operator.name in FREE:
                continue
            contract = CONTRACTS.get(operator.name)
            taken, given = parts(contract or "many* -> many*")
            yield from _side(operator, "input", operator.inputs, taken)
            yield from _side(operator, "output", operator.outputs, given)


@cache
def parts(contract: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The operands of a contract."""
    taken, _, given = contract.partition("->")
    return tuple(taken.split()), tuple(given.split())


def _side(
    operator: Operator,
    side: str,
    indices: tuple[int, ...] | None,
    wanted: Sequence[str],
) -> Iterator[Problem]:
    if indices is None and wanted:
        yield CHECK.problem(f"it has no list of {side}s", place=operator.place)
        return
    indices = indices or ()
    low = sum(not word.endswith(("?", "*")) for word in wanted)
    many = any(word.endswith("*") for word in wanted)
    high = len(wanted)
    low = FEWEST_INPUTS.get(operator.name, low) if side == "input" else low
    if len(indices) < low or (len(indices) > high and not many):
        takes = (
            f"{low}"
            if low == high and not many
            else f"{low} or more"
            if many
            else f"{low} to {high}"
        )
        says = f"it has {len(indices)} {side}s, and takes {takes}"
        yield CHECK.problem(says, place=operator.place)
    for n, index in enumerate(indices):
        word = wanted[n] if n < len(wanted) else "many*"
        if index == LEFT_OUT and not word.endswith("?") and not word.startswith("many"):
            name = word.rstrip("*")
            says = f"{name} is left out (-1), and the kernel reads it without looking"
            yield CHECK.problem(says, place=f"{operator.place}, {side} {n}")
