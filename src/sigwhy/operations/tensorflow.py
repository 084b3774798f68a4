"""Which TensorFlow operation a dead process was in.

Executors keep the parameters of the running kernel on the stack of its thread. So the words of the
stack are looked through, from the innermost on: a kernel followed by a device are the parameters
themselves; a pointer may lead to a context which knows them, or to a closure which holds the
context. No unwinding, no symbols, no offsets that belong to a version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sigwhy.machine.demangle import demangled
from sigwhy.model.operation import Operation
from sigwhy.operations import tensorflow_attributes, words
from sigwhy.operations.tensorflow_kernels import Kernels
from sigwhy.operations.tensorflow_params import Devices, inputs
from sigwhy.operations.tensorflow_scan import Scan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Thread
    from sigwhy.operations.scene import Scene
    from sigwhy.operations.tensorflow_kernels import Node
    from sigwhy.operations.tensorflow_scan import Construction, Hit

LIBRARIES = re.compile(r"/libtensorflow_(?:framework|cc)\.so|/_pywrap_tensorflow_internal\.so")
# oneDNN takes the place of an operation under a name of its own.
REWRITTEN = re.compile(
    r"^_(?:Mkl(?:Native)?)?Fused(?=Conv|MatMul|BatchMatMul|DepthwiseConv)|^_Mkl(?:Native)?(?=[A-Z])"
)
# What every call of a function runs: in old memory it is no news.
EVERYWHERE = frozenset({"_Arg", "_Retval", "_DeviceArg", "_DeviceRetval", "NoOp", "Identity"})
OTHER_BYTES = 64 << 10


def find(scene: Scene) -> Iterator[Operation]:
    """The operations that the crashed thread was in, the innermost first, then those of others."""
    yield from _Search(scene).found()


@dataclass(slots=True)
class _Search:
    scene: Scene
    kernels: Kernels = field(init=False)
    devices: Devices = field(init=False)
    scan: Scan = field(init=False)

    def __post_init__(self) -> None:
        self.kernels = Kernels(self.scene)
        self.devices = Devices(self.scene)
        self.scan = Scan(self.scene, self.kernels, self.devices)

    def found(self) -> Iterator[Operation]:
        crashed = self.scene.crashed
        own = list(self._of_crashed(crashed)) if crashed else []
        yield from own
        for thread in self.scene.threads:
            if thread is not crashed and not self.scene.is_late:
                yield from self._of_other(thread, is_hint=not own)

    def _of_crashed(self, thread: Thread) -> Iterator[Operation]:
        stack = words.stack(self.scene.memory, thread.registers)
        hits = self.scan.running(stack, words.register_words(thread.registers))
        for hit in hits:
            yield self._running(hit, thread)
        known = {hit.params.kernel.node.address for hit in hits}
        for made in self.scan.constructions(stack) if not hits else ():
            if made.node.address not in known:
                yield self._constructing(made, thread)

    def _of_other(self, thread: Thread, *, is_hint: bool) -> Iterator[Operation]:
        """What another thread is in. It may be what the dead one worked for, if that is in nothing."""
        stack = words.stack(self.scene.memory, thread.registers, most=OTHER_BYTES)
        for hit in self.scan.on_stack(stack)[:1]:
            if hit.params.kernel.node.op not in EVERYWHERE:
                told = self._running(hit, thread)
                yield replace(told, state="beside", is_hint=is_hint)

    def _running(self, hit: Hit, thread: Thread) -> Operation:
        kernel = hit.params.kernel
        told, lack = inputs(self.scene, self.devices, hit.params)
        plain = self._node(kernel.node, hit.params.device)
        return replace(
            plain,
            tid=thread.tid,
            found=hit.found,
            kernel=demangled(f"_ZTS{kernel.kind}").removeprefix("typeinfo name for "),
            library=kernel.library,
            inputs=told,
            missing=[*([lack] if lack else []), *plain.missing],
        )

    def _constructing(self, made: Construction, thread: Thread) -> Operation:
        return replace(
            self._node(made.node, made.device),
            tid=thread.tid,
            state="constructing",
            found="the node for which a kernel is being made lies on the stack",
            missing=["the inputs: while a kernel is being made there are none yet"],
        )

    def _node(self, node: Node, device: int) -> Operation:
        """What the node alone tells."""
        public = REWRITTEN.sub("", node.op)
        lack = "the attributes: no map of them was found that fits"
        return Operation(
            framework="tensorflow",
            op=public,
            inner=node.op if node.op != public else "",
            node=node.name,
            device=self.devices.name(device),
            attributes=[
                tensorflow_attributes.argument(name, value)
                for name, value in sorted((node.attributes or {}).items())
                if not name.startswith("_")
            ],
            missing=[lack] if node.attributes is None else [],
        )
