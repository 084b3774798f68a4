"""The tensors of a TensorFlow Lite subgraph: what they are, where their data lies, how it stands.

| TfLiteTensor, 112 bytes | type 0, data 8, sizes 16, scale 24, zero point 28, kind of memory 32, bytes 40, |
|---|---|
| | allocation 48, name 56, delegate 64, is variable 77, quantisation 80 and its parameters 88, sparsity 96 |
| TfLiteAffineQuantization | list of scales 0, list of zero points 8 |

The size of the structure is compared with what the subgraph itself says of it.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from sigwhy.machine.memory import UnreadableError
from sigwhy.model.operation import Argument
from sigwhy.operations.classes import is_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.operation import Standing, Value
    from sigwhy.operations.scene import Scene
    from sigwhy.operations.tflite_interpreter import Interpreters, Subgraph

TENSOR = struct.Struct("<i4xQQfii4xQQQQ")
TENSOR_BYTES = 112
Number = TypeVar("Number", int, float)
QUANTISATION, SPARSITY = 80, 96
# TfLiteType by its number, and how one value is read.
TYPES = (
    ("none", ""), ("float32", "f"), ("int32", "i"), ("uint8", "B"), ("int64", "q"), ("string", ""),
    ("bool", "?"), ("int16", "h"), ("complex64", ""), ("int8", "b"), ("float16", "e"),
    ("float64", "d"), ("complex128", ""), ("uint64", "Q"), ("resource", ""), ("variant", ""),
    ("uint32", "I"), ("uint16", "H"), ("int4", ""), ("bfloat16", ""), ("int2", ""), ("uint4", ""),
    ("float8_e4m3fn", ""), ("float8_e5m2", ""),
)  # fmt: skip
KINDS = {"resource": "resource", "variant": "variant"}
# TfLiteAllocationType: where the data lies. The first and the fifth are parts of the model.
MEMORY = (
    "none", "mmap_ro", "arena", "arena_persistent", "dynamic", "persistent_ro", "custom", "variant", "noncpu",
)  # fmt: skip
CONSTANT = (1, 5)
MOST_VALUES = 8
MOST_SIZES = 64
MOST_SCALES = 1 << 16
SHOWN_SCALES = 8
LONGEST_NAME = 256
MOST_STRINGS = 4096
MOST_SEARCHED = 20_000
AFFINE = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor as it stands in memory."""

    number: int
    code: int
    data: int
    sizes: int
    scale: float
    zero_point: int
    memory: int
    size: int
    allocation: int
    name: int

    @property
    def dtype(self) -> str:
        """The name of its type."""
        return TYPES[self.code][0] if 0 <= self.code < len(TYPES) else f"type {self.code}"


