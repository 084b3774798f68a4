"""The Python calls that TensorFlow keeps of a call: (code object, line) pairs in a ``StackTrace``.

An operation that runs in a pool thread has no Python calls of its own there; its parameters may hold
those of whoever called the function that it belongs to.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations.classes import WORD, is_pointer
from sigwhy.operations.python_objects import PythonObjects

if TYPE_CHECKING:
    from sigwhy.operations.scene import Scene

TRACE = "N10tensorflow10StackTraceE"
PARAMS_BYTES = 440
MOST = 64
PAIR = 16
CODE, CODE_BYTES = "code", 240
MOST_LINE = 1 << 22


def trace(scene: Scene, params: int) -> list[str]:
    """The calls behind parameters as ``file:line in function()``, the innermost first."""
    objects = PythonObjects(scene.memory)
    for at in range(params, params + PARAMS_BYTES, WORD):
        try:
            kept = scene.memory.word(at)
            if scene.classes.is_a(kept, TRACE):
                return _calls(objects, kept + WORD)
        except UnreadableError:
            return []
    return []


def _calls(objects: PythonObjects, vector: int) -> list[str]:
    """The calls of a vector that lies inside of itself while it is short."""
    memory = objects.memory
    head, there = struct.unpack("<QQ", memory.read(vector, 16))
    count = head >> 1
    if not 0 < count <= MOST or (head & 1 and not is_pointer(there)):
        return []
    start = there if head & 1 else vector + WORD
    calls = []
    for n in range(count):
        code, line = struct.unpack("<Qi", memory.read(start + PAIR * n, 12))
        names = _names(objects, code)
        if not names or not 0 < line < MOST_LINE:
            return []
        calls.append(f"{names[0]}:{line} in {names[1]}()")
    return calls


def _names(objects: PythonObjects, code: int) -> tuple[str, str] | None:
    """The file and the function of a code object: the first two texts in it, side by side."""
    if objects.type_of(code) != CODE:
        return None
    words = struct.unpack(f"<{CODE_BYTES // WORD}Q", objects.memory.read(code, CODE_BYTES))
    for one, other in pairwise(words):
        if is_pointer(one) and is_pointer(other) and (file := objects.text(one)):
            name = objects.text(other)
            return (file, name) if name else None
    return None
