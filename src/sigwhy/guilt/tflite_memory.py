"""An operator wrote to memory that could not be had: its output has elements, and no data.

TensorFlow Lite before 2.3 of LiteRT does not look whether an allocation failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.trial import Trial

FIRST_PAGES = 1 << 16
MUCH = 1 << 26  # elements


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each output without memory, in the middle of an inference."""
    operation, address = trial.operation, trial.address
    if operation.framework != "tflite" or trial.signal != "SIGSEGV" or operation.phase != "invoke":
        return
    for argument in operation.outputs:
        count = argument.elements or 0
        lacks = argument.standing == "missing" and count > 0
        if lacks and (address is None or address < FIRST_PAGES or count >= MUCH):
            yield Charge(
                argument=argument,
                rule="huge",
                says=f"there was no memory for {argument.name}, which has {count} elements",
                shown_by=trial.fault,
                value=f"shape {argument.shape}",
                wanted="fewer elements, or a higher memory limit",
                fit="exact" if count >= MUCH else "likely",
                cause="memory-demand",
            )
