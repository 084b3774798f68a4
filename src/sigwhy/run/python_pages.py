"""Marks the memory in which an interpreter keeps its threads, calls and code, for the small core.

pystack reads a held process from a child of ours, so it is not known which pages it needed; a core
that lacks them says nothing to it. No layout of a version is trusted here, and no symbol: a thread's
state lies on the stack of a thread that runs Python and points to its interpreter, which points back
to states of its own; a call points to code; code is known by the name of its type.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from sigwhy.machine.memory import PAGE, UnreadableError
from sigwhy.operations.words import stack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sigwhy.machine.memory import Memory

WORD = 8
INTERPRETER_BYTES = 8192  # the list of its threads stands near its beginning
STATE_BYTES, CALL_BYTES, CODE_BYTES, TEXT_HEAD, TABLE_HEAD, TUPLE_HEAD = 512, 128, 256, 64, 64, 24
NEXT, OWNER = 8, 16  # of a thread's state: {previous, next, interpreter}, in 3.8 to 3.14
TYPE, TYPE_NAME, SIZE = 8, 24, 16
TEXTS = frozenset({"str", "bytes"})
MOST_THREADS, MOST_CALLS, MOST_TEXT, MOST_NAMES = 256, 4096, 4096, 64
MOST_STACK = 1 << 20


def of_interpreter(memory: Memory, stacks: Iterable[Mapping[str, int]]) -> set[int]:
    """The pages that lead to the names and lines of all calls of all threads.

    ``stacks`` are the registers of the threads; the first one that runs Python leads to all others.
    What is only tried on the way is not remembered as touched.
    """
    before = set(memory.touched)
    search = _Search(memory)
    try:
        for registers in stacks:
            for state in {value for _, value in stack(memory, registers, most=MOST_STACK)}:
                for other in search.states(search.interpreter(state)):
                    search.follow(other)
            if search.calls:
                break
        return search.pages
    finally:
        memory.touched.clear()
        memory.touched |= before


class _Search:
    """What was found so far, so that nothing is followed twice, and the pages that it lies on."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.calls: set[int] = set()
        self.pages: set[int] = set()
        self._types: dict[int, str] = {}
        self._owners: set[int] = set()  # that were looked at as interpreters

    def interpreter(self, state: int) -> int:
        """The interpreter of what may be a thread's state; 0 where it is none."""
        owner = self._word(state + OWNER) if self._is_data(state) else 0
        if owner in self._owners or not self._is_data(owner):
            return 0
        self._owners.add(owner)
        return owner if state in {*self.states(owner)} else 0

    def states(self, interpreter: int) -> Iterator[int]:
        """The threads of an interpreter, from any one of them on."""
        seen: set[int] = set()
        for first in self._pointers(interpreter, INTERPRETER_BYTES):
            state = first
            while state not in seen and len(seen) < MOST_THREADS:
                if self._word(state + OWNER) != interpreter:
                    break
                seen.add(state)
                yield state
                state = self._word(state + NEXT)
        if seen:
            self._interpreter(interpreter)

    def _interpreter(self, interpreter: int) -> None:
        """Its beginning, and the table of modules, by which pystack sees that it is one."""
        self._keep(interpreter, INTERPRETER_BYTES)
        for part in self._pointers(interpreter, INTERPRETER_BYTES):
            if self._type(part) == "dict":
                self._keep(part, TABLE_HEAD)

    def follow(self, state: int) -> None:
        """Every call that the state leads to: through one record at most, then from call to call."""
        self._keep(state, STATE_BYTES)
        for first in self._pointers(state, STATE_BYTES):
            if not self._calls_from(first):
                for second in self._pointers(first, CALL_BYTES):
                    if self._calls_from(second):
                        self._keep(first, CALL_BYTES)

    def _calls_from(self, call: int) -> bool:
        """Whether a call lies there; it and those below it are kept."""
        waiting, seen = [call], {call}
        while waiting and len(self.calls) < MOST_CALLS:
            at = waiting.pop()
            if at in self.calls:
                continue
            words = self._pointers(at, CALL_BYTES)
            codes = [p for p in words if self._type(p) == "code"]
            if codes:
                self.calls.add(at)
                self._keep(at, CALL_BYTES)
                for code in codes:
                    self._code(code)
                waiting += [p for p in words if p not in seen]
                seen.update(words)
        return call in self.calls

    def _code(self, code: int) -> None:
        """Code with its file, its names and its table of lines."""
        self._keep(code, CODE_BYTES)
        for part in self._pointers(code, CODE_BYTES):
            self._text(part)
            if self._type(part) == "tuple":
                size = WORD * min(self._word(part + SIZE), MOST_NAMES)
                self._keep(part, TUPLE_HEAD + size)
                for name in self._pointers(part + TUPLE_HEAD, size):
                    self._text(name)

    def _text(self, thing: int) -> None:
        if self._type(thing) in TEXTS:
            self._keep(thing, TEXT_HEAD + min(self._word(thing + SIZE), MOST_TEXT))

    def _keep(self, address: int, count: int) -> None:
        self.pages.update(range(address & -PAGE, address + count, PAGE))

    def _pointers(self, address: int, count: int) -> list[int]:
        """The words there that may be pointers to what can be written."""
        try:
            packed = self.memory.read(address, count)
        except UnreadableError:
            return []
        return [
            p
            for p in dict.fromkeys(struct.unpack(f"<{count // WORD}Q", packed))
            if self._is_data(p)
        ]

    def _is_data(self, address: int) -> bool:
        mapping = None if address % WORD else self.memory.mapping(address)
        return mapping is not None and mapping.rights.startswith("rw")

    def _word(self, address: int) -> int:
        try:
            return self.memory.word(address)
        except UnreadableError:
            return 0

    def _type(self, thing: int) -> str:
        """The name of an object's type."""
        kind = self._word(thing + TYPE)
        if kind not in self._types:
            try:
                self._types[kind] = self.memory.text(self._word(kind + TYPE_NAME), 64)
            except UnreadableError:
                self._types[kind] = ""
        return self._types[kind]
