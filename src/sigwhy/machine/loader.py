"""Where the loader of Linux finds a library that is asked for by name: ``libgomp.so.1``.

The order is that of ld.so: run paths, LD_LIBRARY_PATH, the cache of ldconfig, the folders of the system. A file
for another machine is passed over, as ld.so does.
"""

from __future__ import annotations

import contextlib
import struct
from collections import deque
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.machine.elf import SHARED, Elf, NotElfError, opened
from sigwhy.machine.regular_file import beginning

if TYPE_CHECKING:
    from collections.abc import Iterator

SYSTEM = (
    "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
    "/lib64", "/usr/lib64", "/lib", "/usr/lib",
)  # fmt: skip
CACHE = "/etc/ld.so.cache"
CACHE_MAGIC = b"glibc-ld.so.cache1.1"
CACHE_HEAD, CACHE_ROW = 48, struct.Struct("<iIIIQ")
LARGEST_CACHE = 32 << 20
MOST_LIBRARIES = 500
# Words in run paths that stand for something else.
ORIGIN = ("$ORIGIN", "${ORIGIN}")


@dataclass(frozen=True, slots=True)
class Library:
    """A shared object that would be loaded, and the one that asks for it."""

    path: Path
    elf: Elf
    by: Library | None = None

    def rpaths(self) -> Iterator[tuple[str, Path]]:
        """The old kind of run path also holds for what is loaded by what is loaded."""
        one: Library | None = self
        for _ in range(MOST_LIBRARIES):
            if one is None:
                return
            yield from ((folder, one.path) for folder in one.elf.rpath)
            one = one.by


@dataclass(frozen=True)
class Loaded:
    """Everything that is loaded with a library, in the order of the loader, and what is not found."""

    libraries: tuple[Library, ...]
    missing: tuple[tuple[str, Library], ...] = ()


@dataclass(frozen=True)
class Loader:
    """A loader on a machine that is seen below ``root``."""

    root: Path = Path("/")
    library_path: tuple[str, ...] = ()
    _kept: dict[tuple[str, int], Path | None] = field(default_factory=dict, compare=False)

    def loaded(self, path: Path, elf: Elf) -> Loaded:
        """The library, and what it needs, breadth first."""
        first = Library(path, elf)
        names = {elf.soname, path.name}
        found, missing = [first], []
        waiting = deque([first])
        while waiting and len(found) < MOST_LIBRARIES:
            one = waiting.popleft()
            for name in one.elf.needed:
                if name in names:
                    continue
                names.add(name)
                if library := self.find(name, one):
                    names.add(library.elf.soname)
                    found.append(library)
                    waiting.append(library)
                else:
                    missing.append((name, one))
        return Loaded(tuple(found), tuple(missing))

    def find(self, name: str, by: Library) -> Library | None:
        """The library of this name, as the one that asks for it gets it."""
        if "/" in name:
            return self._fitting(Path(name), by)
        folders = [expanded(folder, origin) for folder, origin in by.rpaths()]
        folders += [Path(folder) for folder in self.library_path if folder]
        folders += [expanded(folder, by.path) for folder in by.elf.runpath]
        for folder in dict.fromkeys(folders):
            if library := self._fitting(folder / name, by):
                return library
        path = self.of_system(name, by.elf.machine)
        return self._fitting(path, by) if path else None

    def of_system(self, name: str, machine: int) -> Path | None:
        """Where the system itself has a library."""
        if (name, machine) not in self._kept:
            places = [*_cached(str(self.root), name), *(Path(folder, name) for folder in SYSTEM)]
            within = (self.root / place.relative_to("/") for place in places)
            self._kept[name, machine] = next((p for p in within if _fits(p, machine)), None)
        return self._kept[name, machine]

    def _fitting(self, path: Path, by: Library) -> Library | None:
        return Library(path, at(path), by) if _fits(path, by.elf.machine) else None


def expanded(folder: str, path: Path) -> Path:
    """A folder of a run path, for the library at a path."""
    for word in ORIGIN:
        folder = folder.replace(word, str(path.parent.resolve()))
    return Path(folder)


@lru_cache(maxsize=256)
def at(path: Path) -> Elf:
    """The shared object of a path. Raises ``NotElfError`` and ``OSError``."""
    return opened(path)


def _fits(path: Path, machine: int) -> bool:
    with contextlib.suppress(OSError, ValueError, NotElfError):
        if path.is_file():
            elf = at(path)
            return elf.machine == machine and elf.kind == SHARED
    return False


def _cached(root: str, name: str) -> list[Path]:
    return _cache(root).get(name, [])


@lru_cache(maxsize=4)
def _cache(root: str) -> dict[str, list[Path]]:
    """What ldconfig has written down: where each library is."""
    data = beginning(Path(root, CACHE.lstrip("/")), LARGEST_CACHE)
    start = data.find(CACHE_MAGIC)  # an older cache may stand before it
    if start < 0 or len(data) < start + CACHE_HEAD:
        return {}
    data = data[start:]
    (count,) = struct.unpack_from("<I", data, len(CACHE_MAGIC))
    end = min(CACHE_HEAD + count * CACHE_ROW.size, len(data) // CACHE_ROW.size * CACHE_ROW.size)
    rows = data[CACHE_HEAD : CACHE_HEAD + (end - CACHE_HEAD) // CACHE_ROW.size * CACHE_ROW.size]
    found: dict[str, list[Path]] = {}
    for _, name, place, _, _ in CACHE_ROW.iter_unpack(rows):
        path = Path(_word(data, place))
        if path.is_absolute():
            found.setdefault(_word(data, name), []).append(path)
    return found


def _word(data: bytes, at: int) -> str:
    end = data.find(b"\0", at, at + 4096)
    return data[at:end].decode("utf-8", "replace") if end >= 0 else ""
