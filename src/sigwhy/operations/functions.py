"""Which function a code address belongs to, quickly: from the file behind its mapping.

Names come from the file's table of symbols, which release wheels keep; a file without one still has
the table for unwinding, which knows where functions begin. A file is believed only where its head is
what the process has mapped. Tables beyond a size are left alone: the process stands still meanwhile.
"""

from __future__ import annotations

import array
import bisect
import os
import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from sigwhy.machine.demangle import demangled
from sigwhy.machine.memory import PAGE, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.machine.memory import Memory
    from sigwhy.model.incident import Mapping

MOST_SYMBOLS = 8 << 20  # bytes of one table; the 22 MB of TensorFlow's own take half a second
MOST_STRINGS = 32 << 20
MOST_SECTIONS, MOST_SEGMENTS = 512, 64
MOST_FILES = 24
MOST_HINTS = 1 << 20  # functions in the table for unwinding
LONGEST_NAME = 4096
SYMTAB, DYNSYM = 2, 11
LOAD, EH_FRAME_HDR = 1, 0x6474E550
FUNCTIONS = (2, 10)  # STT_FUNC, STT_GNU_IFUNC
# The C and C++ libraries, which do what they are told.
SYSTEM = re.compile(r"/(?:lib(?:c|m|stdc\+\+|pthread|gcc_s)|ld-linux[\w-]*)[-.][\w.+-]*$")
SORTED_BY_PLACE = b"\x01\x1b\x03\x3b"  # the one form of .eh_frame_hdr that linkers write
SYMBOL = struct.Struct("<IIQQQQIIQQ")
SEGMENT = struct.Struct("<IIQQQQQQ")


@dataclass(frozen=True, slots=True)
class Function:
    """A function in memory: where it begins, its mangled name where one is known, its file."""

    start: int
    name: str
    library: str

    @property
    def qualified(self) -> str:
        """Its name with the names around it, without arguments and return type."""
        return qualified(demangled(self.name))


def qualified(name: str) -> str:
    """``a::b<int>::c`` of ``void a::b<int>::c(d) const``; anonymous namespaces are ``{}``."""
    name = name.replace("(anonymous namespace)", "{}").replace("operator()", "operator{}")
    depth = start = 0
    for n, letter in enumerate(name):
        if letter in "<[":
            depth += 1
        elif letter in ">]":
            depth -= 1
        elif letter == " " and not depth:
            start = n + 1
        elif letter == "(" and not depth:
            return name[start:n]
    return name[start:]


def namespace(name: str) -> str:
    """What a qualified name stands in; what stands between < and > are other names."""
    return name.partition("<")[0].rpartition("::")[0]


class Functions:
    """The functions of all files that one memory has mapped; each file is looked at once."""

    def __init__(self, memory: Memory, pid: int | None = None) -> None:
        self.memory = memory
        self.root = f"/proc/{pid}/root" if pid else ""
        self._files: dict[str, _Table | None] = {}
        self._known: dict[int, Function | None] = {}

    def at(self, address: int) -> Function | None:
        """The function that holds a code address."""
        if address not in self._known:
            self._known[address] = self._at(address)
        return self._known[address]

    def returned_to(self, address: int) -> Function | None:
        """The function that goes on at this address after a call; None where no call stands before."""
        return self.at(address - 1) if self._is_after_call(address) else None

    def has(self, path: str, *names: str) -> bool:
        """Whether a file that was looked at has a function of one of these names."""
        table = self._files.get(path)
        return bool(table and any(b"\0%s\0" % name.encode() in table.strings for name in names))

    def _at(self, address: int) -> Function | None:
        mapping = self.memory.mapping(address)
        if mapping is None or "x" not in mapping.rights or not mapping.path.startswith("/"):
            return None
        table = self._table(mapping)
        found = table.find(address - mapping.start + mapping.offset) if table else None
        if found is None:
            return None
        back, name = found
        return Function(address - back, name, mapping.path)

    def _table(self, mapping: Mapping) -> _Table | None:
        path = mapping.path
        if path not in self._files:
            self._files[path] = None
            if len(self._files) <= MOST_FILES:
                self._files[path] = _read(self._opened(path), self._head(path))
        return self._files[path]

    def _opened(self, path: str) -> BinaryIO | None:
        for place in dict.fromkeys((f"{self.root}{path}", path)):
            try:
                handle = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            except (OSError, ValueError):
                continue
            return os.fdopen(handle, "rb")
        return None

    def _head(self, path: str) -> bytes:
        """How the file begins in memory; nothing where that page is not to be had."""
        first = next((m for m in self.memory.mappings if m.path == path and not m.offset), None)
        try:
            return (
                self.memory.read(first.start, min(PAGE, first.end - first.start)) if first else b""
            )
        except UnreadableError:
            return b""

    def _is_after_call(self, address: int) -> bool:
        """Whether the bytes before it are a call: of a place, or of what a register leads to."""
        try:
            before = self.memory.read(address - 7, 7)
        except UnreadableError:
            return False
        if before[2] == 0xE8:
            return True
        return any(_is_indirect_call(before[7 - size :]) for size in (2, 3, 4, 6, 7))


