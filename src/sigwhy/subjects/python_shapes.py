"""What calls that change a tensor make of it: its shape, its type, its values, where all that matters is known."""

from __future__ import annotations

from math import ceil, prod
from typing import TYPE_CHECKING, Any

import msgspec

from sigwhy.model.operation import Argument

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_VALUES = 4096
# What NumPy makes of Python's numbers, where TensorFlow takes the half.
OF_NUMPY = {"int32": "int64", "float32": "float64"}


def reshaped(found: Argument, shape: Any) -> Argument | None:
    """The same values in another shape; one size may be -1."""
    sizes = [shape] if isinstance(shape, int) else shape
    if not isinstance(sizes, list) or any(type(n) is not int or n < -1 for n in sizes):
        return None
    count = found.elements
    if count is None or sizes.count(-1) > 1:
        return None
    if -1 in sizes:
        rest = prod(n for n in sizes if n != -1)
        if not rest or count % rest:
            return None
        sizes = [count // rest if n == -1 else n for n in sizes]
    return tensor(found, sizes) if prod(sizes) == count else None


def expanded(found: Argument, axis: Any) -> Argument | None:
    """The same values with one more dimension of size 1."""
    if found.shape is None or type(axis) is not int:
        return None
    rank = len(found.shape)
    if not -rank - 1 <= axis <= rank:
        return None
    at = axis if axis >= 0 else axis + rank + 1
    return tensor(found, [*found.shape[:at], 1, *found.shape[at:]])


def tensor(found: Argument, shape: list[int]) -> Argument:
    """The same values as a tensor of this shape."""
    return msgspec.structs.replace(found, shape=shape, kind="tensor")


def counted(name: str, numbers: list[Any]) -> Argument | None:
    """``range(3)``, ``arange(0, 1, 0.1)``."""
    if not 1 <= len(numbers) <= 3 or any(type(n) not in (int, float) for n in numbers):
        return None
    start, stop, step = (0, numbers[0], 1) if len(numbers) == 1 else (*numbers, 1)[:3]
    if not step:
        return None
    try:
        count = max(0, ceil((stop - start) / step))
    except (OverflowError, ValueError):
        return None
    values: list[Any] = [start + step * n for n in range(count if count <= MOST_VALUES else 0)]
    dtype = "int32" if all(type(n) is int for n in numbers) else "float32"
    return Argument(name=name, dtype=dtype, shape=[count], values=values, elements=count)


CHANGES: dict[str, tuple[str, Callable[[Argument, Any], Argument | None]]] = {
    "reshape": ("shape", reshaped),
    "expand_dims": ("axis", expanded),
}
