"""What a kernel was called with: ``OpKernelContext::Params``, its inputs and its device.

Params hold the kernel and, in the next word, the device. The inputs are a {pointer, count} behind
them, of pairs {mutex, tensor}; they are believed where every tensor is one, and of the type that
the node says.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations import protobuf, tensorflow_tensors, tensorflow_types
from sigwhy.operations.classes import WORD, is_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.operation import Argument
    from sigwhy.operations.scene import Scene
    from sigwhy.operations.tensorflow_kernels import Kernel, Kernels
    from sigwhy.operations.tensorflow_tensors import Tensor

DEVICE, ATTRIBUTES = "N10tensorflow10DeviceBaseE", "N10tensorflow16DeviceAttributesE"
COMPILES = "N10tensorflow20XlaCompilationDeviceE"  # its tensors hold no data, but how to get it
DEVICE_BYTES, TEXT_BYTES = 1024, 160
BEHIND = range(2 * WORD, 320, WORD)  # of the kernel
PAIR = 16  # {mutex, tensor}
MOST_INPUTS = 2048
MOST_DETAILED = 64


@dataclass(frozen=True, slots=True)
class Params:
    """Where the kernel and the device stand one behind the other."""

    address: int  # of the pointer to the kernel
    kernel: Kernel
    device: int


@dataclass(slots=True)
class Devices:
    """The devices of one memory, by address: what they are called."""

    scene: Scene
    _names: dict[int, str] = field(default_factory=dict)

    def is_device(self, address: int) -> bool:
        """Whether an object is a device by its class."""
        return self.scene.classes.is_a(address, DEVICE)

    def name(self, device: int) -> str:
        """The whole name of a device; nothing where it cannot be read."""
        if device not in self._names:
            self._names[device] = next(self._found(device), "")
        return self._names[device]

    def _found(self, device: int) -> Iterator[str]:
        for at in range(device + WORD, device + DEVICE_BYTES, WORD):
            if self.scene.classes.is_a(at, ATTRIBUTES):
                for place in range(16, TEXT_BYTES, WORD):
                    try:
                        name = protobuf.text(self.scene.memory, at + place, 1000)
                    except UnreadableError:
                        continue
                    if "/device:" in name:
                        yield name

    def is_host(self, device: int) -> bool:
        """Whether tensors of this device lie in ordinary memory."""
        name = self.name(device)
        return not self.is_compiler(device) and (not name or "/device:CPU:" in name)

    def is_compiler(self, device: int) -> bool:
        """Whether it is the device on which XLA compiles."""
        return self.scene.classes.is_a(device, COMPILES)


def params(kernels: Kernels, devices: Devices, address: int) -> Params | None:
    """The parameters whose pointer to the kernel stands at an address."""
    memory = kernels.scene.memory
    try:
        kernel, device = struct.unpack("<QQ", memory.read(address, 16))
    except UnreadableError:
        return None
    if not (kernels.is_kernel(kernel) and devices.is_device(device)):
        return None
    found = kernels.kernel(kernel)
    if found is None:
        kernels.refused[kernel] = kernels.scene.classes.of(kernel)[0]
        return None
    return Params(address, found, device)


def inputs(scene: Scene, devices: Devices, of: Params) -> tuple[list[Argument], str]:
    """The inputs, or why there are none."""
    types = of.kernel.node.input_types
    if types == ():
        return [], ""
    found = _tensors(scene, of.address, types)
    if found is None:
        return [], "the inputs: no list of tensors was found that has the types of the node"
    names = of.kernel.node.inputs
    on_device = not devices.is_host(of.device)
    told = []
    for n, one in enumerate(found[:MOST_DETAILED]):
        name = names[n].name if names else ""
        told.append(_argument(scene, one, name, on_device, devices.is_compiler(of.device)))
    lack = ""
    if len(found) > MOST_DETAILED:
        lack = f"inputs behind the first {MOST_DETAILED} of {len(found)}: too many to keep"
    return told, lack


def _argument(
    scene: Scene, one: Tensor | None, name: str, on_device: bool, is_compiler: bool
) -> Argument:
    from sigwhy.model.operation import Argument

    if one is None:
        return Argument(name=name, standing="missing", note="it is not there any more")
    if is_compiler:
        return Argument(
            name=name, dtype=one.type.name, shape=list(one.shape), elements=one.elements,
            standing="device", note="XLA compiles: it has no value yet",
        )  # fmt: skip
    return tensorflow_tensors.argument(scene, one, name, on_device=on_device)


def _tensors(
    scene: Scene, address: int, types: tuple[int, ...] | None
) -> list[Tensor | None] | None:
    """The tensors of the first list that fits; without known types, one that fits by itself."""
    for place in BEHIND:
        try:
            start, count = struct.unpack("<QQ", scene.memory.read(address + place, 16))
        except UnreadableError:
            return None
        wanted = len(types) if types is not None else count
        if not is_pointer(start) or count != wanted or not 0 < count <= MOST_INPUTS:
            continue
        try:
            found = [_tensor(scene, start + PAIR * n) for n in range(count)]
        except UnreadableError:
            continue
        if any(found) and (types is None or _fit(found, types)):
            return found
    return None


def _tensor(scene: Scene, pair: int) -> Tensor | None:
    """The tensor of a pair; None where the pair is empty, as that of a dead branch is."""
    at = scene.memory.word(pair + WORD)
    return tensorflow_tensors.tensor(scene, at) if at else None


def _fit(found: list[Tensor | None], types: tuple[int, ...]) -> bool:
    plain = tensorflow_types.plain
    return all(
        one is None or plain(one.number) == plain(kind)
        for one, kind in zip(found, types, strict=True)
    )
