"""The names of the modules whose code is running, found without knowing how a frame is laid out.

Every frame of every CPython keeps the dictionaries of its module and of the built-in names side by
side, and a pointer to the frame lies on the stack of its thread or in the frame that it called. A
dictionary is believed to be a module's where it holds ``__name__`` and the file that was asked for.
"""

from __future__ import annotations

import array
from itertools import pairwise
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations.classes import is_pointer
from sigwhy.operations.dictionary import items
from sigwhy.operations.words import register_words, stack

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sigwhy.model.incident import Thread
    from sigwhy.operations.python_objects import PythonObjects

FRAME_WORDS = 12  # within which a frame has its dictionaries and the one that called it
MOST_STACK = 1 << 20
MOST_BLOCKS = 6000


def names(
    objects: PythonObjects, thread: Thread, files: Iterable[str]
) -> dict[str, dict[str, int]]:
    """By file: the names of its module, and the addresses of what they hold."""
    wanted = set(files)
    found: dict[str, dict[str, int]] = {}
    looked: set[int] = set()
    seen: set[int] = set()
    registers = thread.registers
    on_stack = (value for _, value in stack(objects.memory, registers, most=MOST_STACK))
    waiting = list(dict.fromkeys(filter(is_pointer, (*register_words(registers), *on_stack))))
    waiting.reverse()  # what lies innermost is looked at first
    while waiting and wanted and len(seen) < MOST_BLOCKS:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        block = _block(objects, at)
        for one, other in pairwise(block):
            if not (objects.type_of(one) == objects.type_of(other) == "dict"):
                continue
            waiting += [word for word in block if is_pointer(word) and word not in seen]
            for dictionary in {one, other} - looked:
                looked.add(dictionary)
                held = items(objects, dictionary)
                if file := _file(objects, held, wanted):
                    found[file] = held
                    wanted.discard(file)
            break
    return found


def _block(objects: PythonObjects, at: int) -> tuple[int, ...]:
    try:
        return tuple(array.array("Q", objects.memory.read(at, 8 * FRAME_WORDS)))
    except UnreadableError:
        return ()


def _file(objects: PythonObjects, held: dict[str, int], wanted: set[str]) -> str:
    """Which of the files these names are of."""
    if "__name__" not in held:
        return ""
    own = objects.text(held.get("__file__", 0))
    if not own:  # what was typed, or given by ``python -c``
        is_main = objects.text(held["__name__"]) == "__main__"
        return next((file for file in wanted if file.startswith("<") and is_main), "")
    return next((file for file in wanted if _is_same(own, file)), "")


def _is_same(one: str, other: str) -> bool:
    """One of them may be the path as it was typed."""
    one, other = one.removeprefix("./"), other.removeprefix("./")
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")
