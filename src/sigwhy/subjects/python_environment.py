"""A Python with its packages: a virtual environment, a conda environment, an interpreter of the system.

Nothing of it is run or imported: its folders tell enough.
"""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.machine.elf import SHARED, NotElfError
from sigwhy.machine.loader import Library, at
from sigwhy.machine.regular_file import beginning
from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sigwhy.machine.elf import Elf

# lib/python3.11/site-packages, lib/python3.13t/site-packages
VERSIONED = re.compile(r"/(?:python|pypy)(?P<major>3)\.(?P<minor>\d{1,2})(?P<threads>t?)/")
INFO = re.compile(r"^(?P<name>[A-Za-z0-9][\w.]{0,100})-(?P<version>[\w.!+]{1,60})\.dist-info$")
OBJECT = re.compile(r"\.so(?:\.[\w.-]{1,40})?$")
# A row of RECORD: path, hash, size; a path with a comma is quoted.
RECORDED = re.compile(
    rb'^"?([^"\r\n,]{1,1000}\.so[\w.-]{0,40})"?,[^,\r\n]{0,200},(\d{1,15})\r?$', re.MULTILINE
)
SITES = ("lib/python3*/site-packages", "lib64/python3*/site-packages", "Lib/site-packages")
MOST_OBJECTS, MOST_FOLDERS, MOST_DISTRIBUTIONS = 20_000, 200_000, 5000
LARGEST_RECORD = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """Something that was installed."""

    name: str
    version: str
    info: Path

    @property
    def number(self) -> tuple[int, ...]:
        """The version as numbers that can be compared: of ``2.16.0rc1`` the first two."""
        parts = []
        for word in self.version.split("+")[0].split("."):
            if not word.isdigit() or len(word) > 9:
                break
            parts.append(int(word))
        return tuple(parts)

    @property
    def objects(self) -> Mapping[str, int]:
        """The shared objects that were installed with it, and how many bytes each had."""
        record = beginning(self.info / "RECORD", LARGEST_RECORD)
        return {os.fsdecode(path): int(size) for path, size in RECORDED.findall(record)}


@dataclass(frozen=True)
class PythonEnvironment:
    """The folder of the packages, the interpreter where it was found, and its version."""

    path: str
    site: Path
    python: Path | None = None
    version: tuple[int, int] | None = None
    free_threaded: bool = False

    @classmethod
    def of(cls, path: Path) -> PythonEnvironment:
        """The environment of a folder or an interpreter. Raises ``UsageError`` where there is none."""
        site = _site(path)
        if site is None:
            raise UsageError(
                f"{path} is no Python environment; name the folder of one, such as .venv,"
                " its site-packages or its bin/python"
            )
        told = VERSIONED.search(f"{site.absolute()}/")
        version = (int(told["major"]), int(told["minor"])) if told else None
        return cls(str(path), site, _python(site, version), version, bool(told and told["threads"]))

    @cached_property
    def executable(self) -> Library | None:
        """The interpreter as the loader sees it."""
        try:
            return Library(self.python, at(self.python)) if self.python else None
        except (OSError, NotElfError):
            return None

    @cached_property
    def distributions(self) -> Mapping[str, Distribution]:
        """What is installed, by the name in its usual form: ``ml-dtypes``."""
        return {plain(one.name): one for one in self.installed}

    @cached_property
    def installed(self) -> Sequence[Distribution]:
        """Every folder of metadata."""
        try:
            with os.scandir(self.site) as entries:
                names = [e.name for e, _ in zip(entries, range(MOST_FOLDERS), strict=False)]
        except OSError:
            return []
        found = ((name, INFO.match(name)) for name in sorted(names))
        return [
            Distribution(name=told["name"], version=told["version"], info=self.site / name)
            for name, told in found
            if told
        ][:MOST_DISTRIBUTIONS]

    def version_of(self, *names: str) -> Distribution | None:
        """The first of these distributions that is installed."""
        return next((self.distributions[n] for n in names if n in self.distributions), None)

    @cached_property
    def objects(self) -> Sequence[Path]:
        """Every shared object below the packages, and those that wheels put into ``lib`` beside them."""
        return [*_objects(self.site), *self._beside]

    @cached_property
    def _beside(self) -> Sequence[Path]:
        return list(_beside(self.site))

    def holds(self, path: Path) -> bool:
        """Whether a file came with a package."""
        return self.site in path.parents or path in self._beside

    def shown(self, path: Path) -> str:
        """A path within the environment, as short as it can be."""
        return os.path.relpath(path, self.site)

    @cached_property
    def by_name(self) -> Mapping[str, Sequence[Path]]:
        """The shared objects by their file names, which are what others ask for."""
        found: dict[str, list[Path]] = {}
        for path in self.objects:
            found.setdefault(path.name, []).append(path)
        return found

    @cached_property
    def linked(self) -> frozenset[str]:
        """The names of all libraries that extension modules are linked with, at first or second hand."""
        needs: dict[str, tuple[str, ...]] = {}
        waiting: list[str] = []
        for path in self.objects:
            with contextlib.suppress(OSError, NotElfError):
                elf = at(path)
                needs[path.name] = needs[elf.soname or path.name] = elf.needed
                if elf.exported(f"PyInit_{path.name.split('.')[0]}".encode()):
                    waiting += elf.needed
        found: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += needs.get(name, ())
        return frozenset(found)

    def named(self, name: str, machine: int) -> Elf | None:
        """A shared object of this name, wherever in the environment it lies."""
        for path in self.by_name.get(name, ()):
            try:
                elf = at(path)
            except (OSError, NotElfError):
                continue
            if elf.machine == machine and elf.kind == SHARED:
                return elf
        return None


