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
from sigwhy.operations import (
    tensorflow_attributes,
    tensorflow_datasets,
    tensorflow_left,
    tensorflow_trace,
    tensorflow_xla,
    words,
)
from sigwhy.operations.tensorflow_kernels import Kernels
from sigwhy.operations.tensorflow_params import Devices, inputs
from sigwhy.operations.tensorflow_scan import Scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sigwhy.model.incident import Thread
    from sigwhy.operations.scene import Scene
    from sigwhy.operations.tensorflow_datasets import Place
    from sigwhy.operations.tensorflow_kernels import Node
    from sigwhy.operations.tensorflow_scan import Construction, Hit
    from sigwhy.operations.tensorflow_xla import Instruction

LIBRARIES = re.compile(r"/libtensorflow_(?:framework|cc)\.so|/_pywrap_tensorflow_internal\.so")
# oneDNN takes the place of an operation under a name of its own.
REWRITTEN = re.compile(
    r"^_(?:Mkl(?:Native)?)?Fused(?=Conv|MatMul|BatchMatMul|DepthwiseConv)|^_Mkl(?:Native)?(?=[A-Z])"
)
# What every call of a function runs: in old memory it is no news.
EVERYWHERE = frozenset({"_Arg", "_Retval", "_DeviceArg", "_DeviceRetval", "NoOp", "Identity"})
OTHER_BYTES = 64 << 10
MOST_NOTES = 2
# These only ask the iterators of a pipeline, in one of which it died then.
PULLS = re.compile(r"^(?:Multi|Optional|OneShot)?\w*IteratorGetNext\w*$")
COMPILED = "tensorflow::Xla"  # how the classes of kernels begin that run compiled functions


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
        if not own:
            self._note_what_was_refused()
        yield from own
        for thread in self.scene.threads:
            if thread is not crashed and not self.scene.is_late:
                yield from self._of_other(thread, None if own else crashed)

    def _note_what_was_refused(self) -> None:
        """A kernel was about to be named, but what memory says of it contradicts itself."""
        kinds = dict.fromkeys(readable(kind) for kind in self.kernels.refused.values())
        for kind in list(kinds)[:MOST_NOTES]:
            says = f"the operation that the kernel {kind} ran: what its memory says does not fit together"
            self.scene.notes.append(says)

    def _of_crashed(self, thread: Thread) -> Iterator[Operation]:
        """What the dead thread was in, had just been thrown out of, or was making the kernel of."""
        stack = words.stack(self.scene.memory, thread.registers)
        pipeline = tensorflow_datasets.place(self.scene, stack)
        hits = self.scan.near(stack)
        registers = words.register_words(thread.registers)
        if not hits and (dead := self._dead(thread)):
            hits = self._news([*self.scan.near(dead), *self.scan.further(stack, registers)])
            yield from (self._left(hit, thread) for hit in hits[:1])
        elif hits := hits or self.scan.further(stack, registers):
            if pipeline and pipeline.at < hits[0].at and PULLS.match(hits[0].params.kernel.node.op):
                yield replace(self._in_pipeline(pipeline, thread), is_hint=False)
            told = (self._running(hit, thread, pipeline) for hit in hits)
            yield from (self._with_instruction(one, thread) for one in told)
        elif made := self._made(stack, registers):
            yield self._constructing(made, thread, stack)
        elif pipeline and not thread.python:
            yield self._in_pipeline(pipeline, thread)

    def _dead(self, thread: Thread) -> Sequence[tuple[int, int]]:
        """The words of calls that an exception has left; where nobody caught it, it left none."""
        if self.scene.signal is None or self.scene.signal.name == "SIGABRT":
            return []
        return tensorflow_left.dead_words(self.scene, thread.registers)

    def _left(self, hit: Hit, thread: Thread) -> Operation:
        found = "an exception is in flight, and its parameters lie where the stack was"
        return replace(self._running(hit, thread), state="left", is_hint=True, found=found)

    def _made(self, stack: Sequence[tuple[int, int]], registers: list[int]) -> Construction | None:
        made = self.scan.constructions(stack, registers)
        return next((one for one in made if one.node.op not in EVERYWHERE), None)

    @staticmethod
    def _news(hits: Iterable[Hit]) -> list[Hit]:
        return [hit for hit in hits if hit.params.kernel.node.op not in EVERYWHERE]

    def _in_pipeline(self, place: Place, thread: Thread) -> Operation:
        return Operation(
            framework="tensorflow",
            op=place.op,
            tid=thread.tid,
            is_hint=True,
            found="the stack points to its iterator",
            node=place.node,
            kernel=readable(place.kind),
            library=self.scene.classes.library(place.address),
            pipeline=place.pipeline,
            missing=["the inputs: a dataset keeps them in ways of its own"],
        )

    def _of_other(self, thread: Thread, idle: Thread | None) -> Iterator[Operation]:
        """What another thread is in: perhaps what the dead one, which is in nothing, worked for."""
        stack = words.stack(self.scene.memory, thread.registers, most=OTHER_BYTES)
        for hit in self._news(self.scan.near(stack)[:1]):
            told = self._running(hit, thread)
            inside = range(words.pointer(thread.registers), hit.at)
            if idle and (self._leads_into(idle, inside) or self._compiled(idle, told.op)):
                found = f"{hit.found} of the thread that it worked for"
                yield self._with_instruction(replace(told, tid=idle.tid, found=found), idle)
            else:
                yield replace(told, state="beside", is_hint=idle is not None)

    def _compiled(self, thread: Thread, function: str) -> bool:
        """Whether a thread runs what XLA made of a function."""
        found = self._instruction(thread)
        return found is not None and found.is_of(function)

    def _instruction(self, thread: Thread) -> Instruction | None:
        stack = words.stack(self.scene.memory, thread.registers, most=OTHER_BYTES)
        values = (*words.register_words(thread.registers), *(value for _, value in stack))
        return tensorflow_xla.instruction(self.scene, values)

    def _with_instruction(self, operation: Operation, thread: Thread) -> Operation:
        """The same; where XLA ran a compiled function, with the instruction."""
        if COMPILED not in operation.kernel:
            return operation
        found = self._instruction(thread)
        return replace(operation, inner=found.name) if found else operation

    def _leads_into(self, thread: Thread, inside: range) -> bool:
        """Whether a thread works with what lies in the frames of a kernel in another one.

        Who asks other threads for help keeps on its own stack what they share: the function, the
        barrier. Their stacks point there.
        """
        stack = words.stack(self.scene.memory, thread.registers, most=OTHER_BYTES)
        return self.scan.leads_into(stack, words.register_words(thread.registers), inside)

    def _running(self, hit: Hit, thread: Thread, place: Place | None = None) -> Operation:
        kernel = hit.params.kernel
        told, lack = inputs(self.scene, self.devices, hit.params)
        plain = self._node(kernel.node, hit.params.device)
        return replace(
            plain,
            tid=thread.tid,
            found=hit.found,
            kernel=readable(kernel.kind),
            library=kernel.library,
            inputs=told,
            pipeline=place.pipeline if place else "",
            trace=tensorflow_trace.trace(self.scene, hit.params.address),
            missing=[*([lack] if lack else []), *plain.missing],
        )

    def _constructing(
        self, made: Construction, thread: Thread, stack: Sequence[tuple[int, int]]
    ) -> Operation:
        half = next((k for _, word in stack if (k := self.kernels.half_made(word, made.node))), 0)
        return replace(
            self._node(made.node, made.device),
            tid=thread.tid,
            state="constructing",
            found="the node for which a kernel is being made lies on the stack",
            kernel=readable(self.scene.classes.of(half)[0]) if half else "",
            library=self.scene.classes.library(half) if half else "",
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


def readable(kind: str) -> str:
    """The name of a class as one reads it."""
    return demangled(f"_ZTS{kind}").removeprefix("typeinfo name for ")
