"""A tensor that is larger than the storage it looks into: the storage was freed or made smaller under it.

PyTorch refuses to make such a view. So the storage changed afterwards: ``resize_`` of a storage that others
share, as sharded training does with parameters, or ``set_``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Fit, Trial

MEMORY = frozenset({"SIGSEGV", "SIGBUS"})
OF_VIEWS = "torch"
ITEMS = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16}
LETTERS = "abcdefghijklmnopqrstuvwxyz_"
SLACK = 4096  # a kernel looks a little ahead


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each tensor whose elements do not fit into its storage."""
    if trial.signal not in MEMORY or trial.operation.framework != OF_VIEWS:
        return
    for argument in trial.operation.inputs:
        reach = _reach(argument)
        if reach is None or argument.storage is None or argument.standing == "device":
            continue
        begin, size = argument.storage
        if reach <= size:
            continue
        says = f"{argument.name} needs {reach} bytes, and its storage has {size}: it was resized"
        if not begin:
            says = f"{argument.name} has {argument.elements} elements, and its storage was freed"
        yield Charge(
            argument=argument,
            rule="freed" if not begin else "view",
            says=says,
            shown_by=trial.fault,
            value=f"storage of {size} bytes",
            wanted=f"a storage of {reach} bytes",
            fit=_fit(trial, begin, size, reach),
            cause="buffer-aliasing",
        )


def _fit(trial: Trial, begin: int, size: int, reach: int) -> Fit:
    """Whether the access that failed went behind the storage, and no further than the tensor reaches."""
    address = trial.address
    inside = address is not None and begin + size <= address < begin + reach + SLACK
    return "exact" if inside else "likely"


def _reach(argument: Argument) -> int | None:
    """How many bytes of its storage a tensor uses; None where that is not known."""
    if not argument.elements or argument.shape is None or argument.strides is None:
        return None
    item = ITEMS.get(argument.dtype.lstrip(LETTERS).partition("_")[0], 1)
    pairs = zip(argument.shape, argument.strides, strict=False)
    last = sum((size - 1) * step for size, step in pairs if step > 0)
    return ((argument.offset or 0) + last + 1) * item
