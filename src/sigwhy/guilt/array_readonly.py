"""The call wrote into an array whose memory may only be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.extent import holds
from sigwhy.model.trial import Charge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.trial import Trial


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield the array that holds an address which may be read and was written."""
    place, fault = trial.place, trial.fault
    if place is None or fault is None or trial.code != "SEGV_ACCERR":
        return
    rights = place.rights or ""
    if fault.access != "write" or not rights.startswith("r-"):
        return
    for argument in trial.operation.inputs:
        if argument.kind == "array" and holds(argument, fault.address):
            yield Charge(
                argument=argument,
                rule="read-only",
                says=f"{argument.name} was written, and its memory may only be read",
                shown_by=place,
                value=rights,
                wanted="a copy, or memory that may be written",
                cause="buffer-aliasing",
            )
