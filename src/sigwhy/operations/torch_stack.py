"""Everything of PyTorch that lies on one thread's stack, the innermost first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sigwhy.operations.classes import is_pointer
from sigwhy.operations.torch_autograd import node
from sigwhy.operations.torch_calls import Call, Calls
from sigwhy.operations.torch_dispatch import Boxed, Dispatch, Entry
from sigwhy.operations.torch_iterators import Iterator, Iterators
from sigwhy.operations.torch_strings import Strings
from sigwhy.operations.torch_tensors import TENSOR, Tensor, Tensors
from sigwhy.operations.words import register_words, stack

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sigwhy.operations.scene import Scene

KERNEL = "N3c1014OperatorKernelE"
MOST_BYTES = 256 << 10
MOST_OF_A_KIND = 64


@dataclass(slots=True)
class Stack:
    """What was found on the stack of one thread."""

    words: Sequence[tuple[int, int]]
    calls: list[Call] = field(default_factory=list)
    boxed: list[Boxed] = field(default_factory=list)
    entries: list[tuple[int, Entry]] = field(default_factory=list)  # with the place of each
    iterators: list[Iterator] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    kernels: list[int] = field(default_factory=list)  # where objects stand that run an operator
    tensors: list[Tensor] = field(default_factory=list)

    def entry(self, base: str) -> Entry | None:
        """What the dispatcher calls an operator by this name."""
        return next((entry for _, entry in self.entries if entry.base == base), None)

    @property
    def innermost(self) -> int:
        """Where the innermost iterator lies: whatever called it lies above, below is old news."""
        return self.iterators[0].at if self.iterators else 0


class Looking:
    """Looks at stacks; what one has shown about memory is known for the next."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.tensors = Tensors(scene)
        strings = Strings()
        self.calls = Calls(scene.memory, strings)
        self.dispatch = Dispatch(scene.memory, scene.classes, strings)
        self.iterators = Iterators(scene, self.tensors)

    def at(self, registers: Mapping[str, int]) -> Stack:
        """All that lies on the stack to which these registers point."""
        memory = self.scene.memory
        words = stack(memory, registers, most=MOST_BYTES)
        found = Stack(words, calls=list(self.calls.on(words)))
        seen: set[int] = set()
        for value in register_words(registers):
            self._pointed(0, value, found, seen)
        for at, value in words:
            if not is_pointer(value) or (mapping := memory.mapping(value)) is None:
                continue
            if mapping.path.startswith("/") and (iterator := self.iterators.at(at)):
                found.iterators.append(iterator)
            elif mapping.rights.startswith("r") and "x" not in mapping.rights:
                self._pointed(at, value, found, seen)
            if self.scene.is_late:
                break
        return found

    def _pointed(self, at: int, value: int, found: Stack, seen: set[int]) -> None:
        """What a word points to, each once; an entry at each place, for places tell its age."""
        if value in seen or not is_pointer(value):
            if (entry := self.dispatch.known(value)) and at:
                found.entries.append((at, entry))
            return
        seen.add(value)
        classes = self.scene.classes.of(value)
        if classes:
            self._object(value, classes, found)
        elif entry := self.dispatch.entry(value):
            found.entries.append((at, entry))
        elif boxed := self.dispatch.boxed(value, self.tensors):
            found.boxed.append(boxed)

    def _object(self, value: int, classes: Sequence[str], found: Stack) -> None:
        """An object, where it is of a class that matters here."""
        if TENSOR in classes:
            tensor = self.tensors.at(value) if len(found.tensors) < MOST_OF_A_KIND else None
            found.tensors += [tensor] if tensor else []
        elif KERNEL in classes:
            found.kernels.append(value)
        elif name := node(self.scene.classes, value):
            found.nodes.append(name)