def _is_indirect_call(code: bytes) -> bool:
    if 0x40 <= code[0] <= 0x4F and len(code) > 2:  # a prefix for the upper registers
        code = code[1:]
    return len(code) >= 2 and code[0] == 0xFF and code[1] >> 3 & 7 == 2


class _Table:
    """Where the functions of one file begin and end, and how they are called."""

    def __init__(
        self,
        segments: list[tuple[int, int, int]],
        rows: list[tuple[int, int, int]],
        strings: bytes,
    ) -> None:
        self.segments = segments  # offset in the file, size there, address
        self.rows = rows
        self.starts = [row[0] for row in rows]
        self.strings = strings

    def find(self, offset: int) -> tuple[int, str] | None:
        """How far a place in the file lies behind the begin of its function, and its name."""
        address = next(
            (offset - at + to for at, size, to in self.segments if at <= offset < at + size), None
        )
        if address is None:
            return None
        n = bisect.bisect_right(self.starts, address) - 1
        if n < 0:
            return None
        start, size, name = self.rows[n]
        if address >= start + max(size, 1):
            return None
        text = self.strings[name : name + LONGEST_NAME].partition(b"\0")[0] if name else b""
        return address - start, text.decode("utf-8", "replace")


def _read(stream: BinaryIO | None, head: bytes) -> _Table | None:
    """The table of a file, if it is the file that begins with these bytes."""
    if stream is None:
        return None
    with stream:
        try:
            first = stream.read(len(head))
            if len(head) < 64 or first != head or first[:6] != b"\x7fELF\x02\x01":
                return None
            return _of_elf(stream, first)
        except (OSError, struct.error, ValueError, OverflowError, MemoryError):
            return None  # damaged, or gone in the meantime


def _of_elf(stream: BinaryIO, head: bytes) -> _Table | None:
    programs, sections = struct.unpack_from("<QQ", head, 32)
    of_programs, of_sections = struct.unpack_from("<H2xH", head, 56)
    parts = list(_rows(stream, programs, SEGMENT, min(of_programs, MOST_SEGMENTS)))
    loaded = [(row[2], row[5], row[3]) for row in parts if row[0] == LOAD]
    tables = list(_rows(stream, sections, SYMBOL, min(of_sections, MOST_SECTIONS)))
    for kind in (SYMTAB, DYNSYM):
        table = next((row for row in tables if row[1] == kind), None)
        if table is None or table[5] > MOST_SYMBOLS or table[6] >= len(tables):
            continue
        if kind == SYMTAB:
            return _Table(loaded, *_symbols(stream, table, tables[table[6]]))
        named, strings = _symbols(stream, table, tables[table[6]])
        return _Table(loaded, _merged(named, _beginnings(stream, parts)), strings)
    begins = list(_beginnings(stream, parts))
    return _Table(loaded, _merged([], begins), b"") if begins else None


def _rows(
    stream: BinaryIO, offset: int, form: struct.Struct, count: int
) -> Iterator[tuple[int, ...]]:
    stream.seek(offset)
    packed = stream.read(form.size * count)
    yield from form.iter_unpack(packed[: len(packed) // form.size * form.size])


def _symbols(
    stream: BinaryIO, table: tuple[int, ...], strings: tuple[int, ...]
) -> tuple[list[tuple[int, int, int]], bytes]:
    """The functions as {address, size, place of the name}, by address."""
    stream.seek(table[4])
    packed = stream.read(min(table[5], MOST_SYMBOLS))
    words = array.array("Q", packed[: len(packed) // 24 * 24])
    rows = [
        (at, size, first & 0xFFFFFFFF)
        for first, at, size in zip(words[0::3], words[1::3], words[2::3], strict=True)
        if at and first >> 32 & 15 in FUNCTIONS
    ]
    rows.sort()
    stream.seek(strings[4])
    return rows, stream.read(min(strings[5], MOST_STRINGS))


def _beginnings(stream: BinaryIO, segments: list[tuple[int, ...]]) -> Iterator[int]:
    """Where functions begin, as the table for unwinding has it."""
    table = next((row for row in segments if row[0] == EH_FRAME_HDR), None)
    if table is None:
        return
    stream.seek(table[2])
    packed = stream.read(min(table[5], 8 * MOST_HINTS + 12))
    if len(packed) < 12 or packed[:4] != SORTED_BY_PLACE:
        return
    count = min(struct.unpack_from("<I", packed, 8)[0], (len(packed) - 12) // 8)
    for place, _ in struct.iter_unpack("<ii", packed[12 : 12 + 8 * count]):
        yield table[3] + place


def _merged(
    named: list[tuple[int, int, int]], begins: Iterator[int] | list[int]
) -> list[tuple[int, int, int]]:
    """Functions with names and those of which only the begin is known, which end at the next."""
    known = {row[0]: row for row in named}
    places = sorted({*known, *begins})
    ends = [*places[1:], (places[-1] if places else 0) + PAGE]
    return [known.get(at) or (at, end - at, 0) for at, end in zip(places, ends, strict=True)]
