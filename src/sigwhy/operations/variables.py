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
        return self.users(address) or self._others.get(address, "")

    def users(self, address: int) -> str:
        """The name that the user's own code has for an object; empty where it has none."""
        return self._own.get(address, "")

    def in_sight(self, thread: Thread) -> Iterator[tuple[str, int]]:
        """Every name that the user has, and then those that the packages on a thread have."""
        yield from self.all()
        for frame in thread.python:
            yield from _locals(frame)

    def all(self) -> Iterator[tuple[str, int]]:
        """Every name of the user's with the address of what it holds, the innermost first."""
        yield from dict.fromkeys(self._held)

    @cached_property
    def modules(self) -> dict[str, dict[str, int]]:
        """By file of the user's own: the names of its module, and where what they hold lies."""
        found: dict[str, dict[str, int]] = {}
        for thread in self._threads:
            files = {frame.file for frame in thread.python if is_own(frame)} - set(found)
            for file, held in (names(self.objects, thread, files) if files else {}).items():
                found[file] = {name: at for name, at in held.items() if not name.startswith(HIDDEN)}
        return found

    @cached_property
    def _own(self) -> dict[int, str]:
        return {address: name for name, address in reversed(self._held)}

    @cached_property
    def _others(self) -> dict[int, str]:
        calls = [frame for thread in self._threads for frame in thread.python if not is_own(frame)]
        held = [pair for frame in calls for pair in _locals(frame)]
        return {address: name for name, address in reversed(held)}

    @cached_property
    def _held(self) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        for thread in self._threads:
            own = [frame for frame in thread.python if is_own(frame)]
            found += [pair for frame in own for pair in _locals(frame)]
            for file in dict.fromkeys(frame.file for frame in own):
                found += self.modules.get(file, {}).items()
        return found


def is_own(frame: PythonFrame) -> bool:
    """Whether a call is of the user's own code: not of a package, nor of Python's library."""
    seen = Frame(function=frame.function, file=frame.file, language="python")
    return bool(frame.file) and not is_installed(seen) and not PYTHON_OWN.search(frame.file)


def _locals(frame: PythonFrame) -> Iterator[tuple[str, int]]:
    for name, value in frame.locals.items():
        if at := address_of(value):
            yield name, at
