"""Which operator it was: what lies on a stack to one operation, by the first witness that is sure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from sigwhy.model.operation import Argument, Operation
from sigwhy.operations.torch_calls import TENSOR, TENSOR_LIST
from sigwhy.operations.torch_dispatch import NONE, TENSOR_TYPE, Boxed, Entry, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.operations.torch_arguments import Arguments
    from sigwhy.operations.torch_calls import Call
    from sigwhy.operations.torch_stack import Stack

RECORD = "the record of its Python call lies on the stack"
RECORD_AND_ENTRY = "the record of its Python call and its entry in the dispatcher lie on the stack"
ENTRY = "the dispatcher's entry of it is on the stack"
ENTRY_AND_OPERANDS = "its entry in the dispatcher and an iterator over its tensors lie on the stack"
ITERATOR = "an iterator over its tensors lies on the stack"
NAMELESS = "at::TensorIterator"
SELF = "self"
OWNERS = frozenset({"self", "input"})
OF_TENSORS = ((TENSOR,), (TENSOR_LIST,))
BEHIND = 200  # words around a record among which the object stands whose method was called
MOST_OPERANDS, MOST_ITERATORS = 16, 2
ODD = frozenset({"gone", "protected", "missing"})


def verdict(stack: Stack, arguments: Arguments, tid: int) -> Operation | None:
    """The operator that a thread was in, where its stack shows one."""
    for witness in (_boxed, _called, _structured, _differentiated, _dispatched):
        if found := witness(stack, arguments):
            return msgspec.structs.replace(
                found,
                tid=tid,
                outputs=list(_others(stack, arguments, found.inputs)),
                node=found.node or next(iter(stack.nodes), ""),
                library=_library(stack, arguments),
            )
    return None


def _library(stack: Stack, arguments: Arguments) -> str:
    """The file that defines the innermost kernel that stands behind the dispatcher."""
    return next((arguments.scene.classes.library(at) for at in stack.kernels), "")


# ---- boxed: torch.ops, TorchScript, custom operators ------------------------------------------


def _boxed(stack: Stack, arguments: Arguments) -> Operation | None:
    for boxed in stack.boxed:
        entry = next((e for _, e in stack.entries if _fits(boxed, e)), None)
        if entry is None:
            continue
        inputs: list[Argument] = []
        attributes: list[Argument] = []
        for name, kind, value in zip(entry.arguments, entry.types, boxed.values, strict=True):
            if not isinstance(value, tuple):
                inputs += arguments.of_tensor(name, value)
            elif value[1] != NONE:
                attributes.append(_attribute(name, kind, value))
        return Operation(
            framework="torch",
            op=entry.name,
            found="the values of its call and its entry in the dispatcher lie on the stack",
            inner=_inner(stack, entry.base),
            inputs=[*inputs, *_operands(stack, arguments, inputs)],
            attributes=attributes,
        )
    return None


def _fits(boxed: Boxed, entry: Entry) -> bool:
    """Whether the values can be those of this operator: as many, and tensors where it wants them."""
    return len(boxed.values) == len(entry.arguments) and all(
        isinstance(value, tuple) != (kind == TENSOR_TYPE) or kind.startswith("Optional")
        for value, kind in zip(boxed.values, entry.types, strict=True)
    )


def _attribute(name: str, kind: str, value: tuple[int, int]) -> Argument:
    shown = plain(*value, kind)
    if shown is None:
        return Argument(name=name, kind="object", text=f"<{kind}>" if kind else "")
    named = "bool" if isinstance(shown, bool) else type(shown).__name__
    return Argument(name=name, kind=named, values=[shown])


# ---- called from Python -----------------------------------------------------------------------


def _called(stack: Stack, arguments: Arguments) -> Operation | None:
    live = [
        call
        for call in stack.calls
        if arguments.is_live(call) and (call.given or stack.entry(call.signature.name))
    ]
    # Kernels lie below the call that led to them: what is below them has been left behind.
    live.sort(key=lambda c: (stack.innermost > c.at, stack.entry(c.signature.name) is None))
    call = next(iter(live), None)
    if call is None:
        return None
    entry = stack.entry(call.signature.name)
    inputs: list[Argument] = []
    attributes: list[Argument] = []
    inputs += _self(call, entry, stack, arguments)
    for name, given in zip(call.signature.parameters, call.given, strict=True):
        if given:
            tensors, plain_ones = arguments.of_object(name, given)
            inputs += tensors
            attributes += plain_ones
    return Operation(
        framework="torch",
        op=entry.name if entry else call.signature.name,
        found=RECORD_AND_ENTRY if entry else RECORD,
        is_hint=not (entry or inputs),
        inner=_inner(stack, call.signature.name),
        inputs=[*inputs, *_operands(stack, arguments, inputs)],
        attributes=attributes,
    )


def _self(call: Call, entry: Entry | None, stack: Stack, arguments: Arguments) -> list[Argument]:
    """The tensor whose method was called: it is no parameter, but stands near as object and as tensor."""
    if not _is_method(call, entry):
        return []
    at = next((n for n, (where, _) in enumerate(stack.words) if where == call.at), 0)
    near = stack.words[max(0, at - BEHIND) : at + BEHIND]
    values = {value for _, value in near}
    order = sorted(near, key=lambda word: abs(word[0] - call.at))
    for _, value in order:
        if value in call.given or not values & {value + 16, value + 24}:
            continue
        tensor = arguments.held_by(value)
        if tensor and (entry or tensor in stack.tensors):
            return list(arguments.of_tensor(SELF, tensor, value))
    return []


def _is_method(call: Call, entry: Entry | None) -> bool:
    """Whether a tensor's method was called: the dispatcher knows of one tensor more than the signature."""
    signature = call.signature
    if OWNERS & set(signature.parameters[:1]):
        return False
    if entry:
        return entry.arguments[:1] == (SELF,)
    return signature.name.endswith("_") or signature.kinds[:1] not in OF_TENSORS


