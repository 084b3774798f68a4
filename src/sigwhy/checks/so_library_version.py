"""A shared object was built on a newer system than the one that it will run on.

What happens: the functions of glibc, libstdc++ and their like carry the version in which they appeared. The loader refuses a file that wants a version which
the library here does not have: "version `GLIBC_2.38' not found (required by …)".

How to tell: the versions that the file wants, against those that the library has which would be loaded; with
``--target-os debian11`` against those that the release has. On Alpine there is no glibc at all.

Fix: build on the oldest system that must run it (a manylinux image), or take a newer system. A newer libstdc++.so.6
may be put beside the file or into a conda environment; a newer libc.so.6 never.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.machine.elf import Elf, Version
    from sigwhy.machine.loader import Library
    from sigwhy.machine.releases import Release
    from sigwhy.model.problem import Problem
    from sigwhy.subjects.shared_object import SharedObject

CHECK = Check(
    id="so-library-version",
    title="it wants newer system libraries than there are",
    fix="build it on an older system (a manylinux image), or take a newer one",
)
LIBC = "libc.so.6"


def look(library: SharedObject) -> Iterator[Problem]:
    """Yield one problem for each library that is too old."""
    if not library.is_readable or not library.elf:
        return
    if library.release and library.release.newest is None:
        yield from _musl(library.release, library.elf)
        return
    found = dict(library.links)
    for name in dict.fromkeys(version.library for version in library.elf.needed_versions):
        wanted = [one for one in library.elf.needed_versions if one.library == name]
        there = found.get(name) or _by_soname(library, name)
        lacking = _lacking(wanted, there, library)
        if lacking:
            newest = max(lacking, key=lambda word: (len(word), word))
            has = f"{library.release.name} has" if library.release else f"{there and there.path} is"
            yield CHECK.problem(
                f"it wants {newest} of {name}, and {has} older"
                + (f"; {len(lacking)} versions are not there" if len(lacking) > 1 else ""),
                place=newest,
            )


def _lacking(wanted: list[Version], there: Library | None, library: SharedObject) -> list[str]:
    if library.release:
        if there and not library.is_of_system(there):
            return []
        return [one.name for one in wanted if library.release.lacks(one.name)]
    if not there or not there.elf.versions:
        return []
    return [one.name for one in wanted if one.name not in there.elf.versions]


def _by_soname(library: SharedObject, name: str) -> Library | None:
    """A library that another one brings in."""
    loaded = library.loaded.libraries
    return next((one for one in loaded if name in {one.elf.soname, one.path.name}), None)


def _musl(release: Release, elf: Elf) -> Iterator[Problem]:
    if LIBC in elf.needed:
        yield CHECK.problem(
            f"it is linked with glibc (libc.so.6), and {release.name} has musl instead",
            fix="take a musllinux wheel, build it there, or use an image with glibc such as python:3.12-slim",
            place=LIBC,
        )
