"""The build id of a library: as it stood in memory, and as its file has it now.

The linker writes it into a note that is mapped with the file's head. Two files with one build id are
the same build; a file that was replaced since the process began has another one.
"""

from __future__ import annotations

import os
import stat
import struct
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sigwhy.machine.memory import Memory

MAGIC = b"\x7fELF"
LOAD, NOTE, BUILD_ID = 1, 4, 3
MOST_HEADERS = 64
MOST_NOTE_BYTES = 1 << 16
LONGEST = 64


def of_file(path: str) -> str | None:
    """The build id of a file of this machine; None where it has none or is no library."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        return _found(lambda at, count: os.pread(handle, count, at), in_memory=False)
    except (OSError, struct.error, OverflowError):
        return None
    finally:
        os.close(handle)


def in_memory(memory: Memory, base: int) -> str | None:
    """The build id of the library that begins at ``base``, where that page was kept."""
    try:
        return _found(lambda at, count: memory.read(base + at, count), in_memory=True)
    except (UnreadableError, struct.error):
        return None


def _found(read: Callable[[int, int], bytes], *, in_memory: bool) -> str | None:
    head = read(0, 64)
    if len(head) < 64 or head[:5] != MAGIC + b"\x02":
        return None
    table = struct.unpack_from("<Q", head, 32)[0]
    size, count = struct.unpack_from("<HH", head, 54)
    if size < 56:
        return None
    rows = [
        struct.unpack_from("<IIQQQQ", read(table + n * size, 56))
        for n in range(min(count, MOST_HEADERS))
    ]
    first = min((row[3] for row in rows if row[0] == LOAD), default=0)
    for kind, _, offset, address, _, length in rows:
        if kind == NOTE:
            start = address - first if in_memory else offset
            for name, what, data in _notes(read(start, min(length, MOST_NOTE_BYTES))):
                if what == BUILD_ID and name == b"GNU\0":
                    return data[:LONGEST].hex()
    return None


def _notes(packed: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    at = 0
    while at + 12 <= len(packed):
        name, size, kind = struct.unpack_from("<III", packed, at)
        begins = at + 12 + (name + 3 & ~3)
        yield packed[at + 12 : at + 12 + name], kind, packed[begins : begins + size]
        at = begins + (size + 3 & ~3)
