"""A library uses instructions that the CPU does not have, without asking.

What happens: it was compiled for newer CPUs (``-march=native``, ``-mavx2``). The first such instruction ends the process with SIGILL, often while it is
imported. A virtual machine may hide what its host can do. It is never SIGSEGV.

How to tell: every way through a function that runs when the library is loaded (or imported) leads over such an
instruction: an error. A library of your own that holds such instructions and asks nowhere what the CPU has: a warning. Code
that asks first has a way around, and nothing is said. A linker may also have written the level that the file needs into it; then the loader refuses it.

Fix: build without -march=native (``-march=x86-64-v2`` or ``-v3`` for all that must run it), take a build for older CPUs, or
let the virtual machine show its host's CPU (``-cpu host``). Libraries that ask the CPU themselves may keep their fast code.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from sigwhy.machine.cpus import CPUS, LEVELS
from sigwhy.machine.elf import EXECUTABLE, X86_64
from sigwhy.machine.unavoidable import ASKS, Search
from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.machine.elf import Elf
    from sigwhy.machine.unavoidable import Lacking
    from sigwhy.model.problem import Problem
    from sigwhy.subjects.shared_object import SharedObject

CHECK = Check(
    id="so-instruction-set",
    title="it uses instructions that the CPU does not have",
    fix="build it without -march=native, or for the oldest CPU that must run it",
)
PROPERTIES, ISA_NEEDED = 5, 0xC0008002
# Names by which compilers and programs ask what the CPU has.
QUESTIONS = frozenset(
    {
        b"__cpu_model",
        b"__cpu_indicator_init",
        b"__cpu_features2",
        b"getauxval",
        b"__get_cpuid_count",
    }
)
SWEPT_BYTES = 4 << 20
ENOUGH = 3  # bytes that only look like such an instruction may stand once in what is no code


def look(library: SharedObject) -> Iterator[Problem]:
    """Yield the first reason."""
    elf = library.elf
    if not elf or elf.machine != X86_64 or not library.is_readable or not library.cpu:
        return
    if level := _level(elf, library.cpu):
        says = f"it says itself that it needs {level}, and {library.cpu_name} has less: the loader refuses it"
        yield CHECK.problem(says, place=level)
        return
    search = Search(elf, library.cpu)
    found = _when_loaded(library, elf, search)
    if found:
        says, first = found
        yield CHECK.problem(
            f"{says} runs `{first.text}`, which needs {first.feature}, and {library.cpu_name} does not have it: SIGILL",
            place=f"{first.address:#x}",
        )
    elif not library.in_environment and not _asks(elf):
        yield from _anywhere(library, elf, search)


def _when_loaded(library: SharedObject, elf: Elf, search: Search) -> tuple[str, Lacking] | None:
    if found := search.first(elf.initialisers):
        return "what it does when it is loaded", found
    name = library.module["name"] if library.module else ""
    entry = elf.exported(f"PyInit_{name}".encode()) if name else None
    if entry and (found := search.first([entry.address])):
        return "importing it", found
    return None


def _anywhere(library: SharedObject, elf: Elf, search: Search) -> Iterator[Problem]:
    """Of a small library that never asks: what stands anywhere in its code."""
    found: dict[str, list[Lacking]] = {}
    for one in elf.loaded():
        if one.flags & EXECUTABLE and one.in_file <= SWEPT_BYTES:
            for lacking in search.sweep(one.address, one.in_file):
                found.setdefault(lacking.feature, []).append(lacking)
    for feature, several in found.items():
        if len(several) >= ENOUGH:
            first = several[0]
            yield CHECK.problem(
                f"it holds {len(several)} instructions such as `{first.text}` that need {feature}, asks nowhere whether"
                f" the CPU has it, and {library.cpu_name} does not: SIGILL when one is reached",
                severity="warning",
                confidence="likely",
                place=f"{first.address:#x}",
            )


def _asks(elf: Elf) -> bool:
    if any(symbol.name in QUESTIONS for symbol in elf.wanted):
        return True
    return any(
        any(sign in elf.window.read(one.offset, min(one.in_file, SWEPT_BYTES)) for sign in ASKS)
        for one in elf.loaded()
        if one.flags & EXECUTABLE
    )


def _level(elf: Elf, has: frozenset[str]) -> str | None:
    """The level that a linker wrote into the file, where the CPU has less."""
    for kind, data in elf.notes:
        at = 0
        while kind == PROPERTIES and at + 8 <= len(data):
            what, size = struct.unpack_from("<II", data, at)
            if what == ISA_NEEDED and at + 12 <= len(data):
                (bits,) = struct.unpack_from("<I", data, at + 8)
                lacking = [n for b, n in LEVELS.items() if bits & b and not _is_in(n, has)]
                if lacking:
                    return lacking[-1]
            at += 8 + -(-size // 8) * 8
    return None


def _is_in(level: str, has: frozenset[str]) -> bool:
    return set(CPUS[level].split()) <= has
