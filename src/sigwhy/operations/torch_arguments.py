"""PyTorch's arguments as they are told: tensors with their memory, numbers, lists, types."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.model.operation import Argument
from sigwhy.operations.classes import is_pointer
from sigwhy.operations.torch_types import SIZES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sigwhy.model.operation import Value
    from sigwhy.operations.scene import Scene
    from sigwhy.operations.torch_calls import Call
    from sigwhy.operations.torch_tensors import Tensor, Tensors
    from sigwhy.operations.variables import Variables

# Since 2.10 the tensor stands right behind the head of its Python object, before that one word on.
TENSOR_OF = (16, 24)
PLAIN = frozenset({"int", "float", "bool", "str", "list", "tuple", "NoneType", "dict", "type"})
PLAIN_NUMBERS = frozenset({"int", "float", "bool", "complex", "NoneType"})
LISTS = {"list": "list", "tuple": "list", "torch.Size": "shape"}
SIZE, ITEMS = 16, 24
NUMBER, DIGITS, DIGIT_BITS = 16, 24, 30
MOST_DIGITS, SIGN_BITS = 3, 3
DTYPE_NAME, DEVICE = 17, 16
MOST_ITEMS, MOST_OF_A_LIST, DEEPEST = 64, 32, 2
UNSEEN = "?"
COORDINATES, COMPRESSED = (
    ("indices", "values"),
    ("compressed_indices", "plain_indices", "values"),
)


@dataclass(frozen=True)
class Arguments:
    """Makes arguments of what stands in the memory of one scene."""

    scene: Scene
    tensors: Tensors
    variables: Variables

    def of_tensor(self, name: str, tensor: Tensor, holder: int = 0) -> Iterator[Argument]:
        """A tensor, and the indices and values of a sparse one as arguments of their own."""
        storage = tensor.storage
        standing = self.tensors.standing(tensor)
        mapping = self.scene.memory.mapping(tensor.data) if tensor.data else None
        there = standing == "there"
        member = ""
        if there and tensor.is_dense:
            member = self.scene.keeper.keep(
                self.scene.memory, tensor.data, tensor.kind.name, tensor.sizes
            )
        yield Argument(
            name=name,
            dtype=tensor.kind.name,
            shape=list(tensor.sizes),
            strides=None if tensor.is_sparse else list(tensor.strides),
            offset=None if tensor.is_sparse else tensor.offset,
            values=self.tensors.values(tensor) if there else [],
            extremes=self.tensors.extremes(tensor) if there else [],
            elements=tensor.elements,
            address=tensor.data or None,
            storage=(storage.data, storage.size) if storage else None,
            standing=standing,
            mapped=mapping.path if mapping and mapping.path.startswith("/") else "",
            variable=(holder and self.variables.of(holder)) or self.variable(tensor),
            member=member,
            text="sparse" if tensor.is_sparse else "",
        )
        labels = COMPRESSED if len(tensor.parts) > len(COORDINATES) else COORDINATES
        for label, part in zip(labels, tensor.parts, strict=False):
            yield from self.of_tensor(f"{name}.{label}", part)

    def variable(self, tensor: Tensor) -> str:
        """The Python name that holds a tensor; else one of a tensor that looks into the same storage."""
        named = self._named
        whole = next((name for name, held in named if held.address == tensor.address), "")
        if whole or tensor.storage is None:
            return whole
        at = tensor.storage.address
        return next(
            (name for name, held in named if held.storage and held.storage.address == at), ""
        )

    @cached_property
    def _named(self) -> list[tuple[str, Tensor]]:
        """The names that hold tensors."""
        pairs = ((name, self.held_by(holder)) for name, holder in self.variables.all())
        return [(name, held) for name, held in pairs if held]

    def held_by(self, holder: int) -> Tensor | None:
        """The tensor of a Python object; its type may have any name."""
        kind = self.variables.objects.type_of(holder)
        if not kind or kind in PLAIN:
            return None
        for at in TENSOR_OF:
            try:
                found = self.tensors.at(self.scene.memory.word(holder + at))
            except UnreadableError:
                return None
            if found:
                return found
        return None

    # ---- Python objects -------------------------------------------------------------------

    def of_object(self, name: str, holder: int) -> tuple[list[Argument], list[Argument]]:
        """What a Python object is: the tensors in it, and else it as a plain value."""
        if tensor := self.held_by(holder):
            return list(self.of_tensor(name, tensor, holder)), []
        kind = self.variables.objects.type_of(holder)
        if kind in LISTS:
            items = list(self._items(holder, kind))
            held = [(n, t, item) for n, item in enumerate(items) if (t := self.held_by(item))]
            if held:
                return [
                    argument
                    for n, tensor, item in held[:MOST_OF_A_LIST]
                    for argument in self.of_tensor(f"{name}[{n}]", tensor, item)
                ], []
        return [], [self._plain(name, holder, kind)]

    def is_live(self, call: Call) -> bool:
        """Whether all that was given still stands there, and is a tensor where it must be one."""
        objects = self.variables.objects
        return all(not given or objects.type_of(given) for given in call.given) and all(
            objects.type_of(given) in PLAIN_NUMBERS or self.held_by(given)
            for given in call.tensors()
        )

    def _plain(self, name: str, holder: int, kind: str) -> Argument:
        match kind:
            case "int" | "bool" | "float" | "str":
                value = self._value(holder)
                named = {"str": "string"}.get(kind, kind)
                shown = [] if value == UNSEEN else [value]
                return Argument(name=name, kind=named, values=shown)
            case "NoneType":
                return Argument(name=name, kind="none", text="None")
            case "torch.dtype":
                return Argument(name=name, kind="dtype", text=self._dtype(holder))
            case _ if kind in LISTS:
                values = [self._value(item) for item in self._items(holder, kind)]
                text = "" if values else "[]"
                return Argument(name=name, kind="list", values=values, text=text)
            case _:
                return Argument(name=name, kind="object", text=f"<{kind}>" if kind else "")

    def _items(self, holder: int, kind: str) -> Iterable[int]:
        memory = self.scene.memory
        try:
            count = min(memory.word(holder + SIZE), MOST_ITEMS)
            at = memory.word(holder + ITEMS) if kind == "list" else holder + ITEMS
            found = struct.unpack(f"<{count}Q", memory.read(at, 8 * count)) if count else ()
        except (UnreadableError, struct.error):
            return ()
        if kind != "list" and found and not is_pointer(found[0]):
            # Python 3.14 keeps the hash of a tuple before its items.
            found = self._words(holder + ITEMS + 8, count)
        return found

    def _words(self, at: int, count: int) -> tuple[int, ...]:
        try:
            return struct.unpack(f"<{count}Q", self.scene.memory.read(at, 8 * count))
        except UnreadableError:
            return ()

    def _value(self, holder: int) -> Value:
        """A plain value by itself; what is none is told by its type."""
        kind = self.variables.objects.type_of(holder)
        read = {"int": self._whole, "bool": self._truth, "float": self._real}.get(kind)
        if read:
            try:
                return read(holder)
            except (UnreadableError, struct.error):
                return UNSEEN
        if kind == "NoneType":
            return None
        said = self.variables.objects.text(holder)
        return said or ("[…]" if kind in LISTS else f"<{kind}>" if kind else UNSEEN)

    def _truth(self, holder: int) -> bool:
        return bool(self._whole(holder))

    def _real(self, holder: int) -> float:
        return float(struct.unpack("<d", self.scene.memory.read(holder + NUMBER, 8))[0])

    def _whole(self, holder: int) -> int:
        """A whole number: until Python 3.11 a signed count of digits, since then a count and a sign."""
        size = struct.unpack("<q", self.scene.memory.read(holder + NUMBER, 8))[0]
        if abs(size) <= MOST_DIGITS:
            digits, sign = abs(size), -1 if size < 0 else 1
        else:
            digits, sign = size >> SIGN_BITS, 1 - (size & 3)
        if not 0 <= digits <= MOST_DIGITS:
            raise UnreadableError(f"no whole number at {holder:#x}")
        if not digits:
            return 0
        found = struct.unpack(f"<{digits}I", self.scene.memory.read(holder + DIGITS, 4 * digits))
        return sign * sum(int(digit) << DIGIT_BITS * n for n, digit in enumerate(found))

    def _dtype(self, holder: int) -> str:
        try:
            name = self.scene.memory.text(holder + DTYPE_NAME, 64)
        except UnreadableError:
            return ""
        return name if name in SIZES else ""
