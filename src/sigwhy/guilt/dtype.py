"""A failed check that compares types: ``dtype() == expected_dtype (1 vs. 3) int32 expected, got float``.

What a handle leads to (a variable, a table) has one type, and the call was made for another one. The
guilty one is what brought the other type into the call: a tensor, or an attribute such as ``dtype``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.fact import Check
    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Trial

COMPARED = re.compile(r"^(?:dtype\(\) == expected_dtype|expected_dtype == dtype\(\))$")
WORDS = re.compile(r"\b(?P<wanted>\w{1,20}) expected, got (?P<got>\w{1,20})")
HANDLES = frozenset({"resource", "variant"})
# The framework's own words for some types, and everybody's.
NAMES = {"float": "float32", "double": "float64", "half": "float16"}
INDEXES = re.compile(r"^T(?:indices|idx|index|shape|dim|out_idx|keep)|_(?:indices|ids)$|^indices$")


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield what brought another type into the call than the handle holds."""
    for check in trial.checks:
        words = WORDS.search(f"{check.detail} {check.span.words}")
        if COMPARED.match(check.expression) and words:
            yield from _of_types(trial, check, plain(words["wanted"]), plain(words["got"]))


def plain(name: str) -> str:
    """A type as NumPy calls it."""
    name = name.removeprefix("DT_").lower().removesuffix("_ref")
    return NAMES.get(name, name)


def _of_types(trial: Trial, check: Check, wanted: str, got: str) -> Iterator[Charge]:
    operation = trial.operation
    handles = [a for a in operation.inputs if a.dtype in HANDLES or a.kind in HANDLES]
    if len(handles) > 1:
        yield from _handles(handles, check, wanted, got)
        return
    given = [a for a in operation.inputs if plain(a.dtype) == wanted and not INDEXES.search(a.name)]
    types = [a for a in operation.attributes if _type(a) in {wanted, got}]
    for argument in given or [a for a in types if not INDEXES.search(a.name)]:
        own = plain(argument.dtype) if argument in given else _type(argument)
        other = got if own == wanted else wanted
        name = handles[0].name if handles else ""
        yield Charge(
            argument=argument,
            rule="dtype",
            says=f"{argument.name} is {own}, {_leads(name)} is {other}",
            shown_by=check,
            value=own,
            wanted=other,
            fit="exact" if handles else "likely",
        )


def _leads(name: str) -> str:
    return f"what {name} leads to" if name else "what was found"


def _handles(handles: list[Argument], check: Check, wanted: str, got: str) -> Iterator[Charge]:
    """Several handles: one of them leads to the other type, and the check does not say which."""
    for argument in handles:
        yield Charge(
            argument=argument,
            rule="dtype",
            says=f"{_leads(argument.name)} is {got}, the call is made for {wanted}",
            shown_by=check,
            value=got,
            wanted=wanted,
        )


def _type(argument: Argument) -> str | None:
    if argument.kind != "dtype":
        return None
    words = argument.text or argument.dtype or next((str(v) for v in argument.values), "")
    return plain(words)
