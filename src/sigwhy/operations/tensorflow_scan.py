"""Where a thread's stack leads to the parameters of a kernel, and to a kernel that is being made.

Parameters lie on the stack itself, or on the heap behind a context to which the stack points, or one
step further, behind a closure that holds the context. What is found first is the innermost.
"""

from __future__ import annotations

import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations.classes import WORD, is_pointer
from sigwhy.operations.tensorflow_params import Params, params

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sigwhy.operations.scene import Scene
    from sigwhy.operations.tensorflow_kernels import Kernels, Node
    from sigwhy.operations.tensorflow_params import Devices

CONTEXT = "N10tensorflow15OpKernelContextE"  # has a class of its own since 2.17 or so
CONTEXT_WORDS = range(1, 5)  # of a context, one is the pointer to its parameters
HEAD = 64  # bytes of the parameters within which kernel and device stand
CLOSURE = 128
BEFORE = 10  # words before the node in which a construction knows its device
MOST = 6


@dataclass(frozen=True, slots=True)
class Hit:
    """Parameters, at which place of the stack they were found, and how."""

    params: Params
    at: int
    found: str


@dataclass(frozen=True, slots=True)
class Construction:
    """A node whose kernel is being made, and for which device."""

    node: Node
    device: int
    at: int


@dataclass(slots=True)
class Scan:
    """Looks through the words of stacks."""

    scene: Scene
    kernels: Kernels
    devices: Devices

    def near(self, stack: Sequence[tuple[int, int]]) -> list[Hit]:
        """The kernels whose parameters or context lie among these words, in the order of these."""
        if hits := list(self._unique(self._on_stack(stack))):
            return hits[:MOST]
        ends = (stack[0][0], stack[-1][0]) if stack else (0, 0)
        inside = range(min(ends), max(ends))
        places = {w: at for w, at in self._places(stack, ()).items() if w in inside}
        return list(self._unique(self._behind(places)))[:MOST]

    def further(self, stack: Sequence[tuple[int, int]], registers: Iterable[int]) -> list[Hit]:
        """The kernels to which these words lead through the heap."""
        places = self._places(stack, registers)
        hits = list(self._unique(self._behind(places)))
        return (hits or list(self._unique(self._closures(places))))[:MOST]

    def leads_into(
        self, stack: Sequence[tuple[int, int]], registers: Iterable[int], inside: range
    ) -> bool:
        """Whether a stack points into a range, or to something that does."""
        places = self._places(stack, registers)
        return any(word in inside for word in places) or any(
            behind in inside
            for word in places
            for behind in self._words(word, range(CLOSURE // WORD))
        )

    def constructions(
        self, stack: Sequence[tuple[int, int]], registers: Sequence[int]
    ) -> Iterator[Construction]:
        """Kernels that are being made: the properties of a node, soon behind a device.

        Who makes a kernel has a pointer to both further down, which old words have not.
        """
        for n, (at, word) in enumerate(stack):
            node = self.kernels.node(word) if self._is_data(word) else None
            if node is None:
                continue
            near = [value for _, value in stack[max(0, n - BEFORE) : n]]
            device = next((value for value in near if self.devices.is_device(value)), None)
            inside = range(at - WORD * BEFORE, at)
            below = (*registers, *(value for _, value in stack[: max(0, n - BEFORE)]))
            if device and any(value in inside for value in below):
                yield Construction(node, device, at)

    def _places(self, stack: Sequence[tuple[int, int]], registers: Iterable[int]) -> dict[int, int]:
        """Every value that may point to data, and where it stands innermost."""
        places: dict[int, int] = {}
        low = stack[0][0] if stack else 0
        for at, word in (*((low, value) for value in registers), *stack):
            if word not in places and self._is_data(word):
                places[word] = at
        return places

    def _is_data(self, word: int) -> bool:
        mapping = self.scene.memory.mapping(word) if is_pointer(word) else None
        return mapping is not None and mapping.rights.startswith("rw")

    def _on_stack(self, stack: Sequence[tuple[int, int]]) -> Iterator[Hit]:
        for at, word in stack:
            if self.kernels.is_kernel(word) and (one := params(self.kernels, self.devices, at)):
                yield Hit(one, at, "its parameters lie on the stack")

    def _behind(self, places: dict[int, int]) -> Iterator[Hit]:
        for word, at in places.items():
            if self.scene.is_late:
                return
            if one := self._head(word):
                yield Hit(one, at, "the stack points to its parameters")
            for pointer in self._words(word, CONTEXT_WORDS):
                if one := self._head(pointer):
                    yield Hit(one, at, "the stack points to its context")

    def _closures(self, places: dict[int, int]) -> Iterator[Hit]:
        for word, at in places.items():
            if self.scene.is_late:
                return
            for context in self._words(word, range(CLOSURE // WORD)):
                for pointer in self._words(context, CONTEXT_WORDS):
                    if one := self._head(pointer):
                        yield Hit(one, at, "a closure on the stack holds its context")

    def _words(self, address: int, which: range) -> list[int]:
        """Those words behind an address that may point to data."""
        try:
            packed = self.scene.memory.peek(address + WORD * which.start, WORD * len(which))
        except UnreadableError:
            return []
        return [word for word in array.array("Q", packed) if self._is_data(word)]

    def _head(self, address: int) -> Params | None:
        """The parameters that begin at an address."""
        try:
            packed = self.scene.memory.peek(address, HEAD)
        except UnreadableError:
            return None
        for n, kernel in enumerate(array.array("Q", packed)):
            if self.kernels.is_kernel(kernel) and (
                one := params(self.kernels, self.devices, address + WORD * n)
            ):
                return one
        return None

    @staticmethod
    def _unique(hits: Iterable[Hit]) -> Iterator[Hit]:
        seen: set[int] = set()
        for hit in hits:
            if hit.params.kernel.address not in seen:  # old copies of its parameters lie further up
                seen.add(hit.params.kernel.address)
                yield hit