class Tensors:
    """The tensors of one subgraph."""

    def __init__(self, scene: Scene, interpreters: Interpreters, subgraph: Subgraph) -> None:
        self.memory = scene.memory
        self.keeper = scene.keeper
        self.interpreters = interpreters
        self.subgraph = subgraph

    @property
    def are_known(self) -> bool:
        """Whether a tensor has the members that are known here."""
        return self.subgraph.tensor_bytes == TENSOR_BYTES

    def tensor(self, number: int) -> Tensor | None:
        """The tensor with a number; None where there is none."""
        if not self.are_known or not 0 <= number < self.subgraph.tensor_count:
            return None
        try:
            packed = self.memory.read(self.address(number), TENSOR.size)
        except UnreadableError:
            return None
        code, data, sizes, scale, zero, memory, size, allocation, name, _ = TENSOR.unpack(packed)
        return Tensor(
            number=number, code=code, data=data, sizes=sizes, scale=scale, zero_point=zero,
            memory=memory, size=size, allocation=allocation, name=name,
        )  # fmt: skip

    def address(self, number: int) -> int:
        """Where a tensor lies."""
        return self.subgraph.tensors + number * self.subgraph.tensor_bytes

    def number_at(self, pointer: int) -> int | None:
        """The tensor that a pointer means."""
        n, rest = divmod(pointer - self.subgraph.tensors, self.subgraph.tensor_bytes or 1)
        return n if self.are_known and not rest and 0 <= n < self.subgraph.tensor_count else None

    def holding(self, address: int) -> Iterator[Tensor]:
        """The tensors whose data holds an address."""
        for number in range(min(self.subgraph.tensor_count, MOST_SEARCHED)):
            found = self.tensor(number)
            if found and found.data and found.data <= address < found.data + max(found.size, 1):
                yield found

    def arguments(
        self, numbers: Sequence[int] | None, label: str, *, planned: bool
    ) -> list[Argument]:
        """The tensors of these numbers; an optional one that was left out is told too.

        ``planned`` says that memory was given to all of them already.
        """
        found = [self.argument(n, f"{label} {at}") for at, n in enumerate(numbers or ())]
        early = not planned
        return [
            replace(one, standing="none")
            if early and one.standing == "missing" and not one.constant
            else one
            for one in found
        ]

    def argument(self, number: int, label: str) -> Argument:
        """One tensor in full. ``label`` is what it is called where it has no name."""
        if number == -1:
            return Argument(name=label, kind="none", number=-1, standing="none", text="none (-1)")
        found = self.tensor(number)
        if found is None:
            note = f"there is no tensor {number} (the subgraph has {self.subgraph.tensor_count})"
            out = 0 <= number < self.subgraph.tensor_count
            note = "the tensor could not be read" if out else note
            return Argument(name=label, kind="none", number=number, standing="none", note=note)
        shape = self.shape(found)
        values, standing = self._values(found, shape)
        scales, zeros = self._quantisation(found)
        mapping = self.memory.mapping(found.data) if found.data else None
        return Argument(
            name=self.name(found) or label,
            kind=KINDS.get(found.dtype, "tensor"),
            dtype=found.dtype,
            shape=shape,
            values=values,
            elements=_product(shape) if shape is not None else None,
            address=found.data or None,
            storage=(found.data, found.size) if found.data else None,
            standing=standing,
            mapped=mapping.path if mapping and mapping.path.startswith("/") else "",
            member=self._kept(found, shape) if standing == "there" else "",
            number=number,
            scales=[told(scale) for scale in scales] if scales is not None else None,
            zero_points=zeros,
            constant=found.memory in CONSTANT,
            note=self._note(found, shape),
        )

    def name(self, tensor: Tensor) -> str:
        """Its name in the model."""
        try:
            name = self.memory.text(tensor.name, LONGEST_NAME) if tensor.name else ""
        except UnreadableError:
            return ""
        return name if name.isprintable() else ""

    def shape(self, tensor: Tensor) -> list[int] | None:
        """Its sizes, where they are a list."""
        found = self.interpreters.numbers(tensor.sizes) if tensor.sizes else None
        return list(found) if found is not None and len(found) <= MOST_SIZES else None

    def _values(self, tensor: Tensor, shape: list[int] | None) -> tuple[list[Value], Standing]:
        """The first values, and how the memory stands."""
        form = TYPES[tensor.code][1] if 0 <= tensor.code < len(TYPES) else ""
        count = _product(shape) if shape is not None else 0
        if not tensor.data:
            return [], "missing" if count > 0 else "none"
        if count <= 0 or not tensor.size:
            return [], "none"
        try:
            self.memory.read(tensor.data + tensor.size - 1, 1)
            width = struct.calcsize(form) if form else 1
            n = min(count, MOST_VALUES, tensor.size // width)
            packed = self.memory.read(tensor.data, n * width)
        except UnreadableError:
            return [], self._lost(tensor.data)
        values = struct.unpack(f"<{n}{form}", packed) if form else ()
        return [told(value) for value in values], "there"

    def _lost(self, address: int) -> Standing:
        mapping = self.memory.mapping(address)
        return "protected" if mapping and not mapping.rights.startswith("r") else "gone"

    def _kept(self, tensor: Tensor, shape: list[int] | None) -> str:
        """The member with all bytes; what is a part of the model need not be kept."""
        if shape is None or tensor.memory in CONSTANT or not self._fits(tensor, shape):
            return ""
        return self.keeper.keep(self.memory, tensor.data, tensor.dtype, shape)

    def _fits(self, tensor: Tensor, shape: list[int]) -> bool:
        form = TYPES[tensor.code][1] if 0 <= tensor.code < len(TYPES) else ""
        return bool(form) and _product(shape) * struct.calcsize(form) == tensor.size

    def _quantisation(self, tensor: Tensor) -> tuple[list[float] | None, list[int] | None]:
        """Scales and zero points: those of the list where there is one, else the single ones."""
        at = self.address(tensor.number)
        try:
            kind, parameters = struct.unpack("<i4xQ", self.memory.read(at + QUANTISATION, 16))
            if kind == AFFINE and is_pointer(parameters):
                scales, zeros = struct.unpack("<2Q", self.memory.read(parameters, 16))
                if (found := self._scales(scales)) is not None:
                    return found, list(self.interpreters.numbers(zeros) or ())[:SHOWN_SCALES]
        except UnreadableError:
            pass
        if tensor.scale or tensor.zero_point:
            return [tensor.scale], [tensor.zero_point]
        return None, None

    def _scales(self, pointer: int) -> list[float] | None:
        if not is_pointer(pointer):
            return None
        (count,) = struct.unpack("<i", self.memory.read(pointer, 4))
        if not 0 < count <= MOST_SCALES:
            return None
        scales = struct.unpack(f"<{count}f", self.memory.read(pointer + 4, 4 * count))
        # One that is wrong is worth more than those before it.
        wrong = [scale for scale in scales if not 0 < scale < float("inf")]
        return [*scales[:SHOWN_SCALES], *wrong[:1]] if wrong else list(scales[:SHOWN_SCALES])

    def _note(self, tensor: Tensor, shape: list[int] | None) -> str:
        notes = []
        try:
            if self.memory.word(self.address(tensor.number) + SPARSITY):
                notes.append("sparse")
        except UnreadableError:
            pass
        if shape is None:
            notes.append("its sizes could not be read")
        if tensor.dtype == "string" and tensor.memory in CONSTANT and not self._are_strings(tensor):
            notes.append("broken strings")
        if 0 <= tensor.memory < len(MEMORY):
            notes.append(MEMORY[tensor.memory].replace("_", " "))
        return ", ".join(notes)

    def _are_strings(self, tensor: Tensor) -> bool:
        """Whether a table of strings stays inside: {count, offset of each, end}, then the letters."""
        try:
            (count,) = struct.unpack("<i", self.memory.read(tensor.data, 4))
            if not 0 <= count <= (tensor.size - 4) // 4 - 1:
                return False
            few = min(count, MOST_STRINGS) + 1
            offsets = struct.unpack(f"<{few}i", self.memory.read(tensor.data + 4, 4 * few))
        except UnreadableError:
            return False
        ordered = all(a <= b for a, b in pairwise(offsets))
        return ordered and 4 * (count + 2) <= offsets[0] and offsets[-1] <= tensor.size


def told(value: Number) -> Number | str:
    """A number as it can be written into a record, which knows neither NaN nor infinity."""
    return value if math.isfinite(value) else str(float(value))


def _product(shape: Sequence[int]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product
