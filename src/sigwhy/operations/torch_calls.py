"""Calls that came from Python: the record of parsed arguments that PyTorch keeps on the stack.

``PythonArgs`` holds a pointer to the signature (the name of the function and of its parameters) and
one to the arguments, in the same order. A signature is believed where each of its parameters has a
name; a record where its arguments lie on the same stack and are Python objects still.
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
    from collections.abc import Iterator, Sequence

    from sigwhy.machine.memory import Memory
    from sigwhy.operations.torch_strings import Form, Strings

IDENTIFIER = re.compile(r"[A-Za-z_]\w{0,99}\Z")
COUNTS_AFTER = 24  # bytes behind the begin of the parameters, which follow the name
PARAMETER_NAME = (16, 24, 8)
TENSOR, TENSOR_LIST = 0, 6  # of its kinds, which stand at its begin
MAY_BE_NONE = 5  # a flag behind it; None is then passed on as if nothing was given
MOST_PARAMETERS, MOST_PARAMETER_BYTES = 64, 1024
MOST_INDEX = 64
NEAR = 1 << 14  # bytes between a record and its arguments


@dataclass(frozen=True, slots=True)
class Signature:
    """A form in which a function can be called."""

    name: str
    parameters: tuple[str, ...]
    kinds: tuple[int, ...]
    needed: tuple[bool, ...]  # which must be given, and may not be None


@dataclass(frozen=True, slots=True)
class Call:
    """A record: where it lies, its signature, and the Python objects given; 0 is the default."""

    at: int
    signature: Signature
    given: tuple[int, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all that must be given was given."""
        pairs = zip(self.given, self.signature.needed, strict=True)
        return all(given for given, needed in pairs if needed)

    def tensors(self) -> Iterator[int]:
        """The objects that must be tensors, or numbers in place of them."""
        for kind, given in zip(self.signature.kinds, self.given, strict=True):
            if kind == TENSOR and given:
                yield given


class Calls:
    """The signatures of one memory; each is looked at once."""

    def __init__(self, memory: Memory, strings: Strings) -> None:
        self.memory, self.strings = memory, strings
        self._known: dict[int, Signature | None] = {}

    def on(self, words: Sequence[tuple[int, int]]) -> Iterator[Call]:
        """The records among the words of a stack, the innermost first."""
        if not words:
            return
        low, high = words[0][0], words[-1][0]
        before = 0
        for n, (at, value) in enumerate(words[:-1]):
            given = words[n + 1][1]
            is_head = before & 0xFFFFFFFF < MOST_INDEX and before >> 32 & 0xFF < 2
            before = value
            near = low <= given <= high and at - NEAR < given < at + NEAR and given % 8 == 0
            if not (is_head and near and is_pointer(value)):
                continue
            signature = self.signature(value)
            if signature is None:
                continue
            call = Call(at, signature, self._given(given, len(signature.parameters)))
            if len(call.given) == len(signature.parameters) and call.is_whole:
                yield call

    def _given(self, at: int, count: int) -> tuple[int, ...]:
        try:
            found = struct.unpack(f"<{count}Q", self.memory.read(at, 8 * count)) if count else ()
        except (UnreadableError, struct.error):
            return ()
        return found if all(not one or is_pointer(one) for one in found) else ()

    def signature(self, at: int) -> Signature | None:
        """The signature at an address."""
        if at not in self._known:
            self._known[at] = self.strings.tried(
                lambda form: self._read(at, form), lambda found: bool(found.parameters)
            )
        return self._known[at]

    def _read(self, at: int, form: Form) -> Signature | None:
        name = form.text(self.memory, at)
        if not IDENTIFIER.match(name):
            return None
        parameters = at + form.size
        counts = struct.unpack("<QQQ", self.memory.read(parameters + COUNTS_AFTER, 24))
        least, most, positional = counts
        if not least <= most or positional > most:
            return None
        begin, size = cpp.vector(self.memory, parameters, 1)
        if not size and not most:
            return Signature(name, (), (), ())
        if not 0 < most <= MOST_PARAMETERS or size % most or size // most > MOST_PARAMETER_BYTES:
            return None
        places = [begin + n * (size // most) for n in range(most)]
        names = tuple(self._parameter(place, form) for place in places)
        heads = [self.memory.read(place, 6) for place in places]
        kinds = tuple(int.from_bytes(head[:4], "little") for head in heads)
        needed = tuple(n < least and not head[MAY_BE_NONE] for n, head in enumerate(heads))
        return Signature(name, names, kinds, needed) if all(names) else None

    def _parameter(self, at: int, form: Form) -> str:
        for place in PARAMETER_NAME:
            try:
                name = form.text(self.memory, at + place)
            except (UnreadableError, UnicodeDecodeError):
                continue
            if IDENTIFIER.match(name):
                return name
        return ""
