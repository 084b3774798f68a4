"""An array as an argument of an operation: its elements, whose its memory is, and how that stands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sigwhy.model.operation import Argument
from sigwhy.operations.array_owner import owner
from sigwhy.operations.arrays import values

if TYPE_CHECKING:
    from sigwhy.machine.memory import Memory
    from sigwhy.model.operation import Standing, Value
    from sigwhy.operations.array_owner import Owner
    from sigwhy.operations.arrays import Array
    from sigwhy.operations.keeper import Keeper
    from sigwhy.operations.python_objects import PythonObjects

MOST_VALUES = 16
PLAIN_BYTES = frozenset({"bytes", "bytearray", "mmap.mmap", "memoryview"})
MOST_MAPPINGS = 4096


def argument(
    objects: PythonObjects, found: Array, *, name: str = "", variable: str = "", keeper: Keeper
) -> Argument:
    """The array, told as far as it can be read."""
    of = owner(objects, found)
    stands, file = standing(objects.memory, found.low, found.high)
    if of and of.is_closed and stands == "there":
        stands = "gone"  # something else may lie there by now
    whole = stands == "there" and found.is_dense and found.native
    return Argument(
        name=name,
        kind="array",
        dtype=found.dtype if found.native else f">{found.dtype}",
        shape=list(found.shape),
        strides=_in_elements(found),
        offset=_offset(found, of),
        values=_values(objects, found, of) if stands == "there" else [],
        elements=found.elements,
        address=found.start,
        storage=_storage(found, of),
        standing=stands,
        mapped=file,
        variable=variable,
        member=keeper.keep(objects.memory, found.start, found.dtype, found.shape) if whole else "",
        note=_note(found, of),
    )


def _values(objects: PythonObjects, found: Array, of: Owner | None) -> list[Value]:
    """The first elements; of objects that lie in plain bytes, what is taken for pointers."""
    if found.dtype == "object" and of and of.kind in PLAIN_BYTES and found.is_dense:
        found = replace(found, dtype="uint64")
    return list(values(objects.memory, found, MOST_VALUES))


def standing(memory: Memory, low: int, high: int) -> tuple[Standing, str]:
    """Whether all of some memory is there, and the file that it is mapped from."""
    if high <= low:
        return "none", ""
    at, file = low, ""
    for _ in range(MOST_MAPPINGS):
        mapping = memory.mapping(at)
        if mapping is None:
            return "gone", file
        if not mapping.rights.startswith("r"):
            return "protected", file
        file = file or (mapping.path if mapping.path.startswith("/") else "")
        at = mapping.end
        if at >= high:
            break
    return "there", file


def _storage(found: Array, of: Owner | None) -> tuple[int, int] | None:
    if of is None:
        return found.low, found.high - found.low
    return (of.start, of.size) if of.start is not None and of.size is not None else None


def _in_elements(found: Array) -> list[int] | None:
    """Strides in elements; None where they are no whole number of them."""
    if any(step % found.item for step in found.strides):
        return None
    return [step // found.item for step in found.strides]


def _offset(found: Array, of: Owner | None) -> int | None:
    storage = _storage(found, of)
    distance = found.start - storage[0] if storage else 0
    return distance // found.item if distance % found.item == 0 and distance >= 0 else None


def _note(found: Array, of: Owner | None) -> str:
    """What is odd about it, or whose its memory is."""
    if of is None:
        return "" if found.writable else "read-only"
    if of.is_closed:
        return f"its memory was that of a {of.kind}, which is closed"
    if of.start is not None and of.size is not None:
        before, behind = of.start - found.low, found.high - of.start - of.size
        if before > 0:
            return f"it begins {before} bytes before the memory of its {of.kind}"
        if behind > 0:
            return f"it ends {behind} bytes behind the {of.size} bytes of its {of.kind}"
    return f"its memory is that of a {of.kind}"
