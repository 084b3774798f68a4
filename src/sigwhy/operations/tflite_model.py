"""The model that an interpreter was made of: its file, or where its bytes lie.

The tensors of a model name the allocation that holds it; before there are tensors, the objects that
the stack leads to do. A model begins with an offset and the letters TFL3.
"""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.model.operation import Model
from sigwhy.operations.classes import HIGHEST, LOWEST, is_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.operations.scene import Scene
    from sigwhy.operations.tflite_tensors import Tensors

ALLOCATION = "N6tflite10AllocationE"
MAGIC = b"TFL3"
WORDS = 8  # of an allocation
MOST_TENSORS = 256
MOST_BYTES = 4 << 20  # of a model that is read whole
MOST_SIZE = 1 << 40
NEAR = 8192  # bytes of the stack from which an allocation is looked for
MOST_TRIED = 2000
SMALLEST = 8


def model(
    scene: Scene, tensors: Sequence[Tensors], words: Sequence[tuple[int, int]]
) -> Model | None:
    """Where the model lies, by the first allocation that is one."""
    for pointer in _allocations(scene, tensors, words):
        if found := _of_allocation(scene, pointer):
            return found
    return None


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
    """Up to two steps from a word: interpreter wrapper, model, allocation."""
    low = next((where for where, _ in words if where >= 0), 0)
    near = [value for where, value in words if where < low + NEAR and is_pointer(value)]
    first = list(dict.fromkeys(near))[:MOST_TRIED]
    for steps in range(3):
        following: dict[int, None] = {}
        for value in first:
            if value in seen:
                continue
            seen.add(value)
            if scene.classes.is_a(value, ALLOCATION):
                yield value
            elif steps < 2 and not scene.is_late:
                following.update(dict.fromkeys(_pointers(scene, value)))
        first = list(following)[:MOST_TRIED]


def _pointers(scene: Scene, address: int) -> list[int]:
    mapping = scene.memory.mapping(address)
    if mapping is None or not mapping.rights.startswith("rw"):
        return []
    try:
        words = struct.unpack("<8Q", scene.memory.read(address, 64))
    except UnreadableError:
        return []
    return [word for word in words if is_pointer(word) and scene.memory.mapping(word)]


def _of_allocation(scene: Scene, address: int) -> Model | None:
    """The bytes that an allocation holds: {..., pointer, size} or {..., size, pointer}."""
    memory = scene.memory
    try:
        words = struct.unpack(f"<{WORDS}Q", memory.read(address, 8 * WORDS))
    except UnreadableError:
        return None
    for n in range(1, WORDS):
        if not LOWEST <= words[n] < HIGHEST:
            continue
        mapping = memory.mapping(words[n])
        if mapping is None:
            continue
        path = mapping.path if mapping.path.startswith("/") and "x" not in mapping.rights else ""
        if not _is_model(scene, words[n]) and not (path and words[n] == mapping.start):
            continue
        beside = (words[n - 1], words[n + 1] if n + 1 < WORDS else 0)
        size = next((s for s in beside if SMALLEST <= s < MOST_SIZE and s < LOWEST << 24), None)
        size = size if size and _fits(scene, words[n], size) else None
        return Model(path=path, address=words[n], size=size, sha256=_digest(scene, words[n], size))
    return None


def _is_model(scene: Scene, address: int) -> bool:
    try:
        return scene.memory.read(address + 4, 4) == MAGIC
    except UnreadableError:
        return False


def _fits(scene: Scene, address: int, size: int) -> bool:
    """Whether so many bytes are mapped there."""
    return scene.memory.mapping(address + size - 1) is not None


def _digest(scene: Scene, address: int, size: int | None) -> str:
    if not size or size > MOST_BYTES:
        return ""
    try:
        return hashlib.sha256(scene.memory.read(address, size)).hexdigest()
    except UnreadableError:
        return ""
