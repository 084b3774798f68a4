"""A shared object is torn, is something else, or was built for another machine.

What happens: the loader refuses the file ("file too short", "invalid ELF header", "wrong ELF class"), and the import fails with ImportError. A
file that was cut after it had been mapped kills the process with SIGBUS instead.

How to tell: the header names another machine, the program headers name bytes behind the end of the file, or
the file begins as a text, an archive or the pointer of Git LFS does.

Fix: fetch, build or install the file again (``pip install --force-reinstall --no-deps PACKAGE``), for this machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.machine.elf import KINDS, MACHINES, SHARED
from sigwhy.machine.regular_file import beginning
from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.machine.elf import Elf
    from sigwhy.model.problem import Problem
    from sigwhy.subjects.shared_object import SharedObject

CHECK = Check(
    id="so-damaged",
    title="the loader will refuse the file",
    fix="fetch or build the file again, for this machine",
)
# How a file begins that is no library, and what it is then.
OTHERS = (
    (b"version https://git-lfs", "it is a Git LFS pointer", "type git lfs pull"),
    (b"<!DOCTYPE", "it is an HTML page", "download it again"),
    (b"<html", "it is an HTML page", "download it again"),
    (b"PK\x03\x04", "it is a zip archive", "unpack it"),
    (b"\x1f\x8b", "it is packed with gzip", "unpack it with gunzip"),
    (b"!<arch>", "it is a static library (.a)", "link it into a shared object"),
    (b"\xcf\xfa\xed\xfe", "it is a library of macOS", "take the one for Linux"),
    (b"\xca\xfe\xba\xbe", "it is a library of macOS", "take the one for Linux"),
    (b"MZ", "it is a library of Windows", "take the one for Linux"),
    (b"BC\xc0\xde", "it is LLVM bitcode", "compile it to a shared object"),
)
# Scripts for the linker may be called .so, and nobody loads them.
SCRIPTS = (b"/* GNU ld script", b"GROUP", b"INPUT", b"OUTPUT_FORMAT")
HEAD = 64


def look(library: SharedObject) -> Iterator[Problem]:
    """Yield why the loader refuses the file."""
    if library.elf is None:
        yield from _other(library)
        return
    says = _refused(library.elf, library.machine)
    if says:
        yield CHECK.problem(says)
    elif library.elf.kind == SHARED:
        yield from _cut(library.elf)


def _other(library: SharedObject) -> Iterator[Problem]:
    head = beginning(library.path, HEAD)
    if head.lstrip().startswith(SCRIPTS):
        return
    if not head:
        yield CHECK.problem("it is an empty file: the loader says 'file too short'")
        return
    for begins, says, fix in OTHERS:
        if head.startswith(begins):
            yield CHECK.problem(f"{says}, not a shared object: 'invalid ELF header'", fix=fix)
            return
    yield CHECK.problem(f"the loader refuses it: {library.foreign}")


def _refused(elf: Elf, machine: int) -> str | None:
    there = MACHINES.get(elf.machine, f"machine {elf.machine}")
    here = MACHINES.get(machine, f"machine {machine}")
    if elf.bits == 32:
        return f"it is a 32-bit library for {there}; a Python of {here} cannot load it"
    if elf.machine != machine:
        return f"it was built for {there}, and this machine is {here}"
    if elf.kind != SHARED:
        kind = KINDS.get(elf.kind, f"of an unknown type ({elf.kind})")
        return None if elf.kind in {2, 4} else f"it is {kind}, not a shared object"
    if elf.missing_bytes:
        return (
            f"it has {elf.window.size:,} bytes and {elf.missing_bytes:,} more are missing: 'file too short', or SIGBUS"
            " when what is missing is touched"
        )
    if not elf.segments or not elf.dynamic:
        return "it has no dynamic table, so that the loader can do nothing with it"
    return None


def _cut(elf: Elf) -> Iterator[Problem]:
    """What is behind the loaded part is for debuggers; a file that lost it was cut all the same."""
    if elf.sections_end > elf.window.size:
        short = elf.sections_end - elf.window.size
        yield CHECK.problem(
            f"the last {short:,} bytes are missing; it still loads, for they hold only what debuggers read",
            severity="note",
        )
