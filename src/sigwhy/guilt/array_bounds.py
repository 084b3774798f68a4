"""An array reaches further than the memory that it was made from, and the access went there.

``as_strided`` and ``numpy.ndarray(buffer=…)`` take shape and strides on trust.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.extent import extent, holds
from sigwhy.model.trial import Charge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.trial import Trial

MEMORY = frozenset({"SIGSEGV", "SIGBUS"})


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each array whose owner's memory ends before the address of the fault."""
    address = trial.address
    for argument in trial.operation.inputs if trial.signal in MEMORY and address else ():
        reaches, owned = extent(argument), argument.storage
        if argument.kind != "array" or reaches is None or owned is None or address is None:
            continue
        begin, size = owned
        inside = begin <= address < begin + size
        leaves = reaches[0] < begin or reaches[1] > begin + size
        if holds(argument, address) and leaves and not inside:
            yield Charge(
                argument=argument,
                rule="view",
                says=f"{argument.name} reaches over {reaches[1] - reaches[0]} bytes, and the memory it was made from has {size}",
                shown_by=trial.fault,
                value=f"shape {argument.shape}, strides {argument.strides}",
                wanted=f"a shape and strides that stay within {size} bytes",
                cause="buffer-aliasing",
            )
