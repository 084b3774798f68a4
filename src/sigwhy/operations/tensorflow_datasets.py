"""Where in a tf.data pipeline a thread is: the iterators that its stack points to.

An iterator knows its place (``Iterator::Root::Prefetch::Map``), and its dataset knows the operation
that made it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations.classes import WORD, is_pointer
from sigwhy.operations.texts import texts_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sigwhy.operations.scene import Scene

ITERATOR = "N10tensorflow4data12IteratorBaseE"
WRAPPER = "DatasetVariantWrapper"
DATASET = re.compile(r"^N10tensorflow(?:4data)?11DatasetBaseE$")
PLACE = re.compile(r"^Iterator::[\w:\[\]#=,. -]{1,2000}$")
OPERATION = re.compile(r"^\w{1,100}Dataset(?:V\d)?$")
ITERATOR_BYTES, DATASET_BYTES = 400, 240


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a pipeline, and the operation that made the dataset there, where it is known."""

    at: int  # where on the stack
    address: int  # of the iterator
    kind: str  # its class, as the compiler writes it
    pipeline: str
    op: str
    node: str


def place(scene: Scene, stack: Sequence[tuple[int, int]]) -> Place | None:
    """The innermost iterator that a stack points to."""
    seen: set[int] = set()
    for at, word in stack:
        if word not in seen and is_pointer(word) and scene.classes.is_a(word, ITERATOR):
            seen.add(word)
            texts = texts_in(scene.memory, word, ITERATOR_BYTES)
            if pipeline := next((text for text in texts if PLACE.match(text)), ""):
                return Place(at, word, scene.classes.of(word)[0], pipeline, *_dataset(scene, word))
    return None


def operation(scene: Scene, wrapper: int) -> str:
    """The operation that made the dataset to which a variant leads; nothing where it is another."""
    kinds = scene.classes.of(wrapper)
    return _dataset(scene, wrapper)[0] if any(WRAPPER in kind for kind in kinds) else ""


def _dataset(scene: Scene, iterator: int) -> tuple[str, str]:
    """The operation and the node of the dataset to which an iterator belongs, or its class."""
    for at in range(iterator + WORD, iterator + ITERATOR_BYTES, WORD):
        try:
            word = scene.memory.word(at)
        except UnreadableError:
            break
        if any(DATASET.match(kind) for kind in scene.classes.of(word)):
            texts = texts_in(scene.memory, word, DATASET_BYTES)
            for op, node in zip(texts, [*texts[1:], ""], strict=True):
                if OPERATION.match(op):
                    return op, node
    return "dataset", ""
