"""What a Python value is, in few words: a number, a string, a module, a type and where it lies.

It is what pystack says of locals, for the names of modules, which pystack does not give.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations.dictionary import items
from sigwhy.operations.python_objects import address_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from sigwhy.operations.python_objects import PythonObjects

SIZE, DIGITS, FLOAT, MODULE_NAMES, CELL = 16, 24, 16, 16, 16
ITEMS = {"tuple": 24, "list": 24}
DIGIT_BITS = 30
MOST_DIGITS, MOST_ITEMS, DEEPEST = 3, 8, 2
SIGN_MASK, ZERO, NEGATIVE, COUNT_SHIFT = 3, 1, 2, 3  # since Python 3.12


def shown(objects: PythonObjects, at: int, depth: int = 0) -> str:
    """A value in words: ``5``, ``'text'``, ``<module numpy>``, ``<numpy.ndarray at 0x7f…>``."""
    kind = objects.type_of(at)
    try:
        if kind in ITEMS and depth < DEEPEST:
            return _several(objects, at, kind, depth)
        words = PLAIN[kind](objects, at) if kind in PLAIN else ""
    except UnreadableError:
        words = ""
    return words or (f"<{kind} at {at:#x}>" if kind else "")


def in_cell(objects: PythonObjects, value: str) -> str:
    """What a variable holds that a function shares with those inside it: ``<cell at 0x7f…>``."""
    at = address_of(value, "cell")
    try:
        return shown(objects, objects.memory.word(at + CELL)) if at else ""
    except UnreadableError:
        return ""


def _number(objects: PythonObjects, at: int) -> str:
    number = _integer(objects, at)
    return "" if number is None else str(number)


def _real(objects: PythonObjects, at: int) -> str:
    return repr(struct.unpack("<d", objects.memory.read(at + FLOAT, 8))[0])


def _text(objects: PythonObjects, at: int) -> str:
    text = objects.text(at)
    return repr(text) if text else ""


def _module(objects: PythonObjects, at: int) -> str:
    held = items(objects, objects.memory.word(at + MODULE_NAMES))
    return f"<module {objects.text(held.get('__name__', 0)) or '?'}>"


PLAIN: dict[str, Callable[[PythonObjects, int], str]] = {
    "NoneType": lambda _objects, _at: "None",
    "bool": lambda objects, at: str(bool(_integer(objects, at))),
    "int": _number,
    "float": _real,
    "str": _text,
    "module": _module,
}


def _several(objects: PythonObjects, at: int, kind: str, depth: int) -> str:
    count = objects.memory.word(at + SIZE)
    begin = at + ITEMS[kind] if kind == "tuple" else objects.memory.word(at + ITEMS[kind])
    if count > MOST_ITEMS:
        return f"<{kind} at {at:#x}>"
    places = struct.unpack(f"<{count}Q", objects.memory.read(begin, 8 * count)) if count else ()
    words = ", ".join(shown(objects, place, depth + 1) for place in places)
    return f"[{words}]" if kind == "list" else f"({words}{',' if count == 1 else ''})"


def _integer(objects: PythonObjects, at: int) -> int | None:
    """A whole number: until Python 3.11 its size has the sign, since then a tag has both."""
    tag = struct.unpack("<q", objects.memory.read(at + SIZE, 8))[0]
    first = objects.memory.half(at + DIGITS)
    if tag == 0 or (tag == ZERO and not first):
        return 0
    if abs(tag) <= MOST_DIGITS:
        count, sign = abs(tag), -1 if tag < 0 else 1
    else:
        count, sign = tag >> COUNT_SHIFT, -1 if tag & SIGN_MASK == NEGATIVE else 1
    if not 0 < count <= MOST_DIGITS:
        return None
    digits = struct.unpack(f"<{count}I", objects.memory.read(at + DIGITS, 4 * count))
    if any(digit >> DIGIT_BITS for digit in digits):
        return None
    return sign * sum(int(digit) << DIGIT_BITS * n for n, digit in enumerate(digits))
