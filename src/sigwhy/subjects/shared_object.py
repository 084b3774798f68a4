"""One shared object, and what the loader would make of it: its libraries, its symbols, its instructions.

It is looked at as a Python process of its environment would load it. Nothing is loaded or run.
"""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sigwhy.machine.cpus import features, of_cpuinfo
from sigwhy.machine.cxx_names import other_strings, qualified, spellings
from sigwhy.machine.elf import ARM64, GLOBAL, X86_64, NotElfError, opened
from sigwhy.machine.loader import Library, Loader, at
from sigwhy.machine.regular_file import beginning
from sigwhy.machine.releases import EVERYWHERE, Release
from sigwhy.model.around import Around
from sigwhy.model.error import UsageError
from sigwhy.subjects.python_environment import PythonEnvironment, environment, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sigwhy.machine.elf import Elf
    from sigwhy.machine.loader import Loaded

# _multiarray.cpython-311-x86_64-linux-gnu.so, _cffi.abi3.so, custom_op.so
MODULE = re.compile(
    r"^(?P<name>\w+)\.(?:(?P<tag>cpython-3(?P<minor>\d{1,2})(?P<flags>[tdm]*)(?:-[\w-]+)?|abi3)\.)?so$"
)
ABSEIL = re.compile(rb"4absl\d{2}lts_(\d{8})")
# What comes with a driver, and is there where the device is.
OF_DRIVERS = re.compile(
    r"^lib(?:cuda|nvidia-|nvcuvid|nvoptix|amdhip|hsa-|ze_loader|OpenCL|vulkan|rdmacm|ibverbs)"
)
# Libraries whose C++ names people build against; a process that imports the package has them all.
FRAMEWORKS = (
    "libtensorflow_framework.so.2", "libtensorflow_cc.so.2", "libtorch_python.so", "libtorch_cpu.so",
    "libtorch.so", "libc10.so", "libarrow.so",
)  # fmt: skip
MOST_WANTED, MOST_LETTERS, MOST_MISSING = 50_000, 4_000_000, 500
MOST_COUNTERPARTS = 8
AT_ONCE, MOST_CONSTANTS = 4 << 20, 64 << 20
MACHINES = {"x86_64": X86_64, "AMD64": X86_64, "aarch64": ARM64, "arm64": ARM64}
Because = Literal["python", "strings", "framework", "absent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A symbol that nobody defines: why, and what there is in its place."""

    name: bytes
    because: Because
    instead: bytes | None = None
    library: str | None = None


@dataclass(frozen=True)
class SharedObject:
    """The object (None where the file is none, ``foreign`` says what it is) and what is around it."""

    path: Path
    elf: Elf | None
    foreign: str | None = None
    env: PythonEnvironment | None = None
    named: bool = False  # whether the environment was named, or guessed
    release: Release | None = None
    cpu: frozenset[str] = frozenset()
    cpu_name: str = "this CPU"
    machine: int = X86_64
    loader: Loader = field(default_factory=Loader)

    @classmethod
    def of(cls, path: Path, around: Around | None = None) -> SharedObject:
        """Read a file. Raises ``UsageError`` for what was asked, never for what is in the file."""
        around = around or Around()
        env, named = _environment(path, around)
        cpu = features(around.target_cpu) if around.target_cpu else this_cpu()
        release = Release.of(around.target_os) if around.target_os else None
        try:
            elf, foreign = opened(path), None
        except NotElfError as error:
            elf, foreign = None, str(error)
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
        return cls(
            path,
            elf,
            foreign,
            env,
            named,
            release,
            cpu,
            around.target_cpu or "this CPU",
            MACHINES.get(platform.machine(), X86_64),
            loader=Loader(library_path=around.library_path),
        )

    @property
    def is_readable(self) -> bool:
        """Whether a loader for this machine would look any further than the header."""
        return bool(
            self.elf and self.elf.bits == 64 and self.elf.segments and not self.elf.missing_bytes
        )

    @property
    def in_environment(self) -> bool:
        """Whether it came with a package."""
        return bool(self.env and self.env.holds(self.path))

    @cached_property
    def module(self) -> re.Match[str] | None:
        """The parts of the file name of an extension module."""
        return MODULE.match(self.path.name)

    @cached_property
    def is_plugin(self) -> bool:
        """Whether it lies in the environment and no extension module leads to it: loaded on demand, or never."""
        if not self.in_environment or not self.env or not self.elf:
            return False
        entry = self.module and self.elf.exported(f"PyInit_{self.module['name']}".encode())
        return not entry and not {self.path.name, self.elf.soname} & self.env.linked

    # ---- libraries ------------------------------------------------------------------------------

    @cached_property
    def loaded(self) -> Loaded:
        """What is loaded with it."""
        if not self.elf or not self.is_readable:
            raise ValueError(self.path)
        return self.loader.loaded(self.path.absolute(), self.elf)

    @cached_property
    def given(self) -> Mapping[str, Elf]:
        """Libraries that it does not find itself, and the environment has: a package loads them before."""
        if not self.env or not self.elf:
            return {}
        found = {n: self.env.named(n, self.elf.machine) for n, _ in self.loaded.missing}
        return {name: elf for name, elf in found.items() if elf}

    @cached_property
    def absent(self) -> Sequence[tuple[str, Library]]:
        """Libraries that nobody has, with the one that asks."""
        return [
            (name, by)
            for name, by in self.loaded.missing
            if name not in self.given and not (self.release and name in EVERYWHERE)
        ]

    @property
    def links(self) -> Iterator[tuple[str, Library | None]]:
        """Each library that it names itself, as it was found."""
        first = self.loaded.libraries[0]
        for name in self.elf.needed if self.elf else ():
            yield name, self.loader.find(name, first)

    def is_of_system(self, library: Library) -> bool:
        """Whether a library belongs to the system and not to the environment."""
        folder = library.path.parent.resolve()
        homes = [self.path.parent.resolve()]
        if self.env:
            homes.append(self.env.site.resolve())
        return not any(home in (folder, *folder.parents) for home in homes)

    # ---- symbols --------------------------------------------------------------------------------

    @cached_property
    def wants(self) -> Sequence[bytes]:
        """The names that must be defined, each once, as many as an honest file has."""
        if not self.elf or not self.is_readable:
            return ()
        names = dict.fromkeys(s.name for s in self.elf.wanted if s.bind == GLOBAL and s.name)
        found, letters = [], 0
        for name in list(names)[:MOST_WANTED]:
            letters += len(name)
            if letters > MOST_LETTERS:
                break
            found.append(name)
        return found

    @cached_property
    def missing(self) -> Sequence[Missing]:
        """The names that nobody defines. Where a library is absent nobody can know."""
        if not self.wants or self.absent or not self._has_what_it_asks:
            return ()
        left: Iterable[bytes] = self.wants
        for elf in self._providers():
            left = [name for name in left if not elf.exported(name)]
        left = list(left)[:MOST_MISSING]
        if left and self.env:
            left = self._unknown_to(left, self.env.objects)
        return self._explained(left)

    @property
    def _has_what_it_asks(self) -> bool:
        """Whether there is an interpreter, for a library that wants one."""
        asks = any(name.startswith((b"Py", b"_Py")) for name in self.wants)
        return not asks or bool(self.env and self.env.executable)

    def _providers(self) -> Iterator[Elf]:
        yield from (library.elf for library in self.loaded.libraries)
        yield from self.given.values()
        if self.env and (program := self.env.executable):
            yield from (one.elf for one in self.loader.loaded(program.path, program.elf).libraries)
        yield from self.frameworks.values()

    @cached_property
    def frameworks(self) -> Mapping[str, Elf]:
        """The libraries of the environment that user code is built against."""
        if not self.env or not self.elf:
            return {}
        found = {name: self.env.named(name, self.elf.machine) for name in FRAMEWORKS}
        return {name: elf for name, elf in found.items() if elf}

    def _unknown_to(self, names: list[bytes], paths: Iterable[Path]) -> list[bytes]:
        """Those that no library of the environment has: any of them may be loaded for all."""
        for path in paths:
            if not names:
                break
            try:
                elf = at(path)
            except (OSError, NotElfError):
                continue
            names = [name for name in names if not elf.exported(name)]
        return names

    def _explained(self, names: Sequence[bytes]) -> list[Missing]:
        """Why each name is missing, by what its libraries have instead."""
        python = [n for n in names if n.startswith((b"Py", b"_Py"))]
        others = [n for n in names if n not in set(python)]
        found = [Missing(name=name, because="python") for name in python]
        instead = self._counterparts(others)
        found += instead.values()
        built_for = self.abseil
        mixed = built_for and any(one.because == "framework" for one in instead.values())
        because: Because = "framework" if mixed else "absent"
        found += [
            Missing(name=name, because=because if name.startswith(b"_Z") else "absent")
            for name in others
            if name not in instead
        ]
        return found

    def _counterparts(self, names: Sequence[bytes]) -> dict[bytes, Missing]:
        """For some names, what the framework calls the same function."""
        found: dict[bytes, Missing] = {}
        for library, elf in self.frameworks.items():
            tag = self.runtime_abseil(library)
            for name in names:
                told = ABSEIL.search(name)
                if told and tag and told[1] != tag:
                    found.setdefault(name, Missing(name=name, because="framework", library=library))
            left = [n for n in names if n not in found and qualified(n)][:MOST_COUNTERPARTS]
            for name, other in _same_function(left, elf):
                because: Because | None = "strings" if other_strings(name, other) else None
                if because:
                    found[name] = Missing(
                        name=name, because=because, instead=other, library=library
                    )
        return found

    @cached_property
    def abseil(self) -> bytes | None:
        """The release of Abseil that it was built with: frameworks have it in their names."""
        tags = {told[1] for name in self.wants if (told := ABSEIL.search(name))}
        return tags.pop() if len(tags) == 1 else None

    def runtime_abseil(self, library: str) -> bytes | None:
        """The release of Abseil in a framework of the environment."""
        return _abseil(self.frameworks[library]) if library in self.frameworks else None

    def holds(self, *words: bytes) -> frozenset[bytes]:
        """Which of these words stand in the constants of the file."""
        if not self.elf or not self.is_readable:
            return frozenset()
        return frozenset(_constants(self.elf, words))


@cache
def this_cpu() -> frozenset[str]:
    """What the CPU has on which this runs."""
    return of_cpuinfo(beginning("/proc/cpuinfo", 1 << 16).decode("utf-8", "replace"))


def _environment(path: Path, around: Around) -> tuple[PythonEnvironment | None, bool]:
    if around.env:
        return environment(Path(around.env)), True
    place = nearest(path, None)
    try:
        return (environment(place), place.name.endswith("-packages")) if place else (None, False)
    except UsageError:
        return None, False


@cache
def _abseil(elf: Elf) -> bytes | None:
    for piece in elf.strings():
        if told := ABSEIL.search(piece):
            return told[1]
    return None


def _same_function(names: Sequence[bytes], elf: Elf) -> Iterator[tuple[bytes, bytes]]:
    """For each name another one that differs only behind the name of the function."""
    starts = {(name, b"\0" + one) for name in names for one in spellings(name)}
    for piece in elf.strings() if starts else ():
        for name, start in tuple(starts):
            begin = piece.find(start)
            if begin >= 0:
                yield name, piece[begin + 1 : piece.find(b"\0", begin + 1)]
                starts.discard((name, start))
        if not starts:
            return


def _constants(elf: Elf, words: Sequence[bytes]) -> Iterator[bytes]:
    longest = max((len(word) for word in words), default=1)
    for one in elf.loaded():
        end = min(one.in_file, MOST_CONSTANTS) if not one.flags & 1 else 0
        for begin in range(0, end, AT_ONCE):
            piece = elf.window.read(one.offset + begin, min(AT_ONCE + longest, end - begin))
            yield from (word for word in words if word in piece)
