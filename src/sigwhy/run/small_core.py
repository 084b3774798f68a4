"""Writes a small ELF core of a process that is held: all mappings by name, few pages by content.

gdb, drgn and pystack open it. Kept are the registers of the fault, the upper part of every stack,
what registers point to, the lists of the loader, the heads of all libraries, the data of the
interpreter, and every page that was read while the process was looked at. Code and constants are
not kept: they stand in the mapped files.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.machine.memory import PAGE, Memory, UnreadableError
from sigwhy.run import proc, python_pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Mapping as Table
    from pathlib import Path

    from sigwhy.model.incident import Mapping

NEVER = frozenset({"[vsyscall]", "[vvar]", "[vvar_vclock]"})
STATUS, FLOATING, PROGRAM, AUXILIARY = 1, 2, 3, 6
SIGINFO, FILES = 0x53494749, 0x46494C45
CRASHED_UP, CRASHED_DOWN, OTHER_UP, OTHER_DOWN = 256 << 10, 64 << 10, 32 << 10, 256
THREAD_BLOCK_BELOW, THREAD_BLOCK_ABOVE = 64, 0x1800
POINTED_BELOW, POINTED_ABOVE = 128, 256
NO_POINTERS = frozenset(
    {"orig_rax", "cs", "eflags", "ss", "ds", "es", "fs", "gs", "fs_base", "gs_base"}
)
MOST_LIBRARIES = 5000
PHDR, PHENT, PHNUM = 3, 4, 5
DYNAMIC, ITSELF, DEBUG = 2, 6, 21


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What goes into a core: a process, its threads (the crashed one first), and its memory."""

    pid: int
    tid: int
    siginfo: bytes
    registers: Table[int, bytes]  # general, as the kernel lays them out
    floating: Table[int, bytes]
    named: Table[int, Table[str, int]]  # the general ones by name
    memory: Memory


