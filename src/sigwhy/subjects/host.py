"""This machine, as far as programs die of it: its limits, its CPU, its drivers, and an environment on it.

Everything is read from files below ``root``; nothing is started, and nothing heavy is imported.
"""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.machine import cgroup
from sigwhy.machine.cpus import of_cpuinfo
from sigwhy.model.error import UsageError
from sigwhy.subjects.python_environment import PythonEnvironment, environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sigwhy.model.around import Around

COLUMNS = re.compile(r"\s{2,}")
SIZE = re.compile(r"^(\d{1,18})(?: kB)?$")
# The kernel's driver: "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19"
DRIVER = re.compile(r"Kernel Module(?: for \w+)?\s+(\d{3})\.(\d{1,3})")
MOST = 1 << 20
AT_PAGE_SIZE = 6
PTRACE, ADMIN, SYSLOG = 19, 21, 34  # capabilities


@dataclass(frozen=True)
class Host:
    """A machine; ``cpus`` are those that this process may use."""

    root: Path = Path("/")
    env: PythonEnvironment | None = None
    cpus: int = 1
    shared_memory: tuple[int, int] | None = None  # bytes of /dev/shm: all, free

    @classmethod
    def of(cls, around: Around) -> Host:
        """This machine, with the environment that was named, or the one in use."""
        place = around.env or around.own
        env = None
        with contextlib.suppress(UsageError):
            env = environment(Path(place)) if place else None
        cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return cls(env=env, cpus=cpus or 1, shared_memory=_size("/dev/shm"))  # noqa: S108 -- it is looked at, not written to

    def text(self, path: str) -> str:
        """What a file holds; nothing where it cannot be read."""
        try:
            with (self.root / path.lstrip("/")).open("rb") as stream:
                return stream.read(MOST).decode("utf-8", "replace")
        except OSError:
            return ""

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        return (self.root / path.lstrip("/")).exists()

    def number(self, path: str) -> int | None:
        """A file that holds one number, as the settings of the kernel do."""
        word = self.text(path).strip()
        return int(word) if word.isdigit() and len(word) < 20 else None

    @cached_property
    def memory(self) -> Mapping[str, int]:
        """The rows of ``/proc/meminfo``, in bytes."""
        return {n: 1024 * size for n, size in _rows(self.text("/proc/meminfo"))}

    @cached_property
    def limits(self) -> Mapping[str, tuple[int | None, int | None]]:
        """The limits of this process, soft and hard, by their names in ``/proc``: ``stack size``."""
        found = {}
        for line in self.text("/proc/self/limits").splitlines()[1:]:
            fields = COLUMNS.split(line.strip())
            if len(fields) >= 3 and fields[0].startswith("Max "):
                found[fields[0].removeprefix("Max ")] = _limit(fields[1]), _limit(fields[2])
        return found

    def soft(self, name: str) -> int | None:
        """A limit as it holds now; None where there is none."""
        return self.limits.get(name, (None, None))[0]

    @cached_property
    def status(self) -> Mapping[str, str]:
        """The rows of ``/proc/self/status``."""
        rows = (line.partition(":") for line in self.text("/proc/self/status").splitlines())
        return {name: words.strip() for name, _, words in rows}

    def may(self, capability: int) -> bool:
        """Whether this process has a capability."""
        word = self.status.get("CapEff", "")
        try:
            return bool(int(word or "0", 16) >> capability & 1)
        except ValueError:
            return False

    @cached_property
    def cpu_flags(self) -> frozenset[str]:
        """What the CPU has."""
        return of_cpuinfo(self.text("/proc/cpuinfo"))

    @cached_property
    def page_size(self) -> int:
        """The size of a page of memory, as the kernel tells each process."""
        try:
            words = (self.root / "proc/self/auxv").read_bytes()[:4096]
        except OSError:
            return 4096
        for at in range(0, len(words) - 15, 16):
            if int.from_bytes(words[at : at + 8], "little") == AT_PAGE_SIZE:
                return int.from_bytes(words[at + 8 : at + 16], "little")
        return 4096

    # ---- the control group ----------------------------------------------------------------------

    def group(self, controller: str) -> tuple[int, list[str]] | None:
        """The version and the folders of a controller, from the own group up to the top."""
        mounts = cgroup.mounts(self.text("/proc/self/mountinfo"))
        place = cgroup.place(controller, cgroup.groups(self.text("/proc/self/cgroup")), mounts)
        if place is None:
            return None
        mount, name = place
        return mount.version, list(cgroup.upwards(mount.folder(name), mount.point))

    def lowest(self, controller: str, names: Mapping[int, str]) -> tuple[int, str] | None:
        """The lowest limit of the group and of those above it, and its file."""
        group = self.group(controller)
        found = []
        for folder in group[1] if group else ():
            path = f"{folder}/{names[group[0]]}" if group else ""
            if (number := cgroup.limit(self.text(path))) is not None:
                found.append((number, path))
        return min(found, default=None)

    # ---- devices --------------------------------------------------------------------------------

    @cached_property
    def nvidia(self) -> tuple[int, int] | None:
        """The version of NVIDIA's driver, where it is loaded."""
        told = DRIVER.search(self.text("/proc/driver/nvidia/version"))
        return (int(told[1]), int(told[2])) if told else None


def _rows(text: str) -> Iterator[tuple[str, int]]:
    for line in text.splitlines():
        name, _, words = line.partition(":")
        if told := SIZE.match(words.strip()):
            yield name, int(told[1])


def _limit(word: str) -> int | None:
    return int(word) if word.isdigit() else None


def _size(path: str) -> tuple[int, int] | None:
    try:
        told = os.statvfs(path)
    except (OSError, AttributeError):  # Windows has no statvfs
        return None
    return told.f_frsize * told.f_blocks, told.f_frsize * told.f_bavail
