"""The memory that an array reaches, by its shape and its strides."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sigwhy.model.operation import Argument

BITS = re.compile(r"^>?[a-z]+(?P<bits>\d{1,3})$")
OTHERS = {"bool": 1, "object": 8}


def item_bytes(dtype: str) -> int | None:
    """How many bytes an element has, where its type tells."""
    found = BITS.match(dtype)
    return int(found["bits"]) // 8 if found else OTHERS.get(dtype)


def extent(argument: Argument) -> tuple[int, int] | None:
    """From the first byte to behind the last one; None where it has none, or it is not known."""
    item, begin, shape = item_bytes(argument.dtype), argument.address, argument.shape
    if item is None or begin is None or shape is None or argument.strides is None:
        return None
    if 0 in shape or len(shape) != len(argument.strides):
        return None
    steps = [step * (n - 1) * item for n, step in zip(shape, argument.strides, strict=True)]
    low = begin + sum(step for step in steps if step < 0)
    return low, begin + sum(step for step in steps if step > 0) + item


def holds(argument: Argument, address: int | None) -> bool:
    """Whether an address lies in the memory that an array reaches."""
    found = extent(argument)
    return address is not None and found is not None and found[0] <= address < found[1]
