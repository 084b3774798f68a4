"""The dispatcher: its entry of an operator, and the values of a boxed call.

An entry is believed because its schema repeats the names of the operator and of the overload. The
values of a boxed call are believed where there are as many as the schema has arguments, and every
tensor among them is one.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations import cpp
from sigwhy.operations.classes import is_pointer

if TYPE_CHECKING:
    from sigwhy.machine.memory import Memory
    from sigwhy.operations.classes import Classes
    from sigwhy.operations.torch_strings import Form, Strings
    from sigwhy.operations.torch_tensors import Tensor, Tensors

NAME = re.compile(r"[A-Za-z_]\w*::[A-Za-z_][\w.]*\Z")
OVERLOAD = re.compile(r"\w*\Z")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z")
BEHIND_NAME = 80  # bytes of an argument: types, default and flags
ARGUMENT_BYTES = range(72, 168, 8)
MOST_ARGUMENTS = 64
VALUE = struct.Struct("<QQ")
NONE, TENSOR, DOUBLE, INT = 0, 1, 3, 5
MOST_TAG = 48
BOOL, TENSOR_TYPE = "BoolType", "TensorType"


@dataclass(frozen=True, slots=True)
class Entry:
    """An operator that the dispatcher knows: ``aten::add``, its overload, its arguments, their types."""

    name: str
    overload: str
    arguments: tuple[str, ...]
    types: tuple[str, ...] = ()

    @property
    def base(self) -> str:
        """The name without its namespace."""
        return self.name.partition("::")[2]

    @property
    def tensors(self) -> tuple[str, ...]:
        """The names of the arguments that must be tensors."""
        pairs = zip(self.arguments, self.types, strict=False)
        return tuple(name for name, kind in pairs if kind == TENSOR_TYPE)


@dataclass(frozen=True, slots=True)
class Boxed:
    """The values of a boxed call: tensors, and plain ones with their tags."""

    at: int
    values: tuple[Tensor | tuple[int, int], ...]


class Dispatch:
    """The entries of one memory; each is looked at once."""

    def __init__(self, memory: Memory, classes: Classes, strings: Strings) -> None:
        self.memory, self.classes, self.strings = memory, classes, strings
        self._known: dict[int, Entry | None] = {}

    def entry(self, at: int) -> Entry | None:
        """The entry at an address, or where the word there points to."""
        if not is_pointer(at):
            return None
        if found := self._at(at):
            return found
        try:
            return self._at(self.memory.word(at))
        except UnreadableError:
            return None

    def known(self, at: int) -> Entry | None:
        """The entry that was found at this address before."""
        return self._known.get(at)

    def _at(self, at: int) -> Entry | None:
        if at not in self._known:
            self._known[at] = None
            if is_pointer(at):
                self._known[at] = self.strings.tried(
                    lambda form: self._read(at, form), lambda found: bool(found.arguments)
                )
        return self._known[at]

    def _read(self, at: int, form: Form) -> Entry | None:
        """Its name, its overload, and behind them the schema, which repeats both."""
        name = form.text(self.memory, at)
        if not NAME.match(name):
            return None
        schema = at + 2 * form.size
        overload, *repeated = (
            form.text(self.memory, place) for place in (at + form.size, schema, schema + form.size)
        )
        if repeated != [name, overload] or not OVERLOAD.match(overload):
            return None
        return self._with_arguments(name, overload, schema + 2 * form.size, form)

    def _with_arguments(self, name: str, overload: str, at: int, form: Form) -> Entry | None:
        begin, size = cpp.vector(self.memory, at, 1)
        if not size:
            return Entry(name, overload, ())
        for item in (BEHIND_NAME + form.size, *ARGUMENT_BYTES):
            count = size // item
            if size % item or count > MOST_ARGUMENTS:
                continue
            places = [begin + n * item for n in range(count)]
            try:
                names = tuple(form.text(self.memory, place) for place in places)
                types = tuple(self._type(self.memory.word(place + form.size)) for place in places)
            except (UnreadableError, UnicodeDecodeError):
                continue
            if all(IDENTIFIER.match(one) for one in names):
                return Entry(name, overload, names, types)
        return None

    def _type(self, at: int) -> str:
        """``BoolType`` of ``N3c108BoolTypeE``."""
        found = self.classes.of(at)
        return re.sub(r"^N3c10\d+|E$", "", found[0]) if found else ""

    def boxed(self, at: int, tensors: Tensors) -> Boxed | None:
        """The values of a boxed call, where a word points to the vector of them."""
        try:
            begin, end, limit = struct.unpack("<QQQ", self.memory.read(at, 24))
            size = end - begin
            fits = (
                is_pointer(begin) and 0 < size <= limit - begin <= 1 << 20 and not size % VALUE.size
            )
            if not fits or size > VALUE.size * MOST_ARGUMENTS:
                return None
            return self._values(at, self.memory.read(begin, size), tensors)
        except UnreadableError:
            return None

    def _values(self, at: int, packed: bytes, tensors: Tensors) -> Boxed | None:
        found: list[Tensor | tuple[int, int]] = []
        for payload, word in VALUE.iter_unpack(packed):
            tag = word & 0xFFFFFFFF
            if tag > MOST_TAG:
                return None
            if tag == TENSOR and payload:
                tensor = tensors.at(payload)
                if tensor is None and not tensors.scene.classes.of(payload):
                    return None
                found.append(tensor or (0, NONE))
            else:
                found.append((payload, tag))
        return Boxed(at, tuple(found)) if any(not isinstance(v, tuple) for v in found) else None


def plain(payload: int, tag: int, kind: str) -> bool | int | float | None:
    """The plain value of a boxed argument; None where it is none, or of another type."""
    if tag == DOUBLE:
        return float(struct.unpack("<d", payload.to_bytes(8, "little"))[0])
    if tag == INT:
        return payload - (payload >> 63 << 64)
    if kind == BOOL and tag != NONE:  # its tag has moved between versions
        return bool(payload & 1)
    return None
