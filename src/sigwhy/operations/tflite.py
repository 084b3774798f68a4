"""Which operator of which TensorFlow Lite model a thread was in, in which phase, by which call.

Holds for the interpreters of TensorFlow, LiteRT, tflite_runtime and of C++ programs. The subgraphs
are found by their run-time type; ``tflite_node`` says how the node among them is told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sigwhy.machine.memory import UnreadableError
from sigwhy.model.operation import Model, Operation
from sigwhy.operations import tflite_model, tflite_node, tflite_phase, tflite_recursion
from sigwhy.operations.classes import is_pointer
from sigwhy.operations.functions import SYSTEM, Functions, namespace
from sigwhy.operations.tflite_interpreter import Interpreters
from sigwhy.operations.tflite_tensors import Tensors
from sigwhy.operations.words import extent, pointer, register_words, stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Thread
    from sigwhy.model.operation import Argument
    from sigwhy.operations.scene import Scene
    from sigwhy.operations.tflite_interpreter import Registration, Subgraph
    from sigwhy.operations.tflite_phase import Call, Doing

# A runtime has its name in the path; a program without Python may have it linked in.
LIBRARIES = re.compile(
    r"tflite|tensorflow/lite|tensorflowlite|litert|LiteRt|interpreter_wrapper|\A(?!.*python)",
    re.DOTALL,
)
RUNTIME = re.compile(r"tflite|litert|LiteRt|tensorflow/lite|tensorflowlite|interpreter_wrapper")
MOST_SUBGRAPHS = 256
MOST_OTHERS = 32
NEAR = 6144  # bytes of the stack from which a wrapper is looked for
MOST_TRIED = 3000
NO_NODE = frozenset({"load", "delete"})
NEAR_CALLS = 12
COPIES = ("get_tensor", "set_tensor")
COPIED_BY = 1024
DELEGATE_NAMES = ("tflite_plugin_create_delegate", "TfLiteExternalDelegateCreate")


@dataclass(slots=True)
class Sight:
    """What is seen from one thread."""

    thread: Thread
    words: list[tuple[int, int]]
    subgraphs: list[Subgraph] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    depth: int = 0


def find(scene: Scene) -> list[Operation]:
    """The operators that threads were in; of a process that died, the one that it died in first."""
    return Finder(scene).found()


class Finder:
    """One search; what it learns of one thread serves the others."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.memory = scene.memory
        self.interpreters = Interpreters(scene.memory, scene.classes)
        self.functions = Functions(scene.memory, scene.pid)
        self._tensors: dict[int, Tensors] = {}

    def found(self) -> list[Operation]:
        """The first thread that says something, and whoever else is in a node."""
        found: list[Operation] = []
        for n, thread in enumerate(self.scene.threads[: MOST_OTHERS + 1]):
            if self.scene.is_late:
                break
            operation = self._of_thread(thread)
            if operation is None:
                continue
            if n and self.scene.signal:
                hint = self._beside()
                if not operation.phase or (found and not hint):
                    continue
                operation = replace(operation, **hint)
            found.append(operation)
        return found

    def _beside(self) -> dict[str, object]:
        """What another thread's node is to the one that died: its pool works for it, or it is a hint."""
        crashed = self.scene.threads[0]
        at = self.functions.at(crashed.registers.get("rip", 0))
        works = bool(at and RUNTIME.search(at.library)) and not crashed.python
        return {} if works else {"state": "beside", "is_hint": True}

    def _of_thread(self, thread: Thread) -> Operation | None:
        sight = self._sight(thread)
        if not sight.subgraphs and not any(RUNTIME.search(m) for m in self._code(sight)):
            return None
        sight.calls = list(
            tflite_phase.calls(self.functions, thread.registers.get("rip", 0), sight.words)
        )
        libraries = frozenset(
            {call.function.library for call in sight.calls if RUNTIME.search(call.function.library)}
            | {subgraph.library for subgraph in sight.subgraphs}
        )
        doing = tflite_phase.doing(thread, sight.calls, libraries)
        if not sight.subgraphs and doing.call:
            sight.subgraphs = list(self._through_wrappers(sight))
        self._add_siblings(sight)
        return self._operation(sight, doing)

    # ---- what is there ----------------------------------------------------------------------

    def _sight(self, thread: Thread) -> Sight:
        registers = thread.registers
        words = [(n - 64, value) for n, value in enumerate(register_words(registers))]
        words += stack(self.memory, registers)
        whole = extent(self.memory, registers)
        sight = Sight(thread, words, depth=whole[1] - whole[0] if whole else 0)
        seen: set[int] = set()
        for _, value in words:
            if value in seen or not is_pointer(value):
                continue
            seen.add(value)
            mapping = self.memory.mapping(value)
            if mapping is None or not mapping.rights.startswith("rw"):
                continue
            found = self.interpreters.subgraph(value) or self.interpreters.of_context(value)
            if found and found not in sight.subgraphs:
                sight.subgraphs.append(found)
                if len(sight.subgraphs) >= MOST_SUBGRAPHS or self.scene.is_late:
                    break
        return sight

    def _code(self, sight: Sight) -> Iterator[str]:
        """The files whose code stands near the top of the stack."""
        for _, value in sight.words[:1024]:
            mapping = self.memory.mapping(value)
            if mapping and "x" in mapping.rights:
                yield mapping.path

    def _through_wrappers(self, sight: Sight) -> Iterator[Subgraph]:
        """Interpreter wrapper, interpreter, vector of subgraphs: three steps from the stack."""
        low = pointer(sight.thread.registers)
        near = [value for where, value in sight.words if where < low + NEAR]
        tried: set[int] = set()
        for wrapper in dict.fromkeys(near):
            for interpreter in self._pointers(wrapper, 6):
                if interpreter in tried:
                    continue
                tried.add(interpreter)
                if len(tried) > MOST_TRIED or self.scene.is_late:
                    return
                for vector in self._pointers(interpreter, 64):
                    found = next(
                        (self.interpreters.subgraph(p) for p in self._pointers(vector, 1)), None
                    )
                    if found:
                        yield found
                        return

    def _pointers(self, address: int, count: int) -> list[int]:
        """What the first words of an object that may be written point to."""
        if not is_pointer(address):
            return []
        mapping = self.memory.mapping(address)
        if mapping is None or not mapping.rights.startswith("rw"):
            return []
        try:
            packed = self.memory.read(address, min(8 * count, mapping.end - address))
        except UnreadableError:
            return []
        words = (int.from_bytes(packed[n : n + 8], "little") for n in range(0, len(packed), 8))
        return [word for word in words if is_pointer(word) and self.memory.mapping(word)]

    def _add_siblings(self, sight: Sight) -> None:
        for subgraph in list(sight.subgraphs):
            for address in subgraph.siblings[:MOST_SUBGRAPHS]:
                found = self.interpreters.subgraph(address)
                if found and found not in sight.subgraphs:
                    sight.subgraphs.append(found)

    # ---- what it means ----------------------------------------------------------------------

    def _operation(self, sight: Sight, doing: Doing) -> Operation | None:
        pointers = list(tflite_node.pointers(sight.words, sight.subgraphs))
        cycle = tflite_recursion.cycle(pointers, sight.depth)
        search = tflite_node.Search(self.interpreters, self.functions, sight.calls, pointers)
        found = tflite_recursion.turning(search) if cycle else None
        if doing.phase not in NO_NODE:
            found = found or search.found()
        if found is None and not (doing.is_live and doing.call):
            return None
        tensors = [self._tensors_of(subgraph) for subgraph in sight.subgraphs]
        model = tflite_model.found(self.scene, tensors, sight.words) or tflite_model.Found(Model())
        base = Operation(
            framework="tflite",
            op=doing.call,
            tid=sight.thread.tid,
            phase=doing.phase,
            call=doing.call,
            found="the call stands on the stack",
            library=self._library(sight),
            delegate=self._delegate(sight),
            model=model.model,
        )
        operation = self._with_node(base, found, doing) if found else base
        if found is None and (made := search.being_made(sight.words)):
            operation = self._made(base, made, sight)
        place = operation.model or model.model
        attributes = tflite_model.options(
            model.data, place.subgraph or 0, place.index or 0, operation.op
        )
        member = self.scene.keeper.keep_bytes(model.data, tflite_model.BYTES, [len(model.data)])
        return replace(
            operation,
            attributes=attributes,
            inputs=operation.inputs or self._copied(sight, doing),
            model=replace(place, cycle=cycle, member=member, owner=_owner(sight)),
        )

    def _made(self, base: Operation, made: Registration, sight: Sight) -> Operation:
        """An operator in its init(); its node is the last one."""
        function = self.functions.at(made.init)
        last = next((s for s in sight.subgraphs if s.node_count), None)
        return replace(
            base,
            op=made.op,
            phase="init",
            state="constructing",
            found="it was in its init(), which is on the stack",
            library=function.library if function else base.library,
            delegate=made.op if made.is_delegate else base.delegate,
            model=replace(
                base.model or Model(),
                subgraph=last.index if last else None,
                index=last.node_count - 1 if last else None,
            ),
        )

    def _copied(self, sight: Sight, doing: Doing) -> list[Argument]:
        """The tensor that a call copies, by a pointer to it near the top of the stack."""
        if not doing.call.endswith(COPIES) or doing.phase:
            return []
        low = pointer(sight.thread.registers)
        near = [value for where, value in sight.words if where < low + COPIED_BY]
        for value in near:
            for subgraph in sight.subgraphs:
                tensors = self._tensors_of(subgraph)
                if (number := tensors.number_at(value)) is not None:
                    return [tensors.argument(number, "tensor")]
        return []

    def _library(self, sight: Sight) -> str:
        """The file whose code was running, where it is not the system's."""
        files = (call.function.library for call in sight.calls[:NEAR_CALLS])
        return next((file for file in files if not SYSTEM.search(file)), "")

    def _delegate(self, sight: Sight) -> str:
        """A library that offers a delegate, and is on the stack."""
        files = dict.fromkeys(call.function.library for call in sight.calls[:NEAR_CALLS])
        offers = (file for file in files if self.functions.has(file, *DELEGATE_NAMES))
        return next((file.rpartition("/")[2] for file in offers if not RUNTIME.search(file)), "")

    def _with_node(self, base: Operation, found: tflite_node.Found, doing: Doing) -> Operation:
        subgraph, node = found.subgraph, found.node
        tensors = self._tensors_of(subgraph)
        registration = node.registration
        planned = doing.phase in ("", "invoke")
        kernel = next((c for c in (registration.prepare, registration.invoke) if c), 0)
        function = self.functions.at(kernel)
        delegate = registration.op if registration.is_delegate else base.delegate
        return replace(
            base,
            op=found.op or registration.op,
            found=found.how,
            is_hint=found.is_hint or not doing.is_live,
            state="running" if doing.is_live else "left",
            kernel=namespace(function.qualified) if function else "",
            library=function.library if function else base.library,
            delegate=delegate,
            model=replace(base.model or Model(), subgraph=subgraph.index, index=node.index),
            inputs=tensors.arguments(node.inputs, "input", planned=planned),
            outputs=tensors.arguments(node.outputs, "output", planned=planned),
        )

    def _tensors_of(self, subgraph: Subgraph) -> Tensors:
        if subgraph.address not in self._tensors:
            self._tensors[subgraph.address] = Tensors(self.scene, self.interpreters, subgraph)
        return self._tensors[subgraph.address]


def _owner(sight: Sight) -> int | None:
    """Where the first subgraph of the interpreter lies."""
    first = next(iter(sight.subgraphs), None)
    return next(iter(first.siblings), first.address) if first else None
