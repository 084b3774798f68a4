"""Keeps whole inputs while the process still has them, as ``.npy``, up to a limit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sigwhy.machine.memory import Memory

MOST_BYTES = 512 << 10  # in all, unless more is asked for
AMOUNTS = {"none": 0, "small": MOST_BYTES, "full": 256 << 20}  # by the word of the user
MOST_MEMBERS = 64
MAGIC = b"\x93NUMPY\x01\x00"
ALIGNED = 64
# A type by its name in the frameworks to that of the format; bfloat16 has none and is kept as bits.
TYPES = {
    "float16": "<f2", "float32": "<f4", "float64": "<f8", "bfloat16": "<u2",
    "int8": "|i1", "int16": "<i2", "int32": "<i4", "int64": "<i8",
    "uint8": "|u1", "uint16": "<u2", "uint32": "<u4", "uint64": "<u8",
    "qint8": "|i1", "qint16": "<i2", "qint32": "<i4", "quint8": "|u1", "quint16": "<u2",
    "bool": "|b1", "complex64": "<c8", "complex128": "<c16",
}  # fmt: skip


@dataclass(slots=True)
class Keeper:
    """The members that are to go into the Incident, by name, and how much more may be kept."""

    left: int = MOST_BYTES
    members: dict[str, bytes] = field(default_factory=dict)

    def keep(self, memory: Memory, address: int, dtype: str, shape: Sequence[int]) -> str:
        """Keep a whole dense array; the name of its member, or nothing where it cannot be kept."""
        kind = TYPES.get(dtype)
        size = _product(shape) * int(kind[2:]) if kind else 0
        if not kind or not 0 < size <= self.left:
            return ""
        try:
            data = memory.bulk(address, size)
        except UnreadableError:
            return ""
        return self.keep_bytes(data, kind, shape)

    def keep_bytes(self, data: bytes, kind: str, shape: Sequence[int]) -> str:
        """Keep bytes that were read already; ``kind`` is the type as the format writes it."""
        packed = _head(kind, shape) + data
        if again := next((name for name, kept in self.members.items() if kept == packed), None):
            return again
        if not 0 < len(data) <= self.left or len(self.members) >= MOST_MEMBERS:
            return ""
        self.left -= len(data)
        name = f"{len(self.members)}.npy"
        self.members[name] = packed
        return name

    def write(self, folder: Path) -> None:
        """Write the members as files, for whoever packs the Incident."""
        if self.members:
            folder.mkdir(mode=0o700, exist_ok=True)
        for name, data in self.members.items():
            (folder / name).write_bytes(data)


def _product(shape: Sequence[int]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product


def _head(kind: str, shape: Sequence[int]) -> bytes:
    sizes = "".join(f"{size}, " for size in shape)
    words = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({sizes})}}".encode()
    room = -(len(MAGIC) + 2 + len(words) + 1) % ALIGNED
    words += b" " * room + b"\n"
    return MAGIC + len(words).to_bytes(2, "little") + words
