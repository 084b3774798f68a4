"""PyTorch's tensors: ``c10::TensorImpl`` and ``c10::StorageImpl``, by their run-time type.

Where the sizes stand within a tensor differs between versions; a place is believed where the sizes
multiply to the number of elements, the type and the device are ones that exist, and it holds for
the tensors met so far.
"""

from __future__ import annotations

import itertools
import math
import struct
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sigwhy.machine.memory import PAGE, UnreadableError
from sigwhy.operations.classes import is_pointer
from sigwhy.operations.torch_types import KINDS, WHOLE, Kind, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.operation import Standing, Value
    from sigwhy.operations.scene import Scene

TENSOR, STORAGE = "N3c1010TensorImplE", "N3c1011StorageImplE"
UNDEFINED, SPARSE = "UndefinedTensorImpl", "Sparse"
STORAGE_OF, DATA, SIZE = 16, 16, 48
# From sizes and strides on: their rank, up to five of each inline or else a pointer to them; then
# offset, number of elements, type, device.
RANK, INLINE, OFFSET = 0, 5, 88
SIZES_AT = (56, 64, 48, 72, 80)  # since 2.5 the slot for the Python object before them is shorter
TAIL = struct.Struct("<qqHbbB")
DEVICES = {0: "cpu", 1: "cuda", 6: "hip", 9: "xla", 12: "xpu", 13: "mps", 14: "meta", 15: "hpu", 20: "privateuse"}  # fmt: skip
CPU = "cpu"
MOST_RANK, MOST_OFFSET = 64, 1 << 50
MOST_PARTS, PART_WORDS = 4, 20
FEW, MOST_WALKED, MOST_LOOKED_AT = 8, 1 << 10, 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """Where the memory of a tensor begins, and how much of it there is."""

    address: int
    data: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor as it stood in memory; ``parts`` are the indices and values of a sparse one."""

    address: int
    kind: Kind
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    elements: int
    device: str
    storage: Storage | None = None
    parts: tuple[Tensor, ...] = ()
    is_sparse: bool = False

    @property
    def data(self) -> int:
        """The address of its first element; 0 where it has no memory."""
        if self.storage is None or not self.storage.data:
            return 0
        return self.storage.data + self.offset * self.kind.size

    @property
    def is_dense(self) -> bool:
        """Whether its elements lie one behind the other."""
        step = 1
        for n, stride in zip(reversed(self.sizes), reversed(self.strides), strict=True):
            if n != 1 and stride != step:
                return False
            step *= n
        return True

    @property
    def reach(self) -> tuple[int, int]:
        """The first byte of the storage that its elements use, and the one behind the last."""
        if not self.elements:
            return 0, 0
        steps = [(n - 1) * step for n, step in zip(self.sizes, self.strides, strict=True)]
        low = self.offset + sum(s for s in steps if s < 0)
        high = self.offset + sum(s for s in steps if s > 0) + 1
        return low * self.kind.size, high * self.kind.size


@dataclass(slots=True)
class Tensors:
    """The tensors of one scene; each is looked at once."""

    scene: Scene
    _known: dict[int, Tensor | None] = field(default_factory=dict)
    _sizes_at: int = 0

    def is_tensor(self, address: int) -> bool:
        """Whether a tensor stands there, and not the one that stands for none."""
        classes = self.scene.classes.of(address)
        return TENSOR in classes and UNDEFINED not in classes[0]

    def at(self, address: int) -> Tensor | None:
        """The tensor at an address, where one stands and can be read."""
        if address not in self._known:
            self._known[address] = None  # a sparse tensor that is a part of itself ends here
            if self.is_tensor(address):
                with suppress(UnreadableError, struct.error):
                    self._known[address] = self._read(address)
        return self._known[address]

    def _read(self, address: int) -> Tensor | None:
        places = (self._sizes_at,) if self._sizes_at else SIZES_AT
        for at in places:
            try:
                found = self._with_sizes_at(address, at)
            except (UnreadableError, struct.error):
                continue
            if found:
                self._sizes_at = at
                return found
        return None

    def _with_sizes_at(self, address: int, at: int) -> Tensor | None:
        memory, here = self.scene.memory, address + at
        rank = memory.word(here + RANK)
        if rank > MOST_RANK:
            return None
        packed = here + 8 if rank <= INLINE else memory.word(here + 8)
        apart = max(INLINE, rank)
        numbers = struct.unpack(f"<{2 * apart}q", memory.read(packed, 16 * apart))
        sizes, strides = numbers[:rank], numbers[apart : apart + rank]
        offset, elements, kind, device, _, known = TAIL.unpack(
            memory.read(here + OFFSET, TAIL.size)
        )
        fits = min(sizes, default=0) >= 0 and math.prod(sizes) == elements
        exists = kind < len(KINDS) and device in DEVICES and known == 1
        if not (fits and exists and abs(offset) < MOST_OFFSET):
            return None
        is_sparse = SPARSE in self.scene.classes.of(address)[0]
        return Tensor(
            address=address,
            kind=KINDS[kind],
            sizes=sizes,
            strides=strides,
            offset=offset,
            elements=elements,
            device=DEVICES[device],
            storage=self._storage(memory.word(address + STORAGE_OF)),
            parts=tuple(self._parts(address, here)) if is_sparse else (),
            is_sparse=is_sparse,
        )

    def _storage(self, address: int) -> Storage | None:
        if not self.scene.classes.is_a(address, STORAGE):
            return None
        memory = self.scene.memory
        return Storage(
            address=address, data=memory.word(address + DATA), size=memory.word(address + SIZE)
        )

    def _parts(self, address: int, here: int) -> Iterator[Tensor]:
        """The tensors that a sparse one points to: indices and values, in their order."""
        memory, begin = self.scene.memory, here + OFFSET + TAIL.size & -8
        found = 0
        for n in range(PART_WORDS):
            try:
                part = self.at(memory.word(begin + 8 * n)) if found < MOST_PARTS else None
            except UnreadableError:
                return
            if part and part.address != address:
                found += 1
                yield part

    # ---- what its memory holds ------------------------------------------------------------

    def standing(self, tensor: Tensor) -> Standing:
        """How the memory that it uses stands."""
        if tensor.device != CPU:
            return "device"
        if not tensor.elements or tensor.is_sparse or tensor.storage is None:
            return "none"
        if not tensor.storage.data:
            return "missing"
        low, high = tensor.reach
        high = min(high, tensor.storage.size) if tensor.storage.size else high
        return self._standing_of(tensor.storage.data + max(low, 0), tensor.storage.data + high)

    def _standing_of(self, low: int, high: int) -> Standing:
        memory, at = self.scene.memory, low
        while at < high:
            mapping = memory.mapping(at)
            if mapping is None:
                return "gone"
            if not mapping.rights.startswith("r"):
                return "protected"
            at = mapping.end
        pages = {low, high - 1}
        signal = self.scene.signal
        if signal and signal.address is not None and low <= signal.address < high:
            pages.add(max(signal.address & -PAGE, low))
        return "there" if all(self._is_readable(page) for page in pages) else "gone"

    def _is_readable(self, address: int) -> bool:
        try:
            self.scene.memory.read(address, 1)
        except UnreadableError:
            return False
        return True

    def values(self, tensor: Tensor, most: int = FEW) -> list[Value]:
        """The first elements, in the order of its indices; none where they cannot be read."""
        found: list[Value] = []
        if not tensor.data or tensor.device != CPU or not tensor.kind.form:
            return found
        for at in itertools.islice(_places(tensor), most):
            mapping = self.scene.memory.mapping(at)
            if mapping is None or not mapping.rights.startswith("r"):
                break
            try:
                raw = self.scene.memory.read(at, tensor.kind.size)
            except UnreadableError:
                break
            found.append(unpacked(tensor.kind, raw))
        return found

    def extremes(self, tensor: Tensor) -> list[int]:
        """The smallest and the largest of whole numbers, of as many as are looked at."""
        if tensor.kind.name not in WHOLE or tensor.elements <= 0:
            return []
        if not tensor.is_dense:
            numbers = [n for n in self.values(tensor, MOST_WALKED) if isinstance(n, int)]
            return [min(numbers), max(numbers)] if numbers else []
        if self.standing(tensor) != "there":
            return []
        count = min(tensor.elements, MOST_LOOKED_AT)
        try:
            raw = self.scene.memory.read(tensor.data, count * tensor.kind.size)
        except UnreadableError:
            return []
        many = struct.unpack(f"<{count}{tensor.kind.form}", raw)
        return [min(many), max(many)]


def _places(tensor: Tensor) -> Iterator[int]:
    """Where its elements lie, the last index running fastest."""
    index = [0] * len(tensor.sizes)
    while True:
        steps = sum(n * step for n, step in zip(index, tensor.strides, strict=True))
        yield tensor.data + steps * tensor.kind.size
        for n in reversed(range(len(index))):
            index[n] += 1
            if index[n] < tensor.sizes[n]:
                break
            index[n] = 0
        else:
            return


def pointed(tensors: Tensors, address: int) -> Tensor | None:
    """The tensor that a word points to, directly or through one more pointer."""
    if not is_pointer(address):
        return None
    try:
        return tensors.at(address) or tensors.at(tensors.scene.memory.word(address))
    except UnreadableError:
        return None
