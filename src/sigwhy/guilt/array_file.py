"""The array is mapped from a file, and the file ends before the address that was touched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.extent import holds
from sigwhy.model.trial import Charge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.trial import Trial


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield the array that holds the address behind the end of its file."""
    place = trial.place
    if place is None or place.relation != "beyond-file":
        return
    for argument in trial.operation.inputs:
        if argument.kind == "array" and holds(argument, place.address):
            yield Charge(
                argument=argument,
                rule="file",
                says=f"{argument.name} is mapped from {argument.mapped or place.mapping}, which has only {place.file_size} bytes by now",
                shown_by=place,
                value=argument.mapped or place.mapping,
                cause="file-truncated",
            )