def write(path: Path, kept: Kept) -> int:
    """Write the core; returns its size in bytes."""
    pages = _pages(kept)
    notes = b"".join(_notes(kept))
    parts = list(_parts(kept.memory.mappings, pages))
    header = 64 + 56 * (len(parts) + 1)
    offset = -(-(header + len(notes)) // PAGE) * PAGE
    table = [struct.pack("<IIQQQQQQ", 4, 0, header, 0, 0, len(notes), 0, 4)]
    for start, end, rights, is_kept in parts:
        size = end - start if is_kept else 0
        table.append(struct.pack("<IIQQQQQQ", 1, rights, offset, start, 0, size, end - start, PAGE))
        offset += size
    with path.open("wb") as out:
        out.write(
            struct.pack(
                "<4s5B7xHHIQQQIHHHHHH",
                b"\x7fELF",
                2,
                1,
                1,
                0,
                0,
                4,
                62,
                1,
                0,
                64,
                0,
                0,
                64,
                56,
                len(table),
                0,
                0,
                0,
            )
        )
        out.write(b"".join(table) + notes)
        out.seek(-(-out.tell() // PAGE) * PAGE)
        for start, end, _, is_kept in parts:
            if is_kept:
                out.writelines(_whole(kept.memory, at) for at in range(start, end, PAGE))
    return offset


def _whole(memory: Memory, address: int) -> bytes:
    return memory.page(address).ljust(PAGE, b"\0")


# ---- which pages ----------------------------------------------------------------------------


def _pages(kept: Kept) -> set[int]:
    memory = kept.memory
    wanted = set(memory.touched)
    for start, end in _spans(kept):
        wanted.update(range(start & -PAGE, end, PAGE))
    wanted |= python_pages.of_interpreter(memory, kept.named.values())
    _loader(kept.pid, memory)
    wanted |= memory.touched
    return {page for page in wanted if _is_worth_keeping(memory, page)}


def _is_worth_keeping(memory: Memory, page: int) -> bool:
    mapping = memory.mapping(page)
    return bool(mapping and mapping.rights[0] == "r" and mapping.path not in NEVER)


def _spans(kept: Kept) -> Iterator[tuple[int, int]]:
    memory = kept.memory
    for tid, named in kept.named.items():
        yield from _of_thread(memory, named, crashed=tid == kept.tid)
    for n, mapping in enumerate(memory.mappings):
        if mapping.path == "[vdso]":
            yield mapping.start, mapping.end
        elif mapping.offset == 0 and mapping.path.startswith("/"):
            yield mapping.start, mapping.start + 1
        if "w" in mapping.rights and _is_interpreter(mapping):
            yield mapping.start, mapping.end
            yield from _zeroed_data_behind(memory.mappings, n)


def _of_thread(
    memory: Memory, named: Table[str, int], *, crashed: bool
) -> Iterator[tuple[int, int]]:
    yield from _of_stack(memory, named["rsp"], crashed=crashed)
    if memory.mapping(named["fs_base"]):
        block = named["fs_base"]
        yield block - THREAD_BLOCK_BELOW, block + THREAD_BLOCK_ABOVE
    for register, value in named.items():
        if register not in NO_POINTERS and (crashed or register == "rip"):
            yield from _around(memory, value)


def _of_stack(memory: Memory, pointer: int, *, crashed: bool) -> Iterator[tuple[int, int]]:
    mapping = memory.mapping(pointer) or memory.neighbours(pointer)[1]
    if mapping is None or "w" not in mapping.rights:
        return
    up, down = (CRASHED_UP, CRASHED_DOWN) if crashed else (OTHER_UP, OTHER_DOWN)
    base = max(pointer, mapping.start)
    yield max(mapping.start, base - down), min(mapping.end, base + up)
    if crashed and mapping.end - base > up:  # a deep recursion: where it began
        yield max(base + up, mapping.end - up), mapping.end


def _around(memory: Memory, value: int) -> Iterator[tuple[int, int]]:
    if mapping := memory.mapping(value):
        yield max(mapping.start, value - POINTED_BELOW), min(mapping.end, value + POINTED_ABOVE)


def _is_interpreter(mapping: Mapping) -> bool:
    name = mapping.path.rpartition("/")[2]
    return name.startswith(("libpython3", "libpython2", "python"))


def _zeroed_data_behind(mappings: list[Mapping], n: int) -> Iterator[tuple[int, int]]:
    behind = mappings[n + 1] if n + 1 < len(mappings) else None
    if behind and behind.start == mappings[n].end and not behind.path:
        yield behind.start, behind.end


def _loader(pid: int, memory: Memory) -> None:
    """Touch the list of loaded libraries; debuggers find their files by it."""
    auxiliary = dict(_pairs(proc.bytes_of(f"/proc/{pid}/auxv")))
    try:
        table, count = auxiliary[PHDR], min(auxiliary[PHNUM], 64)
        headers = [
            struct.unpack("<IIQQQQQQ", memory.read(table + 56 * n, 56)) for n in range(count)
        ]
        base = table - next(h[3] for h in headers if h[0] == ITSELF)
        dynamic = next(h for h in headers if h[0] == DYNAMIC)
        rows = _pairs(memory.read(base + dynamic[3], min(dynamic[6], 1 << 16)))
        entry = memory.word(next(value for key, value in rows if key == DEBUG) + 8)
        for _ in range(MOST_LIBRARIES):
            if not entry:
                return
            _, name, section, following, _ = struct.unpack("<5Q", memory.read(entry, 40))
            if name:
                memory.text(name)
            if section:
                memory.read(section, 0x220)
            entry = following
    except (UnreadableError, KeyError, StopIteration, struct.error):
        return


def _pairs(packed: bytes) -> Iterator[tuple[int, int]]:
    return struct.iter_unpack("<QQ", packed[: len(packed) // 16 * 16])


# ---- notes and parts ------------------------------------------------------------------------


def _note(kind: int, data: bytes) -> bytes:
    return (
        struct.pack("<III", 5, len(data), kind) + b"CORE\0\0\0\0" + data + b"\0" * (-len(data) % 4)
    )


def _notes(kept: Kept) -> Iterator[bytes]:
    number = struct.unpack_from("<i", kept.siginfo)[0] if kept.siginfo else 0
    fields = proc.stat(kept.pid)
    family = tuple(int(f) for f in fields[1:4]) if len(fields) > 4 else (0, 0, 0)
    order = [kept.tid, *(tid for tid in kept.registers if tid != kept.tid)]
    for n, tid in enumerate(order):
        # Each thread has the signal, as the kernel writes it: gdb believes the last one.
        yield _note(
            STATUS,
            struct.pack("<iiihhQQiiii", number, 0, 0, number, 0, 0, 0, tid, *family)
            + b"\0" * 64
            + kept.registers[tid][:216]
            + struct.pack("<ii", 1, 0),
        )
        if n == 0:
            yield from _notes_of_the_process(kept, family)
        if floating := kept.floating.get(tid):
            yield _note(FLOATING, floating)


def _notes_of_the_process(kept: Kept, family: tuple[int, ...]) -> Iterator[bytes]:
    short = proc.bytes_of(f"/proc/{kept.pid}/comm").rstrip(b"\n")[:15]
    line = b" ".join(os.fsencode(word) for word in proc.command(kept.pid))[:79]
    yield _note(
        PROGRAM,
        struct.pack("<4B4xQII4i", 0, ord("R"), 0, 0, 0, 0, 0, kept.pid, *family)
        + short.ljust(16, b"\0")
        + line.ljust(80, b"\0"),
    )
    if kept.siginfo:
        yield _note(SIGINFO, kept.siginfo)
    yield _note(AUXILIARY, proc.bytes_of(f"/proc/{kept.pid}/auxv"))
    named = [m for m in kept.memory.mappings if m.path.startswith("/")]
    rows = b"".join(struct.pack("<QQQ", m.start, m.end, m.offset // PAGE) for m in named)
    names = b"".join(os.fsencode(m.path) + b"\0" for m in named)
    yield _note(FILES, struct.pack("<QQ", len(named), PAGE) + rows + names)


def _parts(mappings: Iterable[Mapping], pages: set[int]) -> Iterator[tuple[int, int, int, bool]]:
    """Every mapping, cut where pages are kept: start, end, rights, whether it is kept."""
    ordered = sorted(pages)
    n = 0
    for mapping in mappings:
        if mapping.path in NEVER:
            continue
        rights = sum(bit for c, bit in zip(mapping.rights, (4, 2, 1), strict=False) if c != "-")
        at = mapping.start
        while n < len(ordered) and ordered[n] < mapping.start:
            n += 1
        while n < len(ordered) and ordered[n] < mapping.end:
            first = last = ordered[n]
            while n < len(ordered) and ordered[n] == last and last < mapping.end:
                last += PAGE
                n += 1
            if first > at:
                yield at, first, rights, False
            yield first, last, rights, True
            at = last
        if at < mapping.end:
            yield at, mapping.end, rights, False
