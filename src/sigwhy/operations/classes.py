"""Classes of C++ objects by their run-time type information, as the Itanium ABI lays it out.

An object begins with a pointer to a table of functions; two words before the table stand the
distance to the whole object and a pointer to the type, which knows its mangled name and its bases.
No symbol table and no debug information is needed. The file that holds the table is the library that
defines the class.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.demangle import demangled
from sigwhy.machine.memory import UnreadableError

if TYPE_CHECKING:
    from sigwhy.machine.memory import Memory

MANGLED = re.compile(r"[NZ0-9StIK][\w$.]*\Z")
LONGEST_NAME = 4000
MOST_BASES, DEEPEST = 8, 12
LOWEST, HIGHEST = 0x10000, 1 << 47
WORD = 8


def is_pointer(value: int) -> bool:
    """Whether a word can be the address of an object."""
    return LOWEST <= value < HIGHEST and not value % WORD


def written(mangled: str) -> str:
    """The name of a class as people write it: ``tensorflow::ReshapeOp``."""
    return demangled(f"_ZTS{mangled}").removeprefix("typeinfo name for ")


class Classes:
    """The classes of the objects of one memory; each table of functions is looked at once."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._by_table: dict[int, tuple[str, ...]] = {}
        self._by_type: dict[int, tuple[str, ...]] = {}

    def of(self, address: int) -> tuple[str, ...]:
        """The mangled names of the object's class and its bases; nothing where there is no object."""
        if not is_pointer(address):
            return ()
        try:
            table = int.from_bytes(self.memory.peek(address, WORD), "little")
        except UnreadableError:
            return ()
        if table not in self._by_table:
            self._by_table[table] = self._of_table(table)
        return self._by_table[table]

    def is_a(self, address: int, name: str) -> bool:
        """Whether the object is of this class, or of one derived from it."""
        return name in self.of(address)

    def library(self, address: int) -> str:
        """The file that defines the object's class."""
        try:
            mapping = self.memory.mapping(self.memory.word(address))
        except UnreadableError:
            return ""
        return mapping.path if mapping else ""

    def _of_table(self, table: int) -> tuple[str, ...]:
        mapping = self.memory.mapping(table) if is_pointer(table) else None
        if mapping is None or not mapping.path.startswith("/") or "x" in mapping.rights:
            return ()
        try:
            to_top = self.memory.word(table - 2 * WORD)
            kind = self.memory.word(table - WORD)
            first = self.memory.word(table)
            if to_top or not is_pointer(kind):
                return ()
            code = self.memory.mapping(first)
            if first and not (code and "x" in code.rights):
                return ()
            return self._names(kind, 0)
        except UnreadableError:
            return ()

    def _names(self, kind: int, depth: int) -> tuple[str, ...]:
        """The name of a type and those of its bases, the nearest first."""
        if kind in self._by_type:
            return self._by_type[kind]
        self._by_type[kind] = ()  # a type that is its own base ends here
        name = self.memory.text(self.memory.word(kind + WORD), LONGEST_NAME).lstrip("*")
        if not MANGLED.match(name):
            return ()
        names = [name]
        for base in self._bases(kind) if depth < DEEPEST else ():
            names += [n for n in self._names(base, depth + 1) if n not in names]
        self._by_type[kind] = tuple(names)
        return self._by_type[kind]

    def _bases(self, kind: int) -> list[int]:
        """One base stands right behind the name; several have a count before them."""
        try:
            single = self.memory.word(kind + 2 * WORD)
            if is_pointer(single):
                return [single] if self._is_type(single) else []
            flags, count = self.memory.half(kind + 16), self.memory.half(kind + 20)
            if flags >= 4 or not 1 <= count <= MOST_BASES:
                return []
            bases = [self.memory.word(kind + 24 + 16 * n) for n in range(count)]
        except UnreadableError:
            return []
        return [base for base in bases if is_pointer(base) and self._is_type(base)]

    def _is_type(self, kind: int) -> bool:
        try:
            name = self.memory.text(self.memory.word(kind + WORD), LONGEST_NAME).lstrip("*")
        except UnreadableError:
            return False
        return bool(MANGLED.match(name))
