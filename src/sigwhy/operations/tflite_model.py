"""The model that an interpreter was made of: its file, or where its bytes lie.

The tensors of a model name the allocation that holds it; before there are tensors, the objects that
the stack leads to do. A model begins with an offset and the letters TFL3.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.model.operation import Argument, Model
from sigwhy.operations.classes import HIGHEST, LOWEST, is_pointer
from sigwhy.tflite import model as format_

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.operations.scene import Scene
    from sigwhy.operations.tflite_tensors import Tensors
    from sigwhy.tflite.flat import Number

ALLOCATION = "N6tflite10AllocationE"
MAGIC = b"TFL3"
WORDS = 8  # of an allocation
MOST_TENSORS = 256
MOST_BYTES = 4 << 20  # of a model that is read whole
MOST_SIZE = 1 << 40
NEAR = 8192  # bytes of the stack from which an allocation is looked for
MOST_TRIED = 2000
STEPS = 3  # interpreter wrapper, model, allocation
SMALLEST = 8
BYTES = "|u1"


@dataclass(frozen=True, slots=True)
class Found:
    """A model, and its bytes where all of them could be read."""

    model: Model
    data: bytes = b""


def found(
    scene: Scene, tensors: Sequence[Tensors], words: Sequence[tuple[int, int]]
) -> Found | None:
    """Where the model lies, by the first allocation that is one."""
    for pointer in _allocations(scene, tensors, words):
        if one := _of_allocation(scene, pointer):
            return one
    return None


def options(data: bytes, subgraph: int, index: int, op: str) -> list[Argument]:
    """The options of an operator, if the model has that very operator at that place."""
    if not data:
        return []
    try:
        model = format_.Model.of(data)
        operator = model.operator(subgraph, index)
        if model.op(operator) != op:
            return []
        return [_option(name, value) for name, value in format_.options(operator).items()]
    except ValueError:  # a model that kills may well be malformed
        return []


def _option(name: str, value: Number | str | list[Number]) -> Argument:
    if isinstance(value, list):
        return Argument(name=name, kind="list", values=[*value])
    if isinstance(value, str):
        return Argument(name=name, kind="string", text=value)
    kind = {bool: "bool", int: "int"}.get(type(value), "float")
    return Argument(name=name, kind=kind, values=[value])


def _allocations(
    scene: Scene, tensors: Sequence[Tensors], words: Sequence[tuple[int, int]]
) -> Iterator[int]:
    seen: set[int] = set()
    for one in tensors:
        for number in range(min(one.subgraph.tensor_count, MOST_TENSORS)):
            tensor = one.tensor(number)
            if tensor and tensor.allocation and tensor.allocation not in seen:
                seen.add(tensor.allocation)
                if scene.classes.is_a(tensor.allocation, ALLOCATION):
                    yield tensor.allocation
    yield from _on_the_stack(scene, words, seen)


def _on_the_stack(scene: Scene, words: Sequence[tuple[int, int]], seen: set[int]) -> Iterator[int]:
    """Some steps from a word: interpreter wrapper, model, allocation."""
    low = next((where for where, _ in words if where >= 0), 0)
    near = [value for where, value in words if where < low + NEAR and is_pointer(value)]
    step = list(dict.fromkeys(near))[:MOST_TRIED]
    for _ in range(STEPS):
        following: dict[int, None] = {}
        for value in step:
            if value in seen or scene.is_late:
                continue
            seen.add(value)
            if scene.classes.is_a(value, ALLOCATION):
                yield value
            following.update(dict.fromkeys(_pointers(scene, value)))
        step = list(following)[:MOST_TRIED]


def _pointers(scene: Scene, address: int) -> list[int]:
    mapping = scene.memory.mapping(address)
    if mapping is None or not mapping.rights.startswith("rw"):
        return []
    try:
        words = struct.unpack("<8Q", scene.memory.read(address, 64))
    except UnreadableError:
        return []
    return [word for word in words if is_pointer(word) and scene.memory.mapping(word)]


def _of_allocation(scene: Scene, address: int) -> Found | None:
    """The bytes that an allocation holds: {..., pointer, size} or {..., size, pointer}."""
    memory = scene.memory
    try:
        words = struct.unpack(f"<{WORDS}Q", memory.read(address, 8 * WORDS))
    except UnreadableError:
        return None
    for n in range(1, WORDS):
        mapping = memory.mapping(words[n]) if LOWEST <= words[n] < HIGHEST else None
        if mapping is None:
            continue
        is_file = mapping.path.startswith("/") and "x" not in mapping.rights
        if not _is_model(scene, words[n]) and not (is_file and words[n] == mapping.start):
            continue
        beside = (words[n + 1] if n + 1 < WORDS else 0, words[n - 1])
        size = next((s for s in beside if _fits(scene, words[n], s)), None)
        data = _bytes(scene, words[n], size)
        return Found(
            Model(
                path=mapping.path if is_file else "",
                address=words[n],
                size=size,
                sha256=hashlib.sha256(data).hexdigest() if data else "",
                member=_kept(scene, data),
            ),
            data,
        )
    return None


def _kept(scene: Scene, data: bytes) -> str:
    """The model goes into the Incident where half of the room for inputs holds it."""
    fits = len(data) <= scene.keeper.left // 2
    return scene.keeper.keep_bytes(data, "|u1", (len(data),)) if fits else ""


def _is_model(scene: Scene, address: int) -> bool:
    try:
        return scene.memory.read(address + 4, 4) == MAGIC
    except UnreadableError:
        return False


def _fits(scene: Scene, address: int, size: int) -> bool:
    """Whether so many bytes are mapped there, in one piece."""
    mapping = scene.memory.mapping(address)
    fits = mapping is not None and SMALLEST <= size <= mapping.end - address
    return fits and size < MOST_SIZE


def _bytes(scene: Scene, address: int, size: int | None) -> bytes:
    if not size or size > MOST_BYTES:
        return b""
    try:
        return scene.memory.read(address, size)
    except UnreadableError:
        return b""
