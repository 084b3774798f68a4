"""Tensors of TensorFlow: type, shape, first values, and where they lie.

A tensor is {shape with type and rank packed in, number of elements, buffer}. The product of the sizes
must be that number, and the buffer an object of its class; else there is no tensor.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from sigwhy.machine.demangle import demangled
from sigwhy.machine.memory import UnreadableError
from sigwhy.model.operation import Argument
from sigwhy.operations import tensorflow_datasets, tensorflow_handles, tensorflow_types
from sigwhy.operations.classes import WORD
from sigwhy.operations.standing import standing
from sigwhy.operations.texts import texts_in

if TYPE_CHECKING:
    from sigwhy.machine.memory import Memory
    from sigwhy.operations.scene import Scene
    from sigwhy.operations.tensorflow_types import DataType

BUFFER = "N10tensorflow12TensorBufferE"
TENSOR_BYTES = 32
DATA = 16  # of a buffer: {functions, references, data}
MOST_REFERENCES = 1 << 24
MOST_RANK = 254  # how many a shape can have
FEW = 8  # values that are told
LONGEST = 200  # of a string among them
MOST_STRING = 1 << 20
STRING_BYTES = 24
END = b"\1"  # behind each string that is kept, so that zeros at its end are not lost
MOST_KEPT_STRINGS = 4096


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor that was checked: every statement about it fits every other."""

    number: int
    shape: tuple[int, ...]
    elements: int
    data: int
    buffer: int

    @property
    def type(self) -> DataType:
        """Its data type, which is one of the known ones."""
        return tensorflow_types.TYPES[tensorflow_types.plain(self.number)]


def tensor(scene: Scene, address: int) -> Tensor:
    """The tensor at an address; ``UnreadableError`` where there is none."""
    memory = scene.memory
    raw = memory.read(address, TENSOR_BYTES)
    number, rank, form = raw[13], raw[14], raw[15]
    elements, buffer = struct.unpack_from("<qQ", raw, 16)
    if not tensorflow_types.name(number):
        raise UnreadableError(f"no tensor at {address:#x}")
    shape = _shape(memory, raw, rank, form)
    if prod(shape) != elements:
        raise UnreadableError(f"the tensor at {address:#x} contradicts itself")
    return Tensor(number, shape, elements, _data(scene, buffer, elements), buffer)


def _shape(memory: Memory, raw: bytes, rank: int, form: int) -> tuple[int, ...]:
    """Six short sizes, three of four bytes, or any number of them elsewhere."""
    if form == 0 and rank <= 6:
        return struct.unpack_from(f"<{rank}H", raw)
    if form == 1 and rank <= 3:
        return struct.unpack_from(f"<{rank}I", raw)
    if form == 2 and rank <= MOST_RANK:
        at = struct.unpack_from("<Q", raw)[0]
        head = memory.word(at)
        if head >> 1 == rank:
            there = memory.word(at + WORD) if head & 1 else at + WORD
            sizes = struct.unpack(f"<{rank}q", memory.read(there, WORD * rank))
            if all(size >= 0 for size in sizes):
                return tuple(sizes)
    raise UnreadableError("no shape of a tensor")


def _data(scene: Scene, buffer: int, elements: int) -> int:
    if not buffer:
        if elements:
            raise UnreadableError("a tensor with elements and without a buffer")
        return 0
    references = scene.memory.half(buffer + WORD)
    if not scene.classes.is_a(buffer, BUFFER) or not 0 < references <= MOST_REFERENCES:
        raise UnreadableError(f"no buffer of a tensor at {buffer:#x}")
    return scene.memory.word(buffer + DATA)


# ---- as arguments ---------------------------------------------------------------------------


def argument(scene: Scene, found: Tensor, name: str, *, on_device: bool) -> Argument:
    """A tensor as the Incident keeps it, with its first values, and whole where there is room."""
    kind = found.type
    plain = Argument(
        name=name,
        dtype=kind.name,
        shape=list(found.shape),
        elements=found.elements,
        address=found.data or None,
        standing="none",
    )
    if not found.elements:
        return plain
    each = kind.size or WORD
    how, path = standing(scene.memory, found.data, each * found.elements)
    if on_device and how != "there":
        return replaced(plain, standing="device")
    plain = replaced(plain, standing=how, mapped=path)
    match kind.name:
        case "resource":
            return _resource(scene, found, plain)
        case "variant":
            return replaced(plain, kind="variant", text=_variant(scene, found.data))
        case "string":
            return _strings(scene, found, plain)
        case _:
            return _numbers(scene, found, plain)


def _numbers(scene: Scene, found: Tensor, plain: Argument) -> Argument:
    kind = found.type
    try:
        raw = scene.memory.read(found.data, kind.size * min(found.elements, FEW))
    except UnreadableError:
        return plain
    plain = replaced(plain, values=unpacked(raw, kind.form))
    if plain.standing != "there":
        return plain
    return replaced(
        plain, member=scene.keeper.keep(scene.memory, found.data, kind.name, found.shape)
    )


