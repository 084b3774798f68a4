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

from sigwhy.machine.demangle import demangled
from sigwhy.model.operation import Operation
from sigwhy.operations import tensorflow_attributes, words
from sigwhy.operations.classes import is_pointer
from sigwhy.operations.tensorflow_kernels import Kernels
from sigwhy.operations.tensorflow_params import Devices, Params, inputs, params

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.incident import Thread
    from sigwhy.model.operation import State
    from sigwhy.operations.scene import Scene

LIBRARIES = re.compile(r"/libtensorflow_(?:framework|cc)\.so|/_pywrap_tensorflow_internal\.so")
# oneDNN takes the place of an operation under a name of its own.
REWRITTEN = re.compile(
    r"^_(?:Mkl(?:Native)?)?Fused(?=Conv|MatMul|BatchMatMul|DepthwiseConv)|^_Mkl(?:Native)?(?=[A-Z])"
)
MOST_OPERATIONS = 6


def find(scene: Scene) -> Iterator[Operation]:
    """The operations that the crashed thread was in, the innermost first, then those of others."""
    yield from _Search(scene).found()


@dataclass(slots=True)
class _Search:
    scene: Scene
    kernels: Kernels = field(init=False)
    devices: Devices = field(init=False)

    def __post_init__(self) -> None:
        self.kernels = Kernels(self.scene)
        self.devices = Devices(self.scene)

    def found(self) -> Iterator[Operation]:
        crashed = self.scene.crashed
        if crashed is None:
            return
        stack = words.stack(self.scene.memory, crashed.registers)
        for one in self._on_stack(stack):
            yield self._operation(one, crashed, "running", "its parameters lie on the stack")

    def _on_stack(self, stack: Sequence[tuple[int, int]]) -> list[Params]:
        """Parameters that lie on the stack itself."""
        found = []
        for address, word in stack:
            if is_pointer(word) and self.kernels.is_kernel(word):
                one = params(self.kernels, self.devices, address)
                if one:
                    found.append(one)
        return found[:MOST_OPERATIONS]

    def _operation(self, one: Params, thread: Thread, state: State, found: str) -> Operation:
        node, kernel = one.kernel.node, one.kernel
        told, lack = inputs(self.scene, self.devices, one)
        missing = [lack] if lack else []
        if node.attributes is None:
            missing.append("the attributes: no map of them was found that fits")
        public = REWRITTEN.sub("", node.op)
        return Operation(
            framework="tensorflow",
            op=public,
            inner=node.op if node.op != public else "",
            tid=thread.tid,
            state=state,
            found=found,
            node=node.name,
            device=self.devices.name(one.device),
            kernel=demangled(f"_ZTS{kernel.kind}").removeprefix("typeinfo name for "),
            library=kernel.library,
            inputs=told,
            attributes=[
                tensorflow_attributes.argument(name, value)
                for name, value in sorted((node.attributes or {}).items())
                if not name.startswith("_")
            ],
            missing=missing,
        )
