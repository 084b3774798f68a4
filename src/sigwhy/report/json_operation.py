"""The part of the JSON contract that tells of an operation and its arguments."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from sigwhy.model import fact
    from sigwhy.model.operation import Argument
    from sigwhy.model.operation import Operation as Kept

SURROGATES = re.compile("[\ud800-\udfff]")
NUMBERS = range(-(2**63), 2**64)  # what other readers of JSON hold in a whole number


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """An input of the operation: ``shape`` is null where its rank is unknown."""

    name: str | None = None
    kind: str | None = None
    dtype: str | None = None
    shape: list[int] | None = None
    values: list[Any] | None = None
    text: str | None = None
    memory: str | None = None
    variable: str | None = None
    guilty: bool | None = None


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """The operation of a framework that was running.

    ``grade`` is ``fact``, or ``hint`` where it may be the last operation instead of the one.
    ``state``: running, constructing (its kernel was being made), left (by an exception), beside (in
    another thread). ``index`` and ``subgraph`` place it in ``model``.
    """

    op: str | None = None
    node: str | None = None
    device: str | None = None
    kernel: str | None = None
    inputs: list[Input] | None = None
    attributes: dict[str, Any] | None = None
    framework: str | None = None
    inner: str | None = None
    state: str | None = None
    grade: str | None = None
    found: str | None = None
    library: str | None = None
    phase: str | None = None
    call: str | None = None
    delegate: str | None = None
    pipeline: str | None = None
    model: str | None = None
    index: int | None = None
    subgraph: int | None = None
    missing: list[str] | None = None


def of_memory(kept: Kept, guilty: frozenset[str]) -> Operation:
    """The operation as memory showed it; ``guilty`` names the arguments to blame."""
    model = kept.model
    return Operation(
        op=as_text(kept.op),
        node=as_text(kept.node),
        device=as_text(kept.device),
        kernel=as_text(kept.kernel),
        inputs=[_input(argument, guilty) for argument in kept.inputs],
        attributes={as_text(a.name) or "": _value(a) for a in kept.attributes},
        framework=kept.framework,
        inner=as_text(kept.inner),
        state=kept.state,
        grade="hint" if kept.is_hint else "fact",
        found=as_text(kept.found),
        library=as_text(kept.library),
        phase=as_text(kept.phase),
        call=as_text(kept.call),
        delegate=as_text(kept.delegate),
        pipeline=as_text(kept.pipeline),
        model=as_text(model.path) if model else None,
        index=model.index if model else None,
        subgraph=model.subgraph if model else None,
        missing=[as_text(lack) or "" for lack in kept.missing],
    )


def of_text(op: fact.Op) -> Operation:
    """The operation as a text named it."""
    return Operation(
        op=as_text(op.op),
        node=as_text(op.node),
        device=as_text(op.device),
        kernel=as_text(op.kernel),
        framework=as_text(op.framework),
    )


def _input(argument: Argument, guilty: frozenset[str]) -> Input:
    return Input(
        name=as_text(argument.name),
        kind=as_text(argument.kind),
        dtype=as_text(argument.dtype),
        shape=argument.shape,
        values=[_plain(value) for value in argument.values],
        text=as_text(argument.text),
        memory=argument.standing,
        variable=as_text(argument.variable),
        guilty=argument.name in guilty or None,
    )


def _value(argument: Argument) -> Any:
    """An attribute as one value: a list stays one, a type and a shape are words."""
    values = [_plain(value) for value in argument.values]
    if argument.kind == "list":
        return values
    if values:
        return values[0] if len(values) == 1 else values
    if argument.kind == "shape":
        return argument.shape
    return as_text(argument.text or argument.dtype)


def _plain(value: object) -> Any:
    """What JSON can hold; it knows neither infinity nor numbers without end."""
    match value:
        case bool() | None:
            return value
        case int():
            return value if value in NUMBERS else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case _:
            return as_text(str(value))


def as_text(words: str | None) -> str | None:
    """Words that can be written as UTF-8; half a character cannot."""
    return SURROGATES.sub("\ufffd", words) if words else None
