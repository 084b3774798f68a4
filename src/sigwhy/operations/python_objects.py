"""Python objects by their address: what type one is of, and what a string says.

The layout of the head of an object and of a type is that of every CPython from 3.8 to 3.14 with the
GIL. It is believed only where a chain of types ends in ``type``, the type of itself.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations.classes import is_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.machine.memory import Memory

VALUE = re.compile(r"^<(?P<type>[\w.]{1,80}) at (?P<at>0x[0-9a-f]{1,16})>$")
TYPE_NAMED = re.compile(r"[A-Za-z_][\w.]*\Z")
FUNCTION = "builtin_function_or_method"
TYPE, TYPE_NAME, TYPE_BASE, FUNCTION_DEFINITION = 8, 24, 256, 16
HEAD = 16  # bytes before an object's own fields
LONGEST_NAME, LONGEST_TEXT = 128, 4096
DEEPEST, MOST_BASES = 4, 12
# Where the characters of a string begin: Python 3.12 took a pointer out from before them.
LENGTH, TEXTS = 16, (40, 48)
MOST_REFERENCES = 1 << 62


def address_of(value: str, *types: str) -> int:
    """The address in ``<numpy.ndarray at 0x7f…>``, of these types or of any; else 0."""
    found = VALUE.match(value)
    return int(found["at"], 16) if found and (not types or found["type"] in types) else 0


def function_named(value: str, memory: Memory) -> str | None:
    """The name of the built-in function that a value is."""
    at = address_of(value, FUNCTION)
    if not at:
        return None
    try:
        name = memory.text(memory.word(memory.word(at + FUNCTION_DEFINITION)), LONGEST_NAME)
    except UnreadableError:
        return None
    return name if name.isidentifier() else None


class PythonObjects:
    """The objects of one memory; each type is looked at once."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._types: dict[int, str] = {}
        self._bases: dict[int, tuple[str, ...]] = {}

    def is_a(self, at: int, name: str) -> bool:
        """Whether an object is of this type, or of one made from it."""
        own = self.type_of(at)
        if not own or own == name:
            return bool(own)
        kind = self.memory.word(at + TYPE)
        if kind not in self._bases:
            self._bases[kind] = tuple(self._above(kind))
        return name in self._bases[kind]

    def _above(self, kind: int) -> Iterator[str]:
        """The names of the types that a type was made from, as far as its first bases go."""
        for _ in range(MOST_BASES):
            try:
                kind = self.memory.word(kind + TYPE_BASE)
            except UnreadableError:
                return
            if not is_pointer(kind) or not (name := self._named(kind)):
                return
            yield name

    def type_of(self, at: int) -> str:
        """What an object calls its type (``numpy.ndarray``); nothing where there is no object."""
        if not is_pointer(at):
            return ""
        try:
            references, kind = struct.unpack("<QQ", self.memory.read(at, HEAD))
        except UnreadableError:
            return ""
        if not 0 < references < MOST_REFERENCES or not is_pointer(kind):
            return ""
        if kind not in self._types:
            self._types[kind] = self._named(kind)
        return self._types[kind]

    def _named(self, kind: int) -> str:
        try:
            name = self.memory.text(self.memory.word(kind + TYPE_NAME), LONGEST_NAME)
            return name if TYPE_NAMED.match(name) and self._is_type(kind) else ""
        except UnreadableError:
            return ""

    def _is_type(self, kind: int) -> bool:
        """Whether the types of this type end in the one that is its own."""
        for _ in range(DEEPEST):
            above = self.memory.word(kind + TYPE)
            if above == kind:
                name = self.memory.text(self.memory.word(kind + TYPE_NAME), LONGEST_NAME)
                return name == "type"
            kind = above
        return False

    def text(self, at: int) -> str:
        """What a string of ASCII says; nothing where there is none, or another."""
        if self.type_of(at) != "str":
            return ""
        try:
            length = self.memory.word(at + LENGTH)
            if not 0 < length <= LONGEST_TEXT:
                return ""
            for where in TEXTS:
                raw = self.memory.read(at + where, length + 1)
                if raw[-1] == 0 and raw.isascii() and (said := raw[:-1].decode()).isprintable():
                    return said
        except UnreadableError:
            pass
        return ""
