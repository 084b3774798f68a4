"""The function at a place in a library: for kernel logs, which name only the file and an offset.

    libk.so + 0x139 of its executable mapping  ->  copy_rows(float*, int)

A name is given only when the file on this machine is the one of the log: the bytes that the kernel
printed stand at that very place, or, where none were printed, the mapping has the same size.
"""

from __future__ import annotations

import os
import site
import struct
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from sigwhy.machine.demangle import demangled
from sigwhy.model.fact import Instruction, Stack

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import Section
    from elftools.elf.segments import Segment

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Fact, Frame

    Place = tuple[str, int]

# Where the loader looks when its cache does not know, and where Python packages lie.
SYSTEM = tuple(
    Path(root) / place
    for root in ("/", "/usr", "/usr/local")
    for place in ("lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "bin")
)
MOST_FILES = 200_000
MOST_PLACES = 50  # a log with more is no log of one crash, and a big library takes half a second
MOST_SEGMENTS = 64
MOST_SECTIONS = 4096
MOST_SYMBOL_BYTES = 256 << 20
LONGEST_NAME = 4096
PAGE = 4096
FUNCTIONS = frozenset({2, 10})  # STT_FUNC, STT_GNU_IFUNC
CODE_LINES = 3
ENOUGH_CODE = 6


def named(case: Case, folders: Iterable[Path] | None = None) -> Case:
    """The case, with functions for frames that name only a place in a file of this machine.

    A kernel log says the same thing hundreds of times, so the disk is searched once for all names.
    """
    wanted = {frame.library or "" for stack in case.all(Stack) for frame in _bare(stack)}
    if not wanted or sys.platform != "linux":
        return case
    files = found(wanted, tuple(folders) if folders is not None else tuple(_folders()))
    code = _code(case)

    @cache
    def function(frame: Frame, below: bytes) -> str | None:
        if function.cache_info().currsize >= MOST_PLACES:
            return None
        names = (function_at(path, frame, code=below) for path in files[frame.library or ""])
        return next((name for name in names if name), None)

    return replace(case, facts=tuple(_with_names(fact, code, function) for fact in case.facts))


def _bare(stack: Stack) -> list[Frame]:
    return [frame for frame in stack.frames if _is_only_a_place(frame)]


def _is_only_a_place(frame: Frame) -> bool:
    known = frame.library and frame.offset is not None
    return bool(known and not frame.function and frame.counts_from != "load")


def _with_names(
    fact: Fact, code: Mapping[Place, bytes], function: Callable[[Frame, bytes], str | None]
) -> Fact:
    if not isinstance(fact, Stack) or not _bare(fact):
        return fact
    places = ((fact.span.evidence, fact.span.last + n) for n in range(1, CODE_LINES + 1))
    below = next((code[place] for place in places if place in code), b"")
    frames = tuple(
        replace(frame, function=function(frame, below)) if _is_only_a_place(frame) else frame
        for frame in fact.frames
    )
    return replace(fact, frames=frames)


def _code(case: Case) -> dict[Place, bytes]:
    """The bytes of instructions that the kernel printed, by where they stand."""
    return {(it.span.evidence, it.span.first): it.code for it in case.all(Instruction)}


def _folders() -> Iterator[Path]:
    yield Path(sys.executable).resolve().parent
    yield from SYSTEM
    yield Path(sys.base_prefix) / "lib"
    yield from (Path(place) for place in (*site.getsitepackages(), *sys.path) if place)


def found(names: Iterable[str], folders: Iterable[Path]) -> dict[str, list[Path]]:
    """The files of these names in these folders; packages are searched to the bottom."""
    files: dict[str, list[Path]] = {name: [] for name in names}
    wanted = {name for name in files if "/" not in name} - {"", ".", ".."}
    left = MOST_FILES
    seen: set[Path] = set()
    for folder in dict.fromkeys(folders):
        for here, there in _below(folder, wanted):
            left -= len(there)
            for name in sorted(wanted.intersection(there)):
                path = Path(here, name)
                if path.is_file() and path.resolve() not in seen:
                    seen.add(path.resolve())
                    files[name].append(path)
            if left <= 0:
                return files
    return files


def _below(folder: Path, names: Iterable[str]) -> Iterator[tuple[str, Collection[str]]]:
    """Each folder with the names that it holds, or may hold."""
    if folder.name in {"site-packages", "dist-packages"}:
        yield from ((here, files) for here, _, files in os.walk(folder))
    else:
        yield str(folder), tuple(names)


def function_at(path: Path, frame: Frame, *, code: bytes = b"") -> str | None:
    """The function in which a frame stands, if this file is the one that the frame speaks of."""
    try:
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile
    except ImportError:
        return None
    try:
        with path.open("rb") as stream:
            return _named_by(ELFFile(stream), stream, frame, code)
    except (ELFError, OSError, struct.error, ValueError, OverflowError, KeyError, AttributeError):
        return None  # damaged, hostile, or gone in the meantime


def _named_by(elf: ELFFile, stream: BinaryIO, frame: Frame, code: bytes) -> str | None:
    for segment in _executable(elf):
        offset = _in_the_file(segment, frame)
        if offset is None or not _is_the_same(segment, stream, frame, offset, code):
            continue
        address = offset - segment["p_offset"] + segment["p_vaddr"]
        return _symbol(elf, stream, address)
    return None


def _executable(elf: ELFFile) -> Iterator[Segment]:
    for n in range(min(elf.num_segments(), MOST_SEGMENTS)):
        segment = elf.get_segment(n)
        if segment["p_type"] == "PT_LOAD" and segment["p_flags"] & 1:
            yield segment


def _in_the_file(segment: Segment, frame: Frame) -> int | None:
    """The offset in the file; a mapping begins at the page that holds the segment's first byte."""
    start = segment["p_offset"] // PAGE * PAGE
    offset = (frame.offset or 0) + (start if frame.counts_from == "mapping" else 0)
    return offset if start <= offset < segment["p_offset"] + segment["p_filesz"] else None


def _is_the_same(
    segment: Segment, stream: BinaryIO, frame: Frame, offset: int, code: bytes
) -> bool:
    if len(code) >= ENOUGH_CODE:
        stream.seek(offset)
        return stream.read(len(code)) == code
    first = segment["p_offset"] // PAGE * PAGE
    end = -(-(segment["p_offset"] + segment["p_filesz"]) // PAGE) * PAGE
    return frame.mapped_bytes == end - first


def _symbol(elf: ELFFile, stream: BinaryIO, address: int) -> str | None:
    """The smallest function that holds this address, from the table that knows most."""
    for kind in ("SHT_SYMTAB", "SHT_DYNSYM"):
        for n in range(min(elf.num_sections(), MOST_SECTIONS)):
            table = elf.get_section(n)
            if table["sh_type"] == kind and (name := _in_table(elf, stream, table, address)):
                return demangled(name)
    return None


def _in_table(elf: ELFFile, stream: BinaryIO, table: Section, address: int) -> str | None:
    big = ">" if not elf.little_endian else "<"
    entry = struct.Struct(big + ("IBBHQQ" if elf.elfclass == 64 else "IIIBBH"))
    stream.seek(table["sh_offset"])
    rows = stream.read(min(table["sh_size"], MOST_SYMBOL_BYTES))
    best: tuple[int, int] | None = None
    for row in entry.iter_unpack(rows[: len(rows) // entry.size * entry.size]):
        if elf.elfclass == 64:
            name, info, _, _, value, size = row
        else:
            name, value, size, info, _, _ = row
        if (
            value <= address < value + size
            and info & 15 in FUNCTIONS
            and (not best or size < best[0])
        ):
            best = size, name
    if best is None:
        return None
    strings = elf.get_section(table["sh_link"])
    stream.seek(strings["sh_offset"] + best[1])
    return stream.read(LONGEST_NAME).partition(b"\0")[0].decode(errors="replace") or None
