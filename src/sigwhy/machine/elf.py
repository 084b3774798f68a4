"""A shared object as the loader reads it: through the program headers, never the section names.

Only what is asked for is read, with pread: libraries of 750 MB cost nothing, and a file that shrinks
meanwhile gives fewer bytes instead of a signal. Nothing in a file is believed before its place is
checked, and no walk is longer than an honest file needs. Full reading is for 64-bit little-endian
files, the machines that have wheels; of others the header says enough.
"""

from __future__ import annotations

import os
import struct
import weakref
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from sigwhy.machine.elf_hash import gnu_hash, sysv_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

MAGIC = b"\x7fELF"
MACHINES = {
    3: "32-bit x86", 8: "MIPS", 20: "32-bit PowerPC", 21: "PowerPC", 22: "s390x", 40: "32-bit ARM",
    62: "x86-64", 183: "arm64", 243: "RISC-V", 258: "LoongArch",
}  # fmt: skip
X86_64, ARM64 = 62, 183
KINDS = {1: "an object file that was not linked", 2: "a program", 3: "a shared object", 4: "a core"}
SHARED = 3

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
PROGRAM = struct.Struct("<IIQQQQQQ")
DYNAMIC = struct.Struct("<QQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQq")
GNU_HASH = struct.Struct("<IIII")
NEEDS_OF, NEED = struct.Struct("<HHIII"), struct.Struct("<IHHII")
DEFINES_OF, DEFINE = struct.Struct("<HHHHIII"), struct.Struct("<II")
WORD, LONG = struct.Struct("<I"), struct.Struct("<Q")

LOAD, DYNAMIC_SEGMENT, NOTE, TLS = 1, 2, 4, 7
STACK, PROPERTY = 0x6474E551, 0x6474E553
EXECUTABLE = 1
TAG = {
    "needed": 1, "pltrelsz": 2, "hash": 4, "strtab": 5, "symtab": 6, "rela": 7, "relasz": 8, "strsz": 10, "init": 12,
    "soname": 14, "rpath": 15, "jmprel": 23, "init_array": 25, "init_arraysz": 27, "runpath": 29, "flags": 30,
    "gnu_hash": 0x6FFFFEF5, "verdef": 0x6FFFFFFC, "verdefnum": 0x6FFFFFFD,
    "verneed": 0x6FFFFFFE, "verneednum": 0x6FFFFFFF,
}  # fmt: skip
STATIC_TLS = 16  # of the flags
GLOBAL, WEAK, UNIQUE = 1, 2, 10
IFUNC = 10
WEAK_VERSION = 2
RELATIVE, IRELATIVE = 8, 37  # of x86-64

MOST_SEGMENTS, MOST_DYNAMIC = 256, 8192
MOST_SYMBOLS, MOST_RELOCATIONS = 2_000_000, 4_000_000
MOST_VERSIONS, MOST_CHAIN = 4096, 4096
MOST_INITIALISERS = 50_000
MOST_NOTE_BYTES = 4096
LONGEST_NAME = 16384
LARGEST_STRINGS = 512 << 20
AT_ONCE = 1 << 20


class NotElfError(Exception):
    """Says what the file is instead, or what of it is missing."""


@dataclass(frozen=True, slots=True)
class Window:
    """Bytes that are read where they are wanted: of a file, or in memory."""

    size: int
    source: Callable[[int, int], bytes]

    def read(self, at: int, most: int) -> bytes:
        """At most so many bytes from here on; what lies outside is not there."""
        if not 0 <= at < self.size or most <= 0:
            return b""
        return self.source(at, min(most, self.size - at))

    @classmethod
    def of_bytes(cls, data: bytes) -> Window:
        """Bytes in memory."""
        return cls(len(data), lambda at, most: data[at : at + most])