def unpacked(raw: bytes, form: str) -> list[bool | int | float | str | None]:
    """Packed elements as numbers; a complex one is written as Python does."""
    if form == "bf":
        shorts = struct.iter_unpack("<2s", raw)
        return [
            tensorflow_types.finite(struct.unpack("<f", b"\0\0" + short)[0]) for (short,) in shorts
        ]
    rows = struct.iter_unpack(f"<{form}", raw)
    if len(form) == 2:
        return [repr(complex(*row)) for row in rows]
    values = [row[0] for row in rows]
    return [tensorflow_types.finite(v) if isinstance(v, float) else v for v in values]


# ---- strings --------------------------------------------------------------------------------


def _strings(scene: Scene, found: Tensor, plain: Argument) -> Argument:
    some: list[bool | int | float | str | None] = []
    try:
        for n in range(min(found.elements, FEW)):
            value = string(scene.memory, found.data + STRING_BYTES * n, LONGEST)
            some.append(readable(value))
    except UnreadableError as error:
        return replaced(plain, values=some, note=f"a string cannot be read: {error}")
    return replaced(plain, values=some, member=_kept(scene, found))


def _kept(scene: Scene, found: Tensor) -> str:
    """All the strings as one array, each with one byte more behind it."""
    if found.elements > MOST_KEPT_STRINGS:
        return ""
    try:
        whole = [
            string(scene.memory, found.data + STRING_BYTES * n, MOST_STRING) + END
            for n in range(found.elements)
        ]
    except UnreadableError:
        return ""
    width = max(map(len, whole))
    if width * len(whole) > scene.keeper.left:
        return ""
    packed = b"".join(one.ljust(width, b"\0") for one in whole)
    return scene.keeper.keep_bytes(packed, f"|S{width}", found.shape)


def string(memory: Memory, address: int, most: int) -> bytes:
    """A string of TensorFlow: small, large, from itself on, or a view; at most so much of it."""
    raw = memory.read(address, STRING_BYTES)
    head, second, third = struct.unpack("<QQQ", raw)
    size = head >> 2
    match head & 3:
        case 0:
            return raw[1 : 1 + ((head & 0xFF) >> 2)]
        case 1:
            at = third
        case 2:
            size, at = (head & 0xFFFFFFFF) >> 2, address + (head >> 32)
        case _:
            at = second
    if not size:
        return b""
    if size > memory_size(memory, at):
        raise UnreadableError(f"{size} bytes at {at:#x}")
    return memory.read(at, min(size, most))


def memory_size(memory: Memory, at: int) -> int:
    """How many bytes there are from an address to the end of its mapping."""
    mapping = memory.mapping(at)
    return mapping.end - at if mapping else 0


def readable(value: bytes) -> str:
    """A text as it is; bytes that are none, or that begin like bytes, as Python writes them."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return repr(value)
    return text if text.isprintable() and not text.startswith(("b'", 'b"')) else repr(value)


# ---- resources and variants -----------------------------------------------------------------


def _resource(scene: Scene, found: Tensor, plain: Argument) -> Argument:
    """A handle holds texts: the device, its container, its name and the class of what it names."""
    texts = texts_in(scene.memory, found.data, tensorflow_handles.HANDLE_BYTES)
    device = next((text for text in texts if "/device:" in text), "")
    kind = next((text for text in texts if text.startswith("N") and text.endswith("E")), "")
    names = [text for text in texts if text not in (device, kind)]
    readable_kind = demangled(f"_ZTS{kind}").removeprefix("typeinfo name for ") if kind else ""
    text = readable_kind if not readable_kind.startswith("_ZTS") else ""
    held = tensorflow_handles.holds(scene.memory, found.data)
    return replaced(
        plain,
        kind="resource",
        values=list(names[-1:]),
        text=f"{text} of {held}" if text and held else text,
        note="" if device else "its handle could not be read",
    )


def _variant(scene: Scene, data: int) -> str:
    """The class of what a variant holds: it stands in the variant itself or behind a pointer."""
    try:
        places = [data, data + WORD, scene.memory.word(data), scene.memory.word(data + WORD)]
    except UnreadableError:
        return ""
    for at in places:
        if kinds := scene.classes.of(at):
            if op := tensorflow_datasets.operation(scene, at):
                return f"the dataset of {op}"
            words = demangled(f"_ZTS{kinds[0]}").removeprefix("typeinfo name for ")
            inner = words.partition("Value<")[2].rpartition(">")[0]
            return inner.strip() or words
    return ""


def replaced(argument: Argument, **changes: object) -> Argument:
    """The argument with some fields changed."""
    from msgspec.structs import replace

    return replace(argument, **changes)