def plain(name: str) -> str:
    """The name of a distribution in the form in which all spellings are the same."""
    return re.sub(r"[-_.]+", "-", name).lower()


def nearest(path: Path, own: str | None) -> Path | None:
    """The environment of a file: the one that it lies in, the one in use, the ``.venv`` beside it."""
    for folder in path.absolute().parents:
        if folder.name in {"site-packages", "dist-packages"}:
            return folder
    if own:
        return Path(own)
    for folder in path.absolute().parents:
        if (folder / ".venv" / "pyvenv.cfg").is_file():
            return folder / ".venv"
    return None


@lru_cache(maxsize=16)
def environment(path: Path) -> PythonEnvironment:
    """The environment of a folder, read once in a process."""
    return PythonEnvironment.of(path)


def _site(path: Path) -> Path | None:
    if path.name in {"site-packages", "dist-packages"}:
        return path if path.is_dir() else None
    if path.is_file() and path.parent.name in {"bin", "Scripts"}:
        path = path.parent.parent
    found = [one for pattern in SITES for one in sorted(path.glob(pattern)) if one.is_dir()]
    return found[-1] if found else None


def _python(site: Path, version: tuple[int, int] | None) -> Path | None:
    names = [f"python{version[0]}.{version[1]}"] if version else []
    for folder in list(site.absolute().parents)[:4]:
        for name in (*names, "python3", "python"):
            path = folder / "bin" / name
            if path.is_file():
                return path.resolve()
    return None


def _beside(site: Path) -> Iterator[Path]:
    """The libraries of an environment of its own: intel-openmp and mkl lie there, and all of conda."""
    prefix = site.absolute().parents[2]
    if (prefix / "pyvenv.cfg").is_file() or (prefix / "conda-meta").is_dir():
        found = sorted((prefix / "lib").glob("*.so*"))[:MOST_OBJECTS]
        yield from (path for path in found if OBJECT.search(path.name) and path.is_file())


def _objects(top: Path) -> Iterator[Path]:
    number = 0
    for folder, folders, files in os.walk(top):
        folders.sort()
        for name in sorted(files):
            path = Path(folder, name)
            if OBJECT.search(name) and path.is_file():
                number += 1
                yield path
        if number > MOST_OBJECTS:
            return
