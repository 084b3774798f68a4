"""What a resource handle says of the thing it names: the type and shape of a variable, as declared.

A handle keeps a vector of {type, shape}, one for each tensor behind it. A shape is packed as in a tensor;
the greatest number of its width stands for a size that is open.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations import cpp, tensorflow_types
from sigwhy.operations.classes import WORD

if TYPE_CHECKING:
    from sigwhy.machine.memory import Memory

HANDLE_BYTES = 200
ITEM_BYTES = 32
SHAPE = 8  # behind the type
RANK, FORM, ELEMENTS = 14, 15, 16  # within a shape
UNKNOWN_RANK = 255
FORMS = {0: ("H", 6), 1: ("I", 3)}
MOST = 16


def holds(memory: Memory, handle: int) -> str:
    """``float32[2,?]``; several in a row; nothing where the handle does not say."""
    for at in range(handle, handle + HANDLE_BYTES, WORD):
        try:
            begin, count = cpp.vector(memory, at, ITEM_BYTES)
            if 0 < count <= MOST:
                return " ".join(_one(memory, begin + ITEM_BYTES * n) for n in range(count))
        except UnreadableError:
            continue
    return ""


def _one(memory: Memory, address: int) -> str:
    raw = memory.read(address, ITEM_BYTES)
    name = tensorflow_types.name(struct.unpack_from("<i", raw)[0])
    packed, rank, form = raw[SHAPE:], raw[SHAPE + RANK], raw[SHAPE + FORM]
    elements = struct.unpack_from("<q", packed, ELEMENTS)[0]
    if not name:
        raise UnreadableError(f"no type at {address:#x}")
    if rank == UNKNOWN_RANK:
        return f"{name}[?]" if elements == -1 else _no_shape(address)
    letter, most = FORMS.get(form, ("", 0))
    if rank > most:
        return _no_shape(address)
    sizes = struct.unpack_from(f"<{rank}{letter}", packed)
    open_size = (1 << 8 * struct.calcsize(letter)) - 1
    known = [size for size in sizes if size != open_size]
    if (elements == -1) == (len(known) == rank) or (elements != -1 and elements != _product(known)):
        return _no_shape(address)
    return f"{name}[{','.join('?' if s == open_size else str(s) for s in sizes)}]"


def _no_shape(address: int) -> str:
    raise UnreadableError(f"no shape at {address:#x}")


def _product(sizes: list[int]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product