# ---- without a call from Python ---------------------------------------------------------------


def _structured(stack: Stack, arguments: Arguments) -> Operation | None:
    kernel = next((i for i in stack.iterators if i.operator), None)
    if kernel is None:
        return None
    entry = stack.entry(kernel.operator) or stack.entry(f"{kernel.operator}_")
    return Operation(
        framework="torch",
        op=entry.name if entry else f"aten::{kernel.operator}",  # none else is made this way
        found="its kernel lies on the stack",
        inputs=list(_operands(stack, arguments, [])),
    )


def _differentiated(stack: Stack, arguments: Arguments) -> Operation | None:
    for name in stack.nodes:
        wanted = name.rstrip("0123456789").lower()
        entry = next((e for _, e in stack.entries if e.base.replace("_", "") == wanted), None)
        return Operation(
            framework="torch",
            op=entry.name if entry else name,
            node=name,
            found="its node of the graph of gradients is on the stack",
            inputs=list(_operands(stack, arguments, [])),
        )
    return None


def _dispatched(stack: Stack, arguments: Arguments) -> Operation | None:
    """An entry alone may be old news, unless the iterator behind it has as many tensors as it."""
    operands = stack.iterators[0].operands if stack.iterators else ()
    above = [entry for at, entry in stack.entries if at > stack.innermost]
    echoed = next((e for e in above if len(e.tensors) == len(operands) > 0), None)
    # Of an entry alone it must be seen at least that there are tensors for it.
    rest = [e for e in above if not operands and 0 < len(e.tensors) <= len(stack.tensors)]
    entry = echoed or next(iter(rest), None)
    if entry is None and not operands:
        return None
    inputs = list(_operands(stack, arguments, []))
    if echoed:
        pairs = zip(echoed.tensors, operands, strict=True)
        inputs = [a for name, tensor in pairs for a in arguments.of_tensor(name, tensor)]
    return Operation(
        framework="torch",
        op=entry.name if entry else NAMELESS,
        found=ENTRY_AND_OPERANDS if echoed else ENTRY if entry else ITERATOR,
        is_hint=not echoed,
        inputs=inputs,
    )


def _inner(stack: Stack, outer: str) -> str:
    """The structured kernel that really ran, where it is another one."""
    kernel = next((i.operator for i in stack.iterators if i.operator), "")
    return "" if kernel == outer.rstrip("_") else kernel


def _operands(stack: Stack, arguments: Arguments, known: list[Argument]) -> Iterator[Argument]:
    """What the operation works on and was not told yet: operands, and tensors without their memory.

    The outputs are the first operands. Where nothing else is known, all tensors on the stack are told.
    """
    told = {argument.address for argument in known if argument.address}
    told_storages = {argument.storage for argument in known}
    for iterator in stack.iterators[:MOST_ITERATORS]:
        for n, tensor in enumerate(iterator.operands[:MOST_OPERANDS]):
            name = f"operand {n}" + (f" of {iterator.operator}" if iterator.operator else "")
            if tensor.data not in told:
                told |= {tensor.data} if tensor.data else set()
                yield from _not_told(arguments.of_tensor(name, tensor), told_storages)
    alone = not known and not any(iterator.operands for iterator in stack.iterators)
    for n, tensor in enumerate(stack.tensors[:MOST_OPERANDS]):
        is_odd = arguments.tensors.standing(tensor) in ODD
        if tensor.data not in told and (alone or is_odd):
            told |= {tensor.data} if tensor.data else set()
            yield from _not_told(
                arguments.of_tensor(f"tensor {n} on the stack", tensor), told_storages
            )


def _others(stack: Stack, arguments: Arguments, known: list[Argument]) -> Iterator[Argument]:
    """Other tensors on the stack: results that are being made, and what was made on the way."""
    told = {argument.address for argument in known}
    for tensor in stack.tensors[:MOST_OPERANDS]:
        if tensor.data and tensor.data not in told:
            told.add(tensor.data)
            yield from arguments.of_tensor("a tensor on the stack", tensor)


def _not_told(found: Iterator[Argument], told: set[tuple[int, int] | None]) -> Iterator[Argument]:
    """Those without memory, once for each storage: such a one has no address by which to know it."""
    for argument in found:
        if argument.address or argument.storage not in told:
            told.add(argument.storage)
            yield argument
