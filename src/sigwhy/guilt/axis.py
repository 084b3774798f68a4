"""A number that should name a dimension names none, and nobody checked it before memory was touched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.trial import Trial

MEMORY = frozenset({"SIGSEGV", "SIGBUS"})
AXIS = re.compile(r"(?:^|_)(?:axis|axes|dims?|dimension)\d?$")
FAR = 64  # more dimensions than anything has


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each axis that lies far outside of every input's dimensions."""
    if trial.signal not in MEMORY:
        return
    most = max((len(a.shape or ()) for a in trial.operation.inputs), default=0)
    for argument in trial.operation.attributes if most else ():
        for _, value in whole_numbers(argument) if AXIS.search(argument.name) else ():
            if abs(value) > FAR:
                yield Charge(
                    argument=argument,
                    rule="axis",
                    says=f"{argument.name} = {value} is no dimension of an input of rank {most}",
                    shown_by=trial.fault,
                    value=str(value),
                    wanted=f"{-most} to {most - 1}",
                )
                break
