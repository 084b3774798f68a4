"""Operations as JSON can hold them: it knows neither infinity nor what is no number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

if TYPE_CHECKING:
    from sigwhy.model.operation import Argument, Operation

V = TypeVar("V")


def writable(operation: Operation) -> Operation:
    """The same, with such numbers as Python writes them."""
    return replace(
        operation,
        inputs=[_argument(one) for one in operation.inputs],
        outputs=[_argument(one) for one in operation.outputs],
        attributes=[_argument(one) for one in operation.attributes],
    )


def _argument(one: Argument) -> Argument:
    if all(map(_is_plain, (*one.values, *(one.scales or ())))):
        return one
    scales = None if one.scales is None else [_shown(scale) for scale in one.scales]
    return replace(one, values=[_shown(value) for value in one.values], scales=scales)


def _is_plain(value: object) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _shown(value: V) -> V | str:
    return value if _is_plain(value) else repr(value)
