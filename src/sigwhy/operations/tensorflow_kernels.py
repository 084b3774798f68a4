"""Kernels of TensorFlow and the nodes they were made for, each checked by what it repeats.

A kernel (``OpKernel``) points to its ``NodeProperties`` = {OpDef*, NodeDef, input types, output types}
and holds views of the node's name and operation. It is believed where the classes are right, the
NodeDef says the same name and operation, and the OpDef, which lies elsewhere, has that operation.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations import cpp, protobuf, tensorflow_attributes, tensorflow_signature
from sigwhy.operations.classes import WORD, is_pointer

if TYPE_CHECKING:
    from sigwhy.operations.scene import Scene
    from sigwhy.operations.tensorflow_attributes import Value

KERNEL, NODE, DEFINITION = (
    "N10tensorflow8OpKernelE",
    "N10tensorflow7NodeDefE",
    "N10tensorflow5OpDefE",
)
OPERATION = re.compile(r"^(?:\w+>)*[A-Za-z_]\w{0,199}$")
PROPERTIES = range(8, 72, WORD)  # where a kernel may keep them: it is the second word up to now
VIEWS = range(72, 400, WORD)
LIKELY_VIEWS = 200
TEXTS = range(16, 260, WORD)  # of a NodeDef or OpDef
LONGEST = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node as its NodeDef tells it."""

    address: int  # of its properties
    op: str
    name: str
    device: str  # that was asked for
    attributes: dict[str, Value] | None
    inputs: tuple[tensorflow_signature.Named, ...] | None
    input_types: tuple[int, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """The object that runs an operation. Its class may be of a library of the user's own."""

    address: int
    kind: str  # its class, as the compiler writes it
    library: str
    node: Node


@dataclass(slots=True)
class Kernels:
    """The kernels of one memory; each address is looked at once."""

    scene: Scene
    refused: dict[int, str] = field(default_factory=dict)  # what is called, and does not fit: class
    _kernels: dict[int, Kernel | None] = field(default_factory=dict)
    _nodes: dict[int, Node | None] = field(default_factory=dict)

    def is_kernel(self, address: int) -> bool:
        """Whether an object is a kernel by its class."""
        return self.scene.classes.is_a(address, KERNEL)

    def kernel(self, address: int) -> Kernel | None:
        """The kernel at an address, where everything about it fits."""
        if address not in self._kernels:
            self._kernels[address] = None
            if self.is_kernel(address):
                with contextlib.suppress(UnreadableError):
                    self._kernels[address] = self._kernel(address)
        return self._kernels[address]

    def half_made(self, address: int, node: Node) -> int:
        """The address again, where a kernel for this node lies that is more than a bare one."""
        found = self.kernel(address)
        whole = found is not None and found.kind != KERNEL and found.node.address == node.address
        return address if whole else 0

    def node(self, address: int) -> Node | None:
        """The node whose properties lie at an address."""
        if address not in self._nodes:
            self._nodes[address] = None
            with contextlib.suppress(UnreadableError):
                self._nodes[address] = self._node(address)
        return self._nodes[address]

    def _kernel(self, address: int) -> Kernel | None:
        for place in PROPERTIES:
            at = self.scene.memory.word(address + place)
            node = self.node(at) if is_pointer(at) else None
            if node and self._repeats(address, node):
                return Kernel(
                    address=address,
                    kind=self.scene.classes.of(address)[0],
                    library=self.scene.classes.library(address),
                    node=node,
                )
        return None

    def _repeats(self, address: int, node: Node) -> bool:
        """Whether the kernel has views of this name and this operation, one behind the other."""
        wanted = (node.name.encode(), node.op.encode())
        for place in (LIKELY_VIEWS, *VIEWS):
            try:
                name = cpp.view(self.scene.memory, address + place, LONGEST)[1]
                if name == wanted[0]:
                    op = cpp.view(self.scene.memory, address + place + 16, LONGEST)[1]
                    if op == wanted[1]:
                        return True
            except UnreadableError:
                continue
        return False

    def _node(self, address: int) -> Node | None:
        classes, memory = self.scene.classes, self.scene.memory
        definition, node = memory.word(address), address + WORD
        if not (classes.is_a(node, NODE) and classes.is_a(definition, DEFINITION)):
            return None
        texts = self._texts(node)
        known = {text for _, text in self._texts(definition) if OPERATION.match(text)}
        for (place, name), (_, op), (at, device) in zip(texts, texts[1:], texts[2:], strict=False):
            if at == place + 2 * WORD and op in known and name and (not device or "/" in device):
                attributes = tensorflow_attributes.attributes(self.scene, node)
                told = tensorflow_signature.inputs(
                    self.scene, definition, attributes or {}, node + at + WORD
                )
                return Node(
                    address=address,
                    op=op,
                    name=name,
                    device=device,
                    attributes=attributes,
                    inputs=told[0],
                    input_types=told[1],
                )
        return None

    def _texts(self, message: int) -> list[tuple[int, str]]:
        """The text fields of a message, and where they stand in it."""
        found = []
        for place in TEXTS:
            try:
                found.append((place, protobuf.text(self.scene.memory, message + place, LONGEST)))
            except UnreadableError:
                continue
        return found