@dataclass(frozen=True, slots=True)
class Segment:
    """A program header: a piece of the file, and where it lies in memory."""

    kind: int
    flags: int
    offset: int
    address: int
    in_file: int
    in_memory: int
    alignment: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """A row of the symbol table."""

    name: bytes
    bind: int
    kind: int
    section: int
    address: int
    size: int


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a library that must be there: ``GLIBC_2.34`` of ``libc.so.6``."""

    library: str
    name: str


def opened(path: Path) -> Elf:
    """The shared object of a file. Raises ``NotElfError`` and ``OSError``."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    if not hasattr(os, "pread"):  # Windows
        return Elf.of(Window.of_bytes(path.read_bytes()))
    handle = os.open(path, flags)
    try:
        window = Window(os.fstat(handle).st_size, lambda at, most: os.pread(handle, most, at))
        elf = Elf.of(window)
    except BaseException:
        os.close(handle)
        raise
    weakref.finalize(elf, os.close, handle)
    return elf


@dataclass(frozen=True)
class Elf:
    """The header and the segments; the rest is read when it is asked for."""

    window: Window
    machine: int
    kind: int
    bits: int
    sections_end: int = 0
    segments: tuple[Segment, ...] = field(default=())

    @classmethod
    def of(cls, window: Window) -> Elf:
        """Read the header. Raises ``NotElfError`` where there is none that a loader would take."""
        head = window.read(0, HEADER.size)
        if not head.startswith(MAGIC):
            raise NotElfError("it is no ELF file")
        if len(head) < HEADER.size:
            raise NotElfError(f"it ends after {len(head)} bytes, within the header")
        bits, big = (32, 64)[head[4] == 2], head[5] == 2
        if big or bits == 32:
            kind, machine = struct.unpack_from(">HH" if big else "<HH", head, 16)
            return cls(window, machine, kind, bits)
        _, kind, machine, _, _, at, sections, _, _, size, count, each, number, _ = HEADER.unpack(
            head
        )
        if size != PROGRAM.size and count:
            raise NotElfError(f"its program headers have {size} bytes each, not {PROGRAM.size}")
        rows = window.read(at, min(count, MOST_SEGMENTS) * PROGRAM.size)
        if len(rows) < min(count, MOST_SEGMENTS) * PROGRAM.size:
            raise NotElfError("it ends before its program headers")
        segments = (
            Segment(kind, flags, offset, address, in_file, in_memory, alignment)
            for kind, flags, offset, address, _, in_file, in_memory, alignment in PROGRAM.iter_unpack(
                rows
            )
        )
        return cls(window, machine, kind, bits, sections + each * number, tuple(segments))

    # ---- places ---------------------------------------------------------------------------------

    def loaded(self) -> Iterator[Segment]:
        """The segments that are mapped."""
        return (one for one in self.segments if one.kind == LOAD)

    @property
    def missing_bytes(self) -> int:
        """How much of what is mapped lies behind the end of the file."""
        end = max((one.offset + one.in_file for one in self.loaded() if one.in_file), default=0)
        return max(0, end - self.window.size)

    def at(self, address: int, most: int) -> bytes:
        """What the file holds for an address in memory, up to the end of its segment."""
        for one in self.loaded():
            inside = address - one.address
            if 0 <= inside < one.in_file:
                return self.window.read(
                    one.offset + inside, max(0, min(most, one.in_file - inside))
                )
        return b""

    def is_code(self, address: int) -> bool:
        """Whether an address lies in an executable segment of the file."""
        return any(
            one.flags & EXECUTABLE and 0 <= address - one.address < one.in_file
            for one in self.loaded()
        )

    # ---- the dynamic table ----------------------------------------------------------------------

    @cached_property
    def dynamic(self) -> tuple[tuple[int, int], ...]:
        """Tags and values, up to the tag that ends them."""
        place = next((one for one in self.segments if one.kind == DYNAMIC_SEGMENT), None)
        if place is None:
            return ()
        size = min(place.in_file // DYNAMIC.size, MOST_DYNAMIC) * DYNAMIC.size
        rows = self.window.read(place.offset, size)
        found = []
        for tag, value in DYNAMIC.iter_unpack(rows[: len(rows) // DYNAMIC.size * DYNAMIC.size]):
            if tag == 0:
                break
            found.append((tag, value))
        return tuple(found)

    @cached_property
    def _values(self) -> Mapping[int, int]:
        return dict(self.dynamic)

    def _value(self, tag: str) -> int:
        return self._values.get(TAG[tag], 0)

    def string(self, offset: int) -> bytes:
        """A name of the string table; empty where it lies outside."""
        if not 0 <= offset < self._value("strsz"):
            return b""
        start, room = self._value("strtab") + offset, self._value("strsz") - offset
        for most in (128, LONGEST_NAME):
            name, end, _ = self.at(start, min(most, room)).partition(b"\0")
            if end:
                return name
        return b""

    def _words(self, tag: str) -> tuple[str, ...]:
        number = TAG[tag]
        found = (self.string(value) for one, value in self.dynamic if one == number)
        return tuple(name.decode("utf-8", "replace") for name in found if name)

    @property
    def needed(self) -> tuple[str, ...]:
        """The libraries that are loaded with it."""
        return self._words("needed")

    @property
    def soname(self) -> str | None:
        """The name by which others ask for it."""
        return next(iter(self._words("soname")), None)

    @property
    def rpath(self) -> tuple[str, ...]:
        """Folders for it and for what it loads; without force where there is a run path."""
        return () if self.runpath else _folders(self._words("rpath"))

    @property
    def runpath(self) -> tuple[str, ...]:
        """Folders for what it loads itself."""
        return _folders(self._words("runpath"))

    @property
    def static_tls(self) -> bool:
        """Whether its thread variables must lie in the block that is made when a program starts."""
        return bool(self._value("flags") & STATIC_TLS)

    @property
    def tls_bytes(self) -> int:
        """The size of its thread variables."""
        return sum(one.in_memory for one in self.segments if one.kind == TLS)

    @property
    def executable_stack(self) -> bool:
        """Whether it asks for stacks that can be executed. No header at all asks for them too."""
        if not self.segments:
            return False
        told = [one for one in self.segments if one.kind == STACK]
        return bool(told[0].flags & EXECUTABLE) if told else False

    # ---- symbols --------------------------------------------------------------------------------

    @cached_property
    def _gnu(self) -> tuple[int, int, int, int] | None:
        """Buckets, first symbol, words of the filter, shift."""
        head = self.at(self._value("gnu_hash"), GNU_HASH.size) if self._value("gnu_hash") else b""
        if len(head) < GNU_HASH.size:
            return None
        buckets, first, words, shift = GNU_HASH.unpack(head)
        sane = 0 < buckets < MOST_SYMBOLS and 0 < words < MOST_SYMBOLS and first < MOST_SYMBOLS
        return (buckets, first, words, shift) if sane else None

    @cached_property
    def _sysv(self) -> tuple[int, int] | None:
        """Buckets, symbols."""
        head = self.at(self._value("hash"), 8) if self._value("hash") else b""
        if len(head) < 8:
            return None
        buckets, symbols = struct.unpack("<II", head)
        return (buckets, symbols) if 0 < buckets < MOST_SYMBOLS and symbols < MOST_SYMBOLS else None

    @cached_property
    def before_exports(self) -> int:
        """How many symbols stand before the first one that others can find."""
        if self._gnu:
            return self._gnu[1]
        return self._sysv[1] if self._sysv else 0

    def symbol(self, index: int) -> Symbol | None:
        """One row of the symbol table."""
        row = self.at(self._value("symtab") + index * SYMBOL.size, SYMBOL.size)
        return self._symbol(row) if len(row) == SYMBOL.size else None

    def _symbol(self, row: bytes) -> Symbol:
        name, info, _, section, value, size = SYMBOL.unpack(row)
        return Symbol(self.string(name), info >> 4, info & 15, section, value, size)

    @cached_property
    def wanted(self) -> tuple[Symbol, ...]:
        """The symbols that others must define. Linkers put them before the exported ones."""
        rows = self.at(self._value("symtab"), self.before_exports * SYMBOL.size)
        whole = rows[: len(rows) // SYMBOL.size * SYMBOL.size]
        strings = _Strings(self._value("strtab"), self._value("strsz"), self)
        return tuple(
            Symbol(strings.name(name), info >> 4, info & 15, 0, 0, 0)
            for name, info, _, section, _, _ in SYMBOL.iter_unpack(whole)
            if section == 0 and name
        )

    def exported(self, name: bytes) -> Symbol | None:
        """The symbol of this name that others can use, found as the loader finds it."""
        if self._gnu:
            return self._by_gnu_hash(name, *self._gnu)
        return self._by_sysv_hash(name, *self._sysv) if self._sysv else None

    def _by_gnu_hash(
        self, name: bytes, buckets: int, first: int, words: int, shift: int
    ) -> Symbol | None:
        start = self._value("gnu_hash") + GNU_HASH.size
        hashed = gnu_hash(name)
        bloom = self.at(start + 8 * (hashed // 64 % words), 8)
        bits = 1 << (hashed % 64) | 1 << ((hashed >> (shift & 31)) % 64)
        if len(bloom) < 8 or LONG.unpack(bloom)[0] & bits != bits:
            return None
        start += 8 * words
        bucket = self.at(start + 4 * (hashed % buckets), 4)
        index = WORD.unpack(bucket)[0] if len(bucket) == 4 else 0
        if index < first:
            return None
        chain = self.at(start + 4 * (buckets + index - first), 4 * MOST_CHAIN)
        for n, (one,) in enumerate(WORD.iter_unpack(chain[: len(chain) // 4 * 4])):
            if (one ^ hashed) < 2 and (found := self._if_exported(index + n, name)):
                return found
            if one & 1:
                return None
        return None

    def _by_sysv_hash(self, name: bytes, buckets: int, symbols: int) -> Symbol | None:
        start = self._value("hash") + 8
        at = start + 4 * (sysv_hash(name) % buckets)
        for _ in range(MOST_CHAIN):
            word = self.at(at, 4)
            index = WORD.unpack(word)[0] if len(word) == 4 else 0
            if not 0 < index < symbols:
                return None
            if found := self._if_exported(index, name):
                return found
            at = start + 4 * (buckets + index)
        return None

    def _if_exported(self, index: int, name: bytes) -> Symbol | None:
        found = self.symbol(index)
        if found is None or found.section == 0 or found.name != name:
            return None
        return found if found.bind in {GLOBAL, WEAK, UNIQUE} else None

    def strings(self) -> Iterator[bytes]:
        """The string table, in pieces that end with a name."""
        start, left = self._value("strtab"), min(self._value("strsz"), LARGEST_STRINGS)
        rest = b""
        while left > 0 and (piece := self.at(start, min(AT_ONCE, left))):
            start, left = start + len(piece), left - len(piece)
            whole, _, last = (rest + piece).rpartition(b"\0")
            rest = last[:LONGEST_NAME]
            yield whole + b"\0"

    # ---- versions -------------------------------------------------------------------------------

    @cached_property
    def needed_versions(self) -> tuple[Version, ...]:
        """The versions without which the loader refuses it."""
        return tuple(
            Version(library, self.string(name).decode("utf-8", "replace"))
            for library, flags, name in self._needs()
            if not flags & WEAK_VERSION
        )

    def _needs(self) -> Iterator[tuple[str, int, int]]:
        at = self._value("verneed")
        for _ in range(min(self._value("verneednum"), MOST_VERSIONS)):
            head = self.at(at, NEEDS_OF.size)
            if len(head) < NEEDS_OF.size:
                return
            _, count, name, first, step = NEEDS_OF.unpack(head)
            library = self.string(name).decode("utf-8", "replace")
            inner = at + first
            for _ in range(min(count, MOST_VERSIONS)):
                row = self.at(inner, NEED.size)
                if len(row) < NEED.size:
                    return
                _, flags, _, word, next_one = NEED.unpack(row)
                yield library, flags, word
                inner += next_one
                if not next_one:
                    break
            at += step
            if not step:
                return

    @cached_property
    def versions(self) -> frozenset[str]:
        """The versions that it has for others; the first one is its own name."""
        found, at = [], self._value("verdef")
        for _ in range(min(self._value("verdefnum"), MOST_VERSIONS)):
            head = self.at(at, DEFINES_OF.size)
            if len(head) < DEFINES_OF.size:
                break
            *_, first, step = DEFINES_OF.unpack(head)
            row = self.at(at + first, DEFINE.size)
            if len(row) == DEFINE.size:
                found.append(self.string(DEFINE.unpack(row)[0]).decode("utf-8", "replace"))
            at += step
            if not step:
                break
        return frozenset(found)

    # ---- what runs when it is loaded ------------------------------------------------------------

    @cached_property
    def initialisers(self) -> tuple[int, ...]:
        """The functions that the loader calls, and those that choose others (of x86-64)."""
        start, size = self._value("init_array"), self._value("init_arraysz")
        size = min(size, 8 * MOST_INITIALISERS)
        words = self.at(start, size)
        entries = {start + 8 * n: LONG.unpack_from(words, 8 * n)[0] for n in range(len(words) // 8)}
        choosers = []
        for place, kind, addend in self._relocations():
            if kind == IRELATIVE:
                choosers.append(addend)
            elif place in entries:
                entries[place] = addend
        found = (self._value("init"), *entries.values(), *choosers)
        return tuple(dict.fromkeys(one for one in found if one and self.is_code(one)))

    def _relocations(self) -> Iterator[tuple[int, int, int]]:
        """Place, kind and addend of those that name no symbol."""
        for table, size in (("rela", "relasz"), ("jmprel", "pltrelsz")):
            start = self._value(table)
            left = min(self._value(size) // RELOCATION.size, MOST_RELOCATIONS) * RELOCATION.size
            most = AT_ONCE // RELOCATION.size * RELOCATION.size
            while left > 0 and (rows := self.at(start, min(most, left))):
                start, left = start + len(rows), left - len(rows)
                whole = rows[: len(rows) // RELOCATION.size * RELOCATION.size]
                for place, info, addend in RELOCATION.iter_unpack(whole):
                    if info in {RELATIVE, IRELATIVE} and addend > 0:
                        yield place, info, addend
                if len(whole) < len(rows):
                    return

    @cached_property
    def notes(self) -> tuple[tuple[int, bytes], ...]:
        """The notes of GNU: kind and content."""
        found: list[tuple[int, bytes]] = []
        for one in self.segments:
            if one.kind == NOTE:
                data = self.window.read(one.offset, min(one.in_file, MOST_NOTE_BYTES))
                found.extend(_notes(data, 8 if one.alignment == 8 else 4))
        return tuple(found)


@dataclass(slots=True)
class _Strings:
    """Names that are read in the order of the table: a piece at a time instead of one each."""

    start: int
    size: int
    elf: Elf
    first: int = 0
    piece: bytes = b""

    def name(self, offset: int) -> bytes:
        """One name."""
        if not 0 <= offset < self.size:
            return b""
        for _ in range(2):
            inside = offset - self.first
            end = self.piece.find(b"\0", inside) if 0 <= inside < len(self.piece) else -1
            if end >= 0:
                return self.piece[inside:end]
            self.first = offset
            self.piece = self.elf.at(self.start + offset, min(1 << 16, self.size - offset))
        return b""


def _folders(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(folder for word in words for folder in word.split(":"))


def _notes(data: bytes, alignment: int) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 12 <= len(data):
        name_size, size, kind = struct.unpack_from("<III", data, at)
        name_at = at + 12
        content = _up(name_at + name_size, alignment)
        if data[name_at : name_at + name_size] == b"GNU\0":
            yield kind, data[content : content + size]
        at = _up(content + size, alignment)


def _up(number: int, alignment: int) -> int:
    return -(-number // alignment) * alignment
