"""ELF cores: the kernel's, gdb's and our small ones. Memory, threads, signal and files of them.

A small core names every mapping but holds few pages. What was never written by the program is read
from the mapped files, where they lie on this machine.
"""

from __future__ import annotations

import bisect
import os
import stat
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sigwhy.autopsy import build_id
from sigwhy.machine.memory import PAGE, Memory
from sigwhy.model.error import UsageError
from sigwhy.model.incident import Mapping

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAGIC = b"\x7fELF"
CORE = 4
X86_64, ARM64 = 62, 183
MACHINES = {X86_64: "x86_64", ARM64: "aarch64"}
NAMES = {3: "32-bit x86", 40: "32-bit ARM", 243: "RISC-V", 21: "PowerPC", 22: "s390", 8: "MIPS"}
LOAD, NOTE = 1, 4
READ, EXECUTE = 4, 1
STATUS, PROGRAM, AUXILIARY, SIGINFO, FILES = 1, 3, 6, 0x53494749, 0x46494C45
EXECFN = 31
MOST_SEGMENTS = 1 << 18
MOST_NOTE_BYTES = 64 << 20
MANY_SEGMENTS = 0xFFFF
X86_REGISTERS = (
    "r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi",
    "rdi", "orig_rax", "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base", "ds", "es", "fs", "gs",
)  # fmt: skip
ARM64_REGISTERS = (*(f"x{n}" for n in range(31)), "sp", "pc", "pstate")
REGISTERS = {"x86_64": X86_REGISTERS, "aarch64": ARM64_REGISTERS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What the notes of a core tell."""

    machine: str
    pid: int | None = None
    program: str = ""
    arguments: str = ""
    siginfo: bytes = b""
    signal: int = 0
    registers: dict[int, dict[str, int]] = field(default_factory=dict)  # the crashed thread first
    auxiliary: dict[int, int] = field(default_factory=dict)
    truncated: bool = False


class Core(Memory):
    """A core file as memory. Only what is asked for is read, however large the file is."""

    def __init__(self, path: Path) -> None:
        self._file = _Pieces(path)
        try:
            segments = _Segments(self._file, str(path))
        except BaseException:
            self._file.close()
            raise
        self.contents = segments.contents
        self._held = segments.held
        super().__init__(segments.mappings)
        self._open: dict[str, int | None] = {}
        self.other_builds: set[str] = set()
        self._bases: dict[str, int] = {}
        for mapping in self.mappings:
            if mapping.path.startswith("/") and mapping.offset == 0:
                self._bases.setdefault(mapping.path, mapping.start)

    @property
    def size(self) -> int:
        """How long the file is, holes and all."""
        return len(self._file)

    def fetch(self, address: int) -> bytes:
        """A page of the core, or of the file that was mapped there and never written."""
        mapping = self.mapping(address)
        if mapping is None:
            return b""
        page = self._kept(mapping, address)
        if page or "w" in mapping.rights or not mapping.path.startswith("/"):
            return page
        return self._of_file(mapping.path, mapping.offset + address - mapping.start)

    def _kept(self, mapping: Mapping, address: int) -> bytes:
        offset, size = self._held[mapping.start]
        inside = address - mapping.start
        if inside >= size:
            return b""
        return self._file[offset + inside : offset + min(inside + PAGE, size)].ljust(PAGE, b"\0")

    def base(self, path: str) -> int | None:
        """Where the head of a file was mapped."""
        return self._bases.get(path)

    def build_id(self, path: str) -> str | None:
        """The build id that a mapped file had, where the core holds it."""
        base = self._bases.get(path)
        mapping = self.mapping(base) if base is not None else None
        if base is None or mapping is None or not self._held[mapping.start][1]:
            return None
        return build_id.in_memory(_Kept(self), base)

    def is_other_build(self, path: str) -> bool:
        """Whether the file of this machine is another build than the one that was mapped."""
        was = self.build_id(path)
        now = build_id.of_file(path) if was else None
        return bool(was and now and was != now)

    def kept_page(self, address: int) -> bytes:
        """A page of the core itself, never of a file."""
        mapping = self.mapping(address)
        return self._kept(mapping, address) if mapping else b""

    def _of_file(self, path: str, offset: int) -> bytes:
        if path not in self._open:
            self._open[path] = None
            if self.is_other_build(path):
                self.other_builds.add(path)
            else:
                self._open[path] = _opened(path)
        handle = self._open[path]
        try:
            return b"" if handle is None else os.pread(handle, PAGE, offset)
        except (OSError, OverflowError):
            return b""

    def close(self) -> None:
        """Give the files back."""
        self._file.close()
        for handle in self._open.values():
            if handle is not None:
                os.close(handle)
        self._open.clear()


class _Kept(Memory):
    """What the core itself holds, without the files of this machine."""

    def __init__(self, core: Core) -> None:
        super().__init__()
        self.core = core

    def fetch(self, address: int) -> bytes:
        return self.core.kept_page(address)


def _opened(path: str) -> int | None:
    """A regular file of this machine; a pipe or a device by that name is none."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    return None


class _Pieces:
    """A file as one long row of bytes, of which only slices are ever read."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._size = os.fstat(self._handle).st_size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, which: slice) -> bytes:
        start, stop, _ = which.indices(self._size)
        try:
            return os.pread(self._handle, max(0, stop - start), start)
        except OSError:
            return b""

    def close(self) -> None:
        os.close(self._handle)


class _Segments:
    """The program headers and notes of a core; raises ``UsageError`` where it is none."""

    def __init__(self, core: _Pieces, name: str) -> None:
        self.core, self.name = core, name
        self.held: dict[int, tuple[int, int]] = {}
        self.files: list[tuple[int, int, int, str]] = []
        head = core[:64]
        if not head:
            raise UsageError(f"{name} is empty; pass the file that gdb accepts")
        if len(head) < 64 or head[:4] != MAGIC:
            raise UsageError(f"{name} is no ELF file; pass the core file that gdb accepts")
        if head[4] != 2 or head[5] != 1:
            raise UsageError(f"{name} is a 32-bit or big-endian core; 64-bit x86 and ARM are read")
        kind, machine = struct.unpack_from("<HH", head, 16)
        if kind != CORE:
            raise UsageError(
                f"{name} is an ELF program or library, not a core; pass the core that it left"
            )
        if machine not in MACHINES:
            what = NAMES.get(machine, f"machine {machine}")
            raise UsageError(f"{name} is a core of {what}; x86-64 and ARM 64 are read")
        self.machine = MACHINES[machine]
        try:
            self._read(head)
        except (struct.error, IndexError, ValueError, OverflowError) as error:
            raise UsageError(f"{name} is damaged or cut off ({error}); copy it once more") from None

    def _read(self, head: bytes) -> None:
        at, size, count = self._table(head)
        loads, notes, cut = [], [], False
        rows = self.core[at : at + size * min(count, MOST_SEGMENTS)]
        if len(rows) < size * min(count, MOST_SEGMENTS):
            raise ValueError("its list of memory ends early")
        for row in struct.iter_unpack("<IIQQQQQQ", rows):
            kind, rights, offset, start, _, in_file, in_memory, _ = row
            if kind == NOTE:
                notes.append((offset, min(in_file, MOST_NOTE_BYTES)))
            elif kind == LOAD and in_memory:
                cut = cut or offset + in_file > len(self.core)
                left = max(0, min(in_file, len(self.core) - offset))
                loads.append((start, start + in_memory, rights, offset, left))
        told = _Notes(self.machine)
        for offset, length in notes:
            told.read(self.core[offset : offset + length])
        self.contents = told.contents(truncated=cut)
        self.mappings = list(self._named(loads, told.files))

    def _table(self, head: bytes) -> tuple[int, int, int]:
        at, sections = struct.unpack_from("<QQ", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        if count == MANY_SEGMENTS and sections:  # the real number stands in the first section
            count = struct.unpack("<I", self.core[sections + 44 : sections + 48])[0]
        if not at or size != 56:
            raise ValueError("it has no list of memory")
        return at, size, count

    def _named(
        self, loads: list[tuple[int, int, int, int, int]], files: list[tuple[int, int, int, str]]
    ) -> Iterator[Mapping]:
        files = sorted(files)
        loads = [*loads, *_left_out(loads, files)]
        n = 0
        stack_holds = self.contents.auxiliary.get(EXECFN, 0)
        for start, end, rights, offset, size in sorted(loads):
            while n < len(files) and files[n][1] <= start:
                n += 1
            path, there = "", 0
            if n < len(files) and files[n][0] <= start:
                path, there = files[n][3], files[n][2] + start - files[n][0]
            elif start <= stack_holds < end:
                path = "[stack]"
            letters = "".join(
                c if rights & bit else "-" for c, bit in zip("rwx", (4, 2, 1), strict=True)
            )
            self.held[start] = (offset, size)
            yield Mapping(start, end, letters + "p", there, path)


def _left_out(
    loads: list[tuple[int, int, int, int, int]], files: list[tuple[int, int, int, str]]
) -> Iterator[tuple[int, int, int, int, int]]:
    """Mapped files of which a core keeps nothing, not even an entry: gdb leaves out code."""
    starts = sorted(load[0] for load in loads)
    for start, end, _, _ in files:
        n = bisect.bisect_left(starts, start)
        if start < end and (n == len(starts) or starts[n] >= end):
            yield start, end, READ | EXECUTE, 0, 0


class _Notes:
    """Reads the notes, one by one; what is odd is skipped."""

    def __init__(self, machine: str) -> None:
        self.machine = machine
        self.registers: dict[int, dict[str, int]] = {}
        self.files: list[tuple[int, int, int, str]] = []
        self.auxiliary: dict[int, int] = {}
        self.siginfo = b""
        self.pid: int | None = None
        self.signal = 0
        self.program = self.arguments = ""

    def read(self, packed: bytes) -> None:
        at = 0
        while at + 12 <= len(packed):
            name, size, kind = struct.unpack_from("<III", packed, at)
            data = at + 12 + (name + 3 & ~3)
            self._note(kind, packed[data : data + size])
            at = data + (size + 3 & ~3)

    def _note(self, kind: int, data: bytes) -> None:
        match kind:
            case 1 if len(data) >= 112:
                self._thread(data)
            case 3 if len(data) >= 136:
                self.pid = struct.unpack_from("<i", data, 24)[0]
                self.program = _text(data[40:56])
                self.arguments = _text(data[56:136])
            case 0x53494749 if not self.siginfo:
                self.siginfo = data[:128]
            case 6:
                whole = data[: len(data) // 16 * 16]
                self.auxiliary = dict(struct.iter_unpack("<QQ", whole))
            case 0x46494C45:
                self._files(data)
            case _:
                return

    def _thread(self, data: bytes) -> None:
        names = REGISTERS[self.machine]
        if len(data) < 112 + 8 * len(names):
            return
        tid = struct.unpack_from("<i", data, 32)[0]
        if not self.registers:
            self.signal = struct.unpack_from("<h", data, 12)[0]
        values = struct.unpack_from(f"<{len(names)}Q", data, 112)
        self.registers.setdefault(tid, dict(zip(names, values, strict=True)))

    def _files(self, data: bytes) -> None:
        count, page = struct.unpack_from("<QQ", data)
        count = min(count, len(data) // 24)
        names = data[16 + 24 * count :].split(b"\0")
        for n in range(min(count, len(names))):
            start, end, offset = struct.unpack_from("<QQQ", data, 16 + 24 * n)
            self.files.append((start, end, offset * page, os.fsdecode(names[n])))

    def contents(self, *, truncated: bool) -> Contents:
        return Contents(
            machine=self.machine,
            pid=self.pid,
            program=self.program,
            arguments=self.arguments,
            siginfo=self.siginfo,
            signal=self.signal,
            registers=self.registers,
            auxiliary=self.auxiliary,
            truncated=truncated,
        )


def _text(packed: bytes) -> str:
    return packed.partition(b"\0")[0].decode("utf-8", "replace").strip()
