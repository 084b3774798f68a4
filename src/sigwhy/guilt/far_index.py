"""Somewhere in an input of whole numbers stands one that leads out of what it indexes.

Of a large input only the first values are kept, and the smallest and the largest of all. The address of
the fault is the witness: data + value * step. Without it, a value that can be an index of nothing here
is at least odd.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Trial

MEMORY = frozenset({"SIGSEGV", "SIGBUS", "SIGABRT"})
INDEXES = re.compile(
    r"(?:^|_)(?:ind(?:ex|ices)|idx|ids?|targets?|labels?|offsets?|lengths?|mask|crow|crow_indices)(?:_|\d|$|s$)"
)
COUNTS = re.compile(r"(?:^|_)(?:lengths?|sizes?|counts?|offsets?)$")
# What the numbers of a part of a sparse tensor count: places in its shape, or in its values.
PARTS = {".indices": "", ".plain_indices": "", ".compressed_indices": ".values"}
ITEMS = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16}
LETTERS = "abcdefghijklmnopqrstuvwxyz_"
FAR = 1 << 12  # smaller numbers fit to an address by chance
SLACK = 64  # bytes that an instruction takes at once
MOST_STEPS = 16


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each input with a value that leads too far."""
    if trial.signal not in MEMORY:
        return
    given = [a for a in trial.operation.inputs if a.extremes]
    sparse = [c for a in given for c in _of_sparse(trial, a)]
    exact = [c for a in given for c in (*_by_address(trial, a), *_by_count(trial, a))]
    yield from sparse or exact or [c for a in given for c in _odd(trial, a)]


def _of_sparse(trial: Trial, argument: Argument) -> Iterator[Charge]:
    """The indices of a sparse tensor stand beside its shape."""
    part = next((part for part in PARTS if argument.name.endswith(part)), None)
    if part is None:
        return
    whole = argument.name.removesuffix(part)
    owner = next((a for a in trial.operation.inputs if a.name == whole + PARTS[part]), None)
    most = max(owner.shape or [0], default=0) + bool(PARTS[part]) if owner else 0
    low, high = argument.extremes[0], argument.extremes[-1]
    wrong = low if low < 0 else high
    if owner and not (low >= 0 and high < most):
        yield Charge(
            argument=argument,
            rule="index",
            says=f"{argument.name} holds {wrong}, and {owner.name} has the shape {owner.shape}",
            shown_by=trial.fault,
            value=str(wrong),
            wanted=f"0 to {most - 1}",
        )


def _by_address(trial: Trial, argument: Argument) -> Iterator[Charge]:
    address = trial.address
    others = [a for a in (*trial.operation.inputs, *trial.operation.outputs) if a is not argument]
    for value in dict.fromkeys(argument.extremes) if address is not None else ():
        for data in others:
            if abs(value) >= FAR and _leads_to(data, value, address or 0):
                yield Charge(
                    argument=argument,
                    rule="index",
                    says=f"{argument.name} holds {value}, which leads from {data.name} to the address of the fault",
                    shown_by=trial.fault,
                    value=str(value),
                    wanted=f"an index of {data.name}, whose shape is {data.shape}",
                )
                return


def _leads_to(data: Argument, index: int, address: int) -> bool:
    item = _item(data)
    if not data.address or 0 <= index < max(data.shape or [0], default=0):
        return False
    steps = {1, *(abs(step) for step in (data.strides or [])[:MOST_STEPS])}
    return any(
        -SLACK <= address - (data.address + index * step * item) < step * item + SLACK
        for step in steps
    )


def _item(data: Argument) -> int:
    return ITEMS.get(data.dtype.lstrip(LETTERS).partition("_")[0], 1)


def _by_count(trial: Trial, argument: Argument) -> Iterator[Charge]:
    """So many elements are said to be there that the access ran over the end of those that are."""
    address, value = trial.address or 0, max(argument.extremes)
    for data in trial.operation.inputs if COUNTS.search(argument.name.lower()) else ():
        item = _item(data)
        if data is argument or not data.address or value <= (data.elements or 0) + FAR:
            continue
        if data.address + (data.elements or 0) * item <= address < data.address + value * item:
            yield Charge(
                argument=argument,
                rule="index",
                says=f"{argument.name} holds {value}, and {data.name} has {data.elements} elements: its end was passed",
                shown_by=trial.fault,
                value=str(value),
                wanted=f"at most {data.elements}",
            )
            return


def _odd(trial: Trial, argument: Argument) -> Iterator[Charge]:
    """An index larger than everything that is here."""
    sizes = [a.elements or 0 for a in trial.operation.inputs if a is not argument]
    most = max(sizes, default=0)
    wrong = next((v for v in argument.extremes if not -most - 1 <= v <= most), None)
    if wrong is not None and INDEXES.search(argument.name.lower()):
        yield Charge(
            argument=argument,
            rule="index",
            says=f"{argument.name} holds {wrong}, which is an index of nothing here",
            shown_by=trial.fault,
            value=str(wrong),
            wanted="an index of the data",
            fit="likely",
        )
