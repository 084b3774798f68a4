"""A read near null while an input has no elements: there is no memory behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge, is_tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Trial

FIRST_PAGES = 1 << 16


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each empty input, where memory near null was touched."""
    address = trial.address
    if trial.signal != "SIGSEGV" or address is None or address >= FIRST_PAGES:
        return
    found = [a for a in trial.operation.inputs if is_tensor(a) and _is_empty(a)]
    for argument in found:
        yield Charge(
            argument=argument,
            rule="empty",
            says=f"{argument.name} is empty, and its first element was asked for",
            shown_by=trial.fault,
            value=f"shape {argument.shape}",
            wanted="at least one element",
            fit="exact" if len(found) == 1 and trial.operation.state == "running" else "likely",
        )


def _is_empty(argument: Argument) -> bool:
    return argument.elements == 0 or 0 in (argument.shape or ())
