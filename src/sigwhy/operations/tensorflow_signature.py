"""What an operation calls its inputs, by its OpDef, checked against the types the node really has."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations import protobuf, tensorflow_types
from sigwhy.operations.classes import WORD, is_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sigwhy.machine.memory import Memory
    from sigwhy.operations.scene import Scene
    from sigwhy.operations.tensorflow_attributes import Value

ARGUMENT, ATTRIBUTE = "N10tensorflow12OpDef_ArgDefE", "N10tensorflow13OpDef_AttrDefE"
LIST_BYTES = 24  # of a repeated field
NAME = re.compile(r"^[A-Za-z]\w{0,199}$")
MESSAGE_BYTES = 200
TEXTS = 5  # name, description, type_attr, number_attr, type_list_attr
BEHIND_NODE = range(0, 96, WORD)
VECTORS = (24, 32, 40, 48)  # how far behind the types of the inputs those of the outputs may stand
MOST = 4096


@dataclass(frozen=True, slots=True)
class Named:
    """An input: what it is called, and the number of its type."""

    name: str
    type: int


Types = tuple[int, ...]


def inputs(
    scene: Scene, definition: int, attributes: Mapping[str, Value], behind: int
) -> tuple[tuple[Named, ...] | None, Types | None]:
    """The inputs by name, and their types alone where the names cannot be had.

    Behind the NodeDef stand the types of the inputs, then those of the outputs. Which of the lists
    of the OpDef are the inputs is what fits both.
    """
    try:
        readings = [
            tuple(_expanded(scene, some, attributes) for some in both)
            for both in _readings(scene, definition)
        ]
    except (UnreadableError, ValueError):
        readings = []
    for ins, outs in readings:
        wanted = tuple(one.type for one in ins), tuple(one.type for one in outs)
        if any(both == wanted for both in _types(scene.memory, behind)):
            return ins, wanted[0]
    return None, next((ins for ins, _ in _types(scene.memory, behind) if ins), None)


def _readings(scene: Scene, definition: int) -> Iterator[tuple[list[int], list[int]]]:
    """The arguments that are inputs, and those that are outputs.

    An OpDef keeps its inputs, its outputs and its attributes one behind the other. Where only one list
    is not empty, the attributes tell which it is; without any, both are possible.
    """
    lists = _lists(scene, definition, ARGUMENT)
    attributes = next(iter(_lists(scene, definition, ATTRIBUTE)), None)
    if len(lists) >= 2:
        one, other, *_ = lists.values()
        yield one, other
    elif not lists:
        yield [], []
    else:
        ((place, only),) = lists.items()
        if attributes is None or attributes - place == 2 * LIST_BYTES:
            yield only, []
        if attributes is None or attributes - place == LIST_BYTES:
            yield [], only


def _lists(scene: Scene, definition: int, kind: str) -> dict[int, list[int]]:
    """The lists of messages of a class in an OpDef, by their places."""
    found: dict[int, list[int]] = {}
    for place in range(16, MESSAGE_BYTES, WORD):
        try:
            some = protobuf.messages(scene.memory, scene.classes, definition + place, kind)
        except UnreadableError:
            break
        if some and some not in found.values():
            found[place] = some
    return found


def _expanded(
    scene: Scene, arguments: list[int], attributes: Mapping[str, Value]
) -> tuple[Named, ...]:
    """One for each tensor: an argument may stand for several, as attributes tell."""
    named: list[Named] = []
    for at in arguments:
        place, texts = _texts(scene.memory, at)
        name, _, of_type, of_number, of_list = texts
        number = struct.unpack("<i", scene.memory.read(at + place + WORD * (TEXTS + 1), 4))[0]
        is_reference = scene.memory.read(at + place + WORD * (TEXTS + 1) + 4, 1) == b"\1"
        kinds = [number]
        if of_list:
            kinds = list(_whole(attributes, of_list))
        elif of_type:
            kinds = list(_whole(attributes, of_type)[:1])
        if of_number:
            kinds *= min(_whole(attributes, of_number)[0], MOST)
        several = of_list or of_number
        for n, kind in enumerate(kinds):
            full = kind + tensorflow_types.REFERENCE if is_reference else kind
            named.append(Named(f"{name}[{n}]" if several else name, full))
    return tuple(named)


def _whole(attributes: Mapping[str, Value], name: str) -> tuple[int, ...]:
    """The whole numbers of an attribute."""
    value = attributes.get(name)
    if value is None or not all(isinstance(one, int) for one in value.values):
        raise ValueError(name)
    if value.kind != "list" and not value.values:
        raise ValueError(name)
    return tuple(one for one in value.values if isinstance(one, int))


def _texts(memory: Memory, argument: int) -> tuple[int, list[str]]:
    """The five texts of an argument, one behind the other, and where they begin."""
    for place in range(16, 120, WORD):
        try:
            texts = [
                protobuf.text(memory, argument + place + WORD * n, 1 << 14) for n in range(TEXTS)
            ]
        except UnreadableError:
            continue
        if NAME.match(texts[0]) and all(not t or NAME.match(t) for t in texts[2:]):
            return place, texts
    raise UnreadableError(f"no argument at {argument:#x}")


def _types(memory: Memory, behind: int) -> Iterator[tuple[Types, Types]]:
    """Two lists of types, wherever they may stand."""
    for place in BEHIND_NODE:
        for further in VECTORS:
            try:
                yield _vector(memory, behind + place), _vector(memory, behind + place + further)
            except UnreadableError:
                continue


def _vector(memory: Memory, address: int) -> Types:
    """An ``absl::InlinedVector`` of types: its size with a bit that tells where they are."""
    head, there = struct.unpack("<QQ", memory.read(address, 16))
    count = head >> 1
    if count > MOST or (head & 1 and not is_pointer(there)):
        raise UnreadableError(f"no types at {address:#x}")
    if not count:
        return ()
    found = struct.unpack(
        f"<{count}i", memory.read(there if head & 1 else address + WORD, 4 * count)
    )
    if not all(tensorflow_types.name(one) for one in found):
        raise UnreadableError(f"no types at {address:#x}")
    return found
