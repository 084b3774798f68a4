"""An operation that an exception has just left: what lies in the dead words below the stack.

An exception that a kernel throws unwinds the executor and reaches code that does not expect it,
which dies in its turn. What the operation had lies below the stack pointer by then. It is looked
for only where an exception is in flight, for dead words are old news else.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations import words
from sigwhy.operations.classes import is_pointer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sigwhy.machine.memory import Memory
    from sigwhy.operations.scene import Scene

BELOW = 128 << 10
NEAR = 96 << 10  # of the stack, where those who handle an exception hold it
# How the unwinder marks exceptions of C++: those of GNU, and copies of them.
IN_FLIGHT = (struct.pack("<Q", 0x474E5543432B2B00), struct.pack("<Q", 0x474E5543432B2B01))


def dead_words(scene: Scene, registers: Mapping[str, int]) -> Sequence[tuple[int, int]]:
    """The words below the stack pointer, the nearest first; none where no exception is in flight."""
    stack = words.stack(scene.memory, registers, most=NEAR, below=BELOW)
    pointer = words.pointer(registers)
    if not _in_flight(scene.memory, (word for _, word in stack)):
        return []
    return [(at, word) for at, word in stack if at < pointer][::-1]


def _in_flight(memory: Memory, values: Iterable[int]) -> bool:
    for value in dict.fromkeys(values):
        if is_pointer(value):
            try:
                if memory.peek(value, 8) in IN_FLIGHT:
                    return True
            except UnreadableError:
                continue
    return False
