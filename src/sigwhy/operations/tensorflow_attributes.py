"""The attributes of a TensorFlow node: the map of its NodeDef, wherever the release keeps it.

A map is {how many, how many buckets, ..., buckets}; a bucket is a chain of {key, AttrValue, next}.
It is believed where every link holds a value of the right class and there are as many as it says.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.model.operation import Argument
from sigwhy.operations import cpp, protobuf, tensorflow_types
from sigwhy.operations.classes import WORD, is_pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sigwhy.machine.memory import Memory
    from sigwhy.operations.classes import Classes
    from sigwhy.operations.scene import Scene

ATTRIBUTE, LIST = "N10tensorflow9AttrValueE", "N10tensorflow19AttrValue_ListValueE"
SHAPE, SIZE = "N10tensorflow16TensorShapeProtoE", "N10tensorflow20TensorShapeProto_DimE"
TENSOR, FUNCTION = "N10tensorflow11TensorProtoE", "N10tensorflow12NameAttrListE"
KEY = re.compile(r"^[A-Za-z_][\w.:/-]{0,199}$")
MOST, MOST_BUCKETS = 1024, 1 << 14
MESSAGE_BYTES = 200
VALUE, CASE, VALUE_BYTES = 16, 28, 32  # of an AttrValue: checked by the class of what it points to
MOST_VALUES = 64
LONGEST = 400


@dataclass(frozen=True, slots=True)
class Value:
    """An attribute as it was read; of a list ``items`` is what it is a list of."""

    kind: str
    values: tuple[object, ...] = ()
    items: str = ""


def attributes(scene: Scene, node: int) -> dict[str, Value] | None:
    """The attributes of a node by name; None where no map was found that fits."""
    memory = scene.memory
    for count, buckets, table in _maps(memory, node):
        try:
            found = _walk(scene, count, buckets, table)
        except UnreadableError:
            continue
        if found is not None:
            return found
    return None


def _maps(memory: Memory, node: int) -> Iterator[tuple[int, int, int]]:
    """Where a map could be: its counts as two halves of a word or as two words, and its buckets."""
    words = struct.unpack(f"<{MESSAGE_BYTES // WORD}Q", memory.read(node, MESSAGE_BYTES))
    for n, table in enumerate(words):
        if not is_pointer(table):
            continue
        for back in range(1, min(n, 5) + 1):
            low, high = words[n - back] & 0xFFFFFFFF, words[n - back] >> 32
            pairs = [(low, high)]
            if back > 1:
                pairs.append((words[n - back], words[n - back + 1]))
            for count, buckets in pairs:
                is_power = buckets & (buckets - 1) == 0
                if 0 < count <= MOST and 1 < buckets <= MOST_BUCKETS and is_power:
                    yield count, buckets, table


def _walk(scene: Scene, count: int, buckets: int, table: int) -> dict[str, Value] | None:
    memory = scene.memory
    found: dict[str, Value] = {}
    seen: set[int] = set()
    for link in struct.unpack(f"<{buckets}Q", memory.read(table, WORD * buckets)):
        at = link
        while at:
            if not is_pointer(at) or at in seen or len(seen) >= count:
                return None
            seen.add(at)
            places = _places(scene.classes, at)
            if places is None:
                return None
            key, value, following = places
            name = cpp.string(memory, at + key, 200).decode("utf-8", "replace")
            if not KEY.match(name):
                return None
            found[name] = _value(scene, at + value)
            at = memory.word(at + following)
    return found if len(found) == count else None


def _places(classes: Classes, link: int) -> tuple[int, int, int] | None:
    """Where a link has its key, its value and the next one: the value is known by its class."""
    if classes.is_a(link + 40, ATTRIBUTE):
        return 8, 40, 0
    if classes.is_a(link + 32, ATTRIBUTE):
        return 0, 32, 32 + VALUE_BYTES
    return None


def _value(scene: Scene, at: int) -> Value:
    """What is in a value is a number; each points to another class, or is packed in another way."""
    case, word = scene.memory.half(at + CASE), scene.memory.word(at + VALUE)
    if case == STRING:
        return Value("string", (protobuf.octets(scene.memory, at + VALUE),))
    if plain := PLAIN.get(case):
        return Value(plain[0], struct.unpack_from(f"<{plain[1]}", word.to_bytes(8, "little")))
    if case == SEVERAL and scene.classes.is_a(word, LIST):
        return _list(scene, word)
    held = HELD.get(case)
    if held is None or not scene.classes.is_a(word, held[1]):
        return Value("none")
    return Value(held[0], (held[2](scene, word),))


def _list(scene: Scene, at: int) -> Value:
    memory, classes = scene.memory, scene.classes
    found: list[Value] = []
    for items, (place, form) in NUMBERS.items():
        if some := protobuf.numbers(memory, at + place, form):
            found.append(Value("list", tuple(some), items))
    for items, (place, kind, read) in MESSAGES.items():
        if here := protobuf.messages(memory, classes, at + place, kind):
            found.append(Value("list", tuple(read(scene, one) for one in here), items))
    if texts := _strings(memory, at + STRINGS):
        found.append(Value("list", tuple(texts), "string"))
    found = [one for one in found if one.items != "dtype" or _are_types(one.values)]
    return found[0] if len(found) == 1 else Value("list")


def _are_types(values: tuple[object, ...]) -> bool:
    return all(isinstance(v, int) and tensorflow_types.name(v) for v in values)


def _strings(memory: Memory, at: int) -> list[bytes]:
    for found in protobuf.pointers(memory, at):
        try:
            return [cpp.string(memory, one, LONGEST) for one in found]
        except UnreadableError:
            continue
    return []


def _function(scene: Scene, at: int) -> str:
    """The name of a function: the only text in a NameAttrList."""
    memory = scene.memory
    for place in range(16, 160, WORD):
        try:
            if name := protobuf.text(memory, at + place, 1000):
                return name
        except UnreadableError:
            continue
    return ""


def _shape(scene: Scene, at: int) -> tuple[int, ...] | None:
    """The sizes, -1 where one is open; None where even the rank is."""
    memory = scene.memory
    for place in (16, 24):
        found = protobuf.messages(memory, scene.classes, at + place, SIZE)
        if found:
            return tuple(_size(memory, one) for one in found)
    head = memory.word(at + 16)
    has_bits = bool(head & 0xFFFFFFFF) and not is_pointer(head)
    return None if memory.read(at + (48 if has_bits else 40), 1) == b"\1" else ()


def _size(memory: Memory, at: int) -> int:
    """The size stands behind the name of the dimension."""
    for place in (16, 24):
        try:
            protobuf.text(memory, at + place, 1000)
        except UnreadableError:
            continue
        return int(struct.unpack("<q", memory.read(at + place + WORD, 8))[0])
    raise UnreadableError(f"no dimension at {at:#x}")


def _shape_within(scene: Scene, tensor: int) -> tuple[int, ...] | None:
    """The shape of a constant tensor: the only message of its class in it."""
    for place in range(16, MESSAGE_BYTES, WORD):
        at = scene.memory.word(tensor + place)
        if scene.classes.is_a(at, SHAPE):
            return _shape(scene, at)
    return None


# What a value can be, by the number of its field: how a plain one is packed, else the class that it
# points to and how that is read.
STRING, SEVERAL = 2, 1
PLAIN = {3: ("int", "q"), 4: ("float", "f"), 5: ("bool", "?"), 6: ("dtype", "i")}
HELD: dict[int, tuple[str, str, Callable[[Scene, int], object]]] = {
    7: ("shape", SHAPE, _shape),
    8: ("tensor", TENSOR, _shape_within),
    10: ("function", FUNCTION, _function),
}
# Where a ListValue has its fields; each list is checked by what it holds, and only one is not empty.
NUMBERS = {"int": (40, "q"), "float": (64, "f"), "bool": (80, "?"), "dtype": (96, "i")}
STRINGS = 16
MESSAGES: dict[str, tuple[int, str, Callable[[Scene, int], object]]] = {
    "shape": (120, SHAPE, _shape),
    "function": (168, FUNCTION, _function),
}


# ---- as arguments ---------------------------------------------------------------------------


def argument(name: str, value: Value) -> Argument:
    """An attribute as the Incident keeps it. Of a list, ``text`` says what is neither number nor text."""
    first = value.values[0] if value.values else None
    match value.kind:
        case "dtype":
            dtype = tensorflow_types.name(first) if isinstance(first, int) else ""
            return Argument(name=name, kind="dtype", text=dtype, standing="none")
        case "shape" | "tensor":
            shape = list(first) if isinstance(first, tuple) else None
            text = "of unknown rank" if shape is None else ""
            return Argument(name=name, kind=value.kind, shape=shape, text=text, standing="none")
        case "list":
            items = f"{value.items}s" if value.items in ("dtype", "shape", "function") else ""
            shown = [_shown(one, value.items) for one in value.values[:MOST_VALUES]]
            return Argument(
                name=name, kind="list", values=shown, text=items, standing="none",
                elements=len(value.values),
            )  # fmt: skip
        case "none":
            return Argument(name=name, kind="none", standing="none")
        case _:
            shown = [_shown(one, value.kind) for one in value.values]
            return Argument(name=name, kind=value.kind, values=shown, standing="none")


def _shown(value: object, kind: str) -> bool | int | float | str | None:
    if isinstance(value, tuple):
        return f"[{','.join('?' if size < 0 else str(size) for size in value)}]"
    if isinstance(value, bytes):
        return _readable(value[:LONGEST])
    if isinstance(value, float):
        return tensorflow_types.finite(value)
    if isinstance(value, int):
        return tensorflow_types.name(value) if kind == "dtype" else value
    return value if isinstance(value, str) else "?" if kind == "shape" else None


def _readable(value: bytes) -> str:
    """A text as it is; bytes that are none as Python writes them."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return repr(value)
    return text if text.isprintable() else repr(value)
