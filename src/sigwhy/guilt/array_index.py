"""An element that memory showed to lead to the address of the fault, far from the first ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.trial import Trial


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield the element; where the search was made, the address of the fault was compared."""
    for argument in trial.operation.attributes if trial.signal == "SIGSEGV" else ():
        if argument.kind == "index" and argument.values:
            value = argument.values[0]
            into = argument.text or "the other array"
            yield Charge(
                argument=argument,
                rule="index",
                says=f"{argument.name} = {value} leads outside of {into}, to the address of the fault",
                shown_by=trial.fault,
                value=str(value),
                wanted=f"an index inside of {into}",
            )
