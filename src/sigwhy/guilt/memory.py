"""The memory of an input is gone, may not be touched, or ends before its last element.

Then no value is wrong: somebody lent memory, and took it away. What a file was mapped for is gone when the
file shrank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Trial

MEMORY = frozenset({"SIGSEGV", "SIGBUS"})
SAYS = {
    "gone": "the memory of {name} is not there any more",
    "protected": "the memory of {name} may not be touched",
}
ITEMS = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16}


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each input whose memory is not there while it is used."""
    for argument in trial.operation.inputs if trial.signal in MEMORY else ():
        if argument.standing in SAYS and not argument.constant:  # a model is the model's affair
            of_a_file = trial.signal == "SIGBUS" and argument.mapped
            says = SAYS[argument.standing].format(name=argument.name)
            yield Charge(
                argument=argument,
                rule="protected" if argument.standing == "protected" else "freed",
                says=f"{says} ({argument.mapped} shrank)" if of_a_file else says,
                shown_by=trial.fault,
                value=f"{argument.address:#x}" if argument.address else None,
                fit="exact" if _holds(argument, trial.address) else "likely",
                cause="file-truncated" if of_a_file else "buffer-aliasing",
            )


def _holds(argument: Argument, address: int | None) -> bool:
    """Whether the access that failed went into this very memory."""
    begin = argument.address
    if address is None or begin is None:
        return False
    size = (argument.elements or 1) * _item(argument.dtype)
    if argument.storage:
        begin, size = min(begin, argument.storage[0]), max(size, argument.storage[1])
    return begin <= address < begin + size


def _item(dtype: str) -> int:
    bits = dtype.lstrip("abcdefghijklmnopqrstuvwxyz_")
    return ITEMS.get(bits, 1)
