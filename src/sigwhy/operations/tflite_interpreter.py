"""The subgraphs of a TensorFlow Lite interpreter, their nodes and the operators of the nodes.

A subgraph is known by its run-time type. Where its members lie is found anew in each process, by what
must fit: the context points back to it, two places know the tensors, and the nodes of a vector have
lists of tensors and functions that are code. The C structures below are part of the API of TFLite and
of its delegates, so they stay as they are; what was added to them in time is found by the same checks.

| structure | members |
|---|---|
| TfLiteContext | tensor count 0, a function 8, tensors 16, subgraph 24, a function 32 |
| TfLiteNode, 80 bytes | inputs 0, outputs 8, intermediates 16, temporaries 24, user 32, options 40, delegate 64 |
| TfLiteRegistration, behind the node | init 0, free 8, prepare 16, invoke 24, number 40, name 48, version 56 |
| TfLiteIntArray | count 0 (4 bytes), values from 4 |
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.machine.memory import PAGE, UnreadableError
from sigwhy.operations.classes import is_pointer
from sigwhy.tflite.model import name_of, names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.machine.memory import Memory
    from sigwhy.operations.classes import Classes

SUBGRAPH = "N6tflite8SubgraphE"
OPERATORS = "BuiltinOperator"
CUSTOM, DELEGATE = 32, 51  # these two have a name of their own
NEWER = 64  # operators that a later version may add
WORDS = 160  # of a subgraph that are looked at
NODE = 80
REGISTRATIONS = (88, 80, 96, 72, 104)  # 80 until 2.14, 88 since; more may come
MOST_TENSORS, MOST_NODES, MOST_SUBGRAPHS = 1 << 22, 1 << 20, 1 << 14
MOST_LISTED = 4096
TRIED_NODES = 4
LONGEST_NAME = 256
FUNCTIONS_OF_A_REGISTRATION = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What stands behind a node: the operator and its functions; 0 where it has none."""

    op: str
    code: int
    version: int
    init: int
    prepare: int
    invoke: int

    @property
    def functions(self) -> tuple[int, ...]:
        """The two that run while a graph is prepared and invoked."""
        return tuple(f for f in (self.prepare, self.invoke) if f)

    @property
    def is_delegate(self) -> bool:
        """Whether a delegate runs here in the place of other nodes."""
        return self.code == DELEGATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node of a graph; a list that could not be read is None."""

    index: int
    inputs: tuple[int, ...] | None
    outputs: tuple[int, ...] | None
    options: int
    delegate: int
    registration: Registration
    replaces: tuple[int, ...] = ()  # nodes that a delegate runs here


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph:
    """One subgraph: where its arrays lie and how many things are in them."""

    address: int
    library: str
    context: int
    tensors: int
    tensor_count: int
    tensor_bytes: int  # of one tensor; 0 where the two places that know it differ
    nodes: int = 0
    node_count: int = 0
    node_bytes: int = 0
    index: int | None = None
    siblings: tuple[int, ...] = ()

    def holds(self, pointer: int) -> bool:
        """Whether a place lies among the nodes."""
        return self.nodes <= pointer < self.nodes + self.node_count * self.node_bytes

    def node_at(self, pointer: int) -> int | None:
        """The node that a pointer means: to the node itself, or to its registration."""
        if not self.holds(pointer):
            return None
        n, rest = divmod(pointer - self.nodes, self.node_bytes)
        return n if rest in (0, NODE) else None


class Interpreters:
    """The subgraphs that are found in one memory; each is looked at once."""

    def __init__(self, memory: Memory, classes: Classes) -> None:
        self.memory = memory
        self.classes = classes
        self._known: dict[int, Subgraph | None] = {}
        self._nodes: dict[tuple[int, int], Node | None] = {}

    def is_subgraph(self, address: int) -> bool:
        """Whether an object of that class lies there."""
        return self.classes.is_a(address, SUBGRAPH)

    def subgraph(self, address: int) -> Subgraph | None:
        """The subgraph at an address, if it is one and its members fit together."""
        if address not in self._known:
            self._known[address] = None
            if is_pointer(address) and self.is_subgraph(address):
                self._known[address] = self._subgraph(address)
        return self._known[address]

    def of_context(self, pointer: int) -> Subgraph | None:
        """The subgraph whose context a pointer means."""
        try:
            address = self.memory.word(pointer + 24) if is_pointer(pointer) else 0
        except UnreadableError:
            return None
        if not 0 < pointer - address < 8 * WORDS:
            return None
        found = self.subgraph(address)
        return found if found and found.context == pointer else None

    def node(self, subgraph: Subgraph, index: int) -> Node | None:
        """A node of a subgraph; None where it is none."""
        key = subgraph.address, index
        if key not in self._nodes:
            self._nodes[key] = self._node(subgraph, index)
        return self._nodes[key]

    def nodes(self, subgraph: Subgraph, most: int) -> Iterator[Node]:
        """The nodes that can be read."""
        for n in range(min(subgraph.node_count, most)):
            if found := self.node(subgraph, n):
                yield found

    def numbers(self, pointer: int) -> tuple[int, ...] | None:
        """A list of numbers of TFLite; nothing there is an empty one, and None is no list."""
        if not pointer:
            return ()
        if not is_pointer(pointer):
            return None
        try:
            (count,) = struct.unpack("<i", self.memory.read(pointer, 4))
            if not 0 <= count <= MOST_LISTED:
                return None
            return (
                struct.unpack(f"<{count}i", self.memory.read(pointer + 4, 4 * count))
                if count
                else ()
            )
        except UnreadableError:
            return None

    def registration(self, address: int) -> Registration | None:
        """The operator that a registration is for, if it looks like one."""
        try:
            words = struct.unpack("<8Q", self.memory.read(address, 64))
        except UnreadableError:
            return None
        functions = words[:FUNCTIONS_OF_A_REGISTRATION]
        code = words[5] & 0xFFFFFFFF
        if code >= len(names(OPERATORS)) + NEWER or not all(
            self._is_code(f) for f in functions if f
        ):
            return None
        if not any(functions):
            return None
        return Registration(
            op=self._name(code, words[6]),
            code=code,
            version=words[7] & 0xFFFFFFFF,
            init=words[0],
            prepare=words[2],
            invoke=words[3],
        )

    # ---- finding the members ----------------------------------------------------------------

    def _subgraph(self, address: int) -> Subgraph | None:
        words = self._words(address)
        context = self._context(address, words)
        if context is None:
            return None
        count, tensors = words[context], words[context + 2]
        nodes, node_count, node_bytes = self._vector_of_nodes(words)
        index, siblings = self._siblings(address, words)
        return Subgraph(
            address=address,
            library=self.classes.library(address),
            context=address + 8 * context,
            tensors=tensors,
            tensor_count=count,
            tensor_bytes=_tensor_bytes(words, count, tensors, context + 2),
            nodes=nodes,
            node_count=node_count,
            node_bytes=node_bytes,
            index=index,
            siblings=siblings,
        )

    def _words(self, address: int) -> tuple[int, ...]:
        """The words of an object, as far as they can be read."""
        end = address + 8 * WORDS
        for last in (end, (address & -PAGE) + PAGE):
            size = min(end, last) - address
            try:
                return struct.unpack(f"<{size // 8}Q", self.memory.read(address, size // 8 * 8))
            except UnreadableError:
                continue
        return ()

    def _context(self, address: int, words: Sequence[int]) -> int | None:
        """The word at which the context begins, which points back to the subgraph."""
        for n in range(1, len(words) - 4):
            if words[n + 3] != address or words[n] > MOST_TENSORS:
                continue
            if not (self._is_code(words[n + 1]) and self._is_code(words[n + 4])):
                continue
            if not words[n] or is_pointer(words[n + 2]):
                return n
        return None

    def _vector_of_nodes(self, words: Sequence[int]) -> tuple[int, int, int]:
        """Where the nodes begin, how many there are, and the size of one."""
        for unfinished in (False, True):
            for n in range(1, len(words) - 2):
                begin, end, limit = words[n : n + 3]
                if not (is_pointer(begin) and begin < end <= limit):
                    continue
                for size in REGISTRATIONS:
                    count, rest = divmod(end - begin, NODE + size)
                    fits = not rest and (limit - begin) % (NODE + size) == 0 and count <= MOST_NODES
                    if fits and self._are_nodes(begin, count, NODE + size, unfinished=unfinished):
                        return begin, count, NODE + size
        return 0, 0, 0

    def _are_nodes(self, begin: int, count: int, size: int, *, unfinished: bool) -> bool:
        """Whether nodes lie there; the last one may still be without its operator."""
        if unfinished:
            return count == 1 and self._is_node(begin, has_operator=False)
        tried = {*range(min(count, TRIED_NODES)), *([count - 1] if count <= TRIED_NODES else [])}
        last = max(tried)
        return all(
            self._is_node(begin + n * size, has_operator=True)
            or (
                n and n == last == count - 1 and self._is_node(begin + n * size, has_operator=False)
            )
            for n in sorted(tried)
        )

    def _is_node(self, address: int, *, has_operator: bool) -> bool:
        try:
            lists = struct.unpack("<4Q", self.memory.read(address, 32))
            functions = self.memory.read(address + NODE, 32)
        except UnreadableError:
            return False
        if not (lists[0] and lists[1]) or any(self.numbers(at) is None for at in lists):
            return False
        return bool(self.registration(address + NODE)) if has_operator else not any(functions)

    def _siblings(self, address: int, words: Sequence[int]) -> tuple[int | None, tuple[int, ...]]:
        """The number of a subgraph, and all of its interpreter: a vector that holds this one too."""
        for pointer in words[1:]:
            if not is_pointer(pointer) or pointer == address:
                continue
            try:
                begin, end = struct.unpack("<2Q", self.memory.read(pointer, 16))
                size = end - begin
                if not is_pointer(begin) or size % 8 or not 0 < size <= 8 * MOST_SUBGRAPHS:
                    continue
                all_ = struct.unpack(f"<{size // 8}Q", self.memory.read(begin, size))
            except UnreadableError:
                continue
            if address in all_ and all(self.is_subgraph(one) for one in all_):
                return all_.index(address), all_
        return None, ()

    # ---- reading the members ----------------------------------------------------------------

    def _node(self, subgraph: Subgraph, index: int) -> Node | None:
        if not 0 <= index < subgraph.node_count:
            return None
        at = subgraph.nodes + index * subgraph.node_bytes
        try:
            words = struct.unpack("<10Q", self.memory.read(at, NODE))
        except UnreadableError:
            return None
        registration = self.registration(at + NODE)
        if registration is None:
            return None
        return Node(
            index=index,
            inputs=self.numbers(words[0]),
            outputs=self.numbers(words[1]),
            options=words[5],
            delegate=words[8],
            registration=registration,
            replaces=self._replaced(words[5]) if registration.is_delegate else (),
        )

    def _replaced(self, parameters: int) -> tuple[int, ...]:
        """The nodes that a delegate runs: {delegate, list of nodes, ...}."""
        try:
            return self.numbers(self.memory.word(parameters + 8)) or ()
        except UnreadableError:
            return ()

    def _name(self, code: int, pointer: int) -> str:
        own = ""
        if pointer and code in (CUSTOM, DELEGATE):
            try:
                own = self.memory.text(pointer, LONGEST_NAME)
            except UnreadableError:
                own = ""
        return own if own and own.isprintable() else name_of(OPERATORS, code)

    def _is_code(self, address: int) -> bool:
        mapping = self.memory.mapping(address)
        return bool(mapping and "x" in mapping.rights)


def _tensor_bytes(words: Sequence[int], count: int, tensors: int, but: int) -> int:
    """The size of a tensor: the vector of the subgraph knows the array that the context knows."""
    for n in range(1, len(words) - 2):
        if words[n] != tensors or n == but or not count:
            continue
        size, rest = divmod(words[n + 1] - tensors, count)
        if words[n + 1] > tensors and not rest and words[n + 1] <= words[n + 2]:
            return size
    return 0
