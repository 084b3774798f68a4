"""A memory fault whose address is data + index * size, or whose index register holds a value of an input.

The address is the best witness: where ``values`` begins at A, has items of 4 bytes, and the fault is at
A - 4, an index of -1 among the inputs explains it to the byte. Where the address does not tell, the
registers of the instruction do, if the value in them is rare.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge, at, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Trial

MEMORY = frozenset({"SIGSEGV", "SIGBUS"})
OPERAND = re.compile(r"\[(?P<operand>[^\]]{1,60})\]")
REGISTERS = re.compile(r"(?<![\w])r(?:[abcd]x|[sd]i|bp|\d{1,2})\b|\bx\d{1,2}\b")
INDEXES = re.compile(
    r"(?:^|_)(?:ind(?:ex|ices)|ids?|position|offset|begin|start|splits?|row_partition\w*|axis|segment\w*|boxes_ind|labels?|coords?)(?:_|$|s$)"
)
ITEMS = {
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int8": 1, "uint8": 1, "bool": 1,
    "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8, "complex64": 8,
    "complex128": 16, "qint8": 1, "quint8": 1, "qint16": 2, "quint16": 2, "qint32": 4, "string": 24,
}  # fmt: skip
TOP = 1 << 64
RARE = 1 << 12
MOST_VALUES = 4096


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each value that leads outside of what it indexes."""
    if trial.signal not in MEMORY:
        return
    by_address = [c for a in trial.arguments for c in _by_address(trial, a)]
    by_register = [c for a in trial.arguments for c in _by_register(trial, a)]
    yield from by_address or by_register
    if not by_address and not by_register:
        yield from _negative(trial)


def _by_address(trial: Trial, argument: Argument) -> Iterator[Charge]:
    address = trial.address
    others = [a for a in (*trial.operation.inputs, *trial.operation.outputs) if a is not argument]
    for n, value in _numbers(argument) if address is not None else ():
        for data in others:
            if _leads_to(data, value, address or 0):
                name, size = at(argument, n), (data.shape or [0])[0]
                yield Charge(
                    argument=argument,
                    rule="index",
                    says=f"{name} = {value} leads outside of {data.name}, whose first size is {size}",
                    shown_by=trial.fault,
                    value=str(value),
                    wanted=f"0 to {size - 1}",
                )
                return


def _leads_to(data: Argument, index: int, address: int) -> bool:
    """Whether the row of this number, counted from the begin of the data, is where the fault was."""
    item, shape = ITEMS.get(data.dtype), data.shape
    if not (data.address and item and shape) or 0 <= index < shape[0]:
        return False
    row = item
    for size in shape[1:]:
        row *= size
    begin = data.address + index * row
    return row > 0 and begin <= address < begin + row


def _by_register(trial: Trial, argument: Argument) -> Iterator[Charge]:
    held = _in_operand(trial)
    for n, value in _numbers(argument):
        rare = value < 0 or value >= RARE
        name = next((name for name, word in held.items() if word in {value, value % TOP}), None)
        if name and rare:
            yield Charge(
                argument=argument,
                rule="index",
                says=f"{at(argument, n)} = {value} is what the instruction counted with, in {name}",
                shown_by=trial.instruction,
                value=str(value),
                wanted="an index inside of the data",
                fit="exact" if INDEXES.search(argument.name) else "likely",
            )
            return


def _in_operand(trial: Trial) -> dict[str, int]:
    """The registers between the brackets, and what they hold."""
    text = trial.instruction.text if trial.instruction else ""
    found = OPERAND.search(text)
    names = REGISTERS.findall(found["operand"]) if found else []
    return {name: trial.registers[name] for name in names if name in trial.registers}


def _negative(trial: Trial) -> Iterator[Charge]:
    """A negative index in an operation that died of memory; it may have been meant from the end."""
    for argument in trial.arguments:
        if not INDEXES.search(argument.name) or argument.name.endswith("axis"):
            continue
        worst = min(_numbers(argument), key=lambda pair: pair[1], default=(0, 0))
        if worst[1] < 0:
            yield Charge(
                argument=argument,
                rule="index",
                says=f"{at(argument, worst[0])} = {worst[1]} is negative, and memory before the data was touched",
                shown_by=trial.fault,
                value=str(worst[1]),
                wanted="0 or more",
                fit="likely",
            )


def _numbers(argument: Argument) -> list[tuple[int, int]]:
    return list(whole_numbers(argument))[:MOST_VALUES]
