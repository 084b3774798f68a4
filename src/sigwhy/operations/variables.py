"""Which Python name holds an object.

The user's own names come first, of the innermost call first and then of its module; the names that
an installed package gives are what is left.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from sigwhy.model.blame import PYTHON_OWN, is_installed
from sigwhy.model.fact import Frame
from sigwhy.operations.module_names import names
from sigwhy.operations.python_objects import PythonObjects, address_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.machine.memory import Memory
    from sigwhy.model.incident import PythonFrame, Thread

HIDDEN = "__"  # names that every module has
MOST_THREADS = 4


class Variables:
    """The names of the threads' Python calls; nothing is read before somebody asks."""

    def __init__(self, memory: Memory, threads: Sequence[Thread]) -> None:
        self.objects = PythonObjects(memory)
        self._threads = [thread for thread in threads if thread.python][:MOST_THREADS]

    def of(self, address: int) -> str:
        """The name that holds the object at an address; empty where none does."""
        return self._by_address.get(address, "")

    def all(self) -> Iterator[tuple[str, int]]:
        """Every name with the address of what it holds, the nearest to the user first."""
        seen: set[tuple[str, int]] = set()
        for pair in self._held:
            if pair not in seen:
                seen.add(pair)
                yield pair

    @cached_property
    def _by_address(self) -> dict[int, str]:
        found: dict[int, str] = {}
        for name, address in self._held:
            found.setdefault(address, name)
        return found

    @cached_property
    def _held(self) -> list[tuple[str, int]]:
        return [pair for thread in self._threads for pair in self._of_thread(thread)]

    def _of_thread(self, thread: Thread) -> Iterator[tuple[str, int]]:
        own = [frame for frame in thread.python if is_own(frame)]
        for frame in own:
            yield from _locals(frame)
        files = dict.fromkeys(frame.file for frame in own)
        modules = names(self.objects, thread, files) if files else {}
        for file in files:
            held = modules.get(file, {})
            yield from ((name, at) for name, at in held.items() if not name.startswith(HIDDEN))
        for frame in thread.python:
            if not is_own(frame):
                yield from _locals(frame)


def is_own(frame: PythonFrame) -> bool:
    """Whether a call is of the user's own code: not of a package, nor of Python's library."""
    seen = Frame(function=frame.function, file=frame.file, language="python")
    return bool(frame.file) and not is_installed(seen) and not PYTHON_OWN.search(frame.file)


def _locals(frame: PythonFrame) -> Iterator[tuple[str, int]]:
    for name, value in frame.locals.items():
        if at := address_of(value):
            yield name, at
