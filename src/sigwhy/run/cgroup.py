"""The control group of a process: its limits, and the kernel's own counts of what it refused.

Both versions are read. The files stay open, so that they can still be asked in the moment in which
the last process of the group dies and its maker removes it.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePosixPath

from sigwhy.run import proc

NO_LIMIT = 1 << 60  # version 1 writes the largest number of pages where there is no limit
NEW = 2.0  # seconds: clocks of files are coarse
MOST_PARENTS = 32


@dataclass(frozen=True, slots=True)
class Files:
    """How one version calls its files."""

    usage: str
    limit: str
    kills: str
    refused: str = "pids.events"
    threads: str = "pids.max"


VERSIONS = {
    1: Files("memory.usage_in_bytes", "memory.limit_in_bytes", "memory.oom_control"),
    2: Files("memory.current", "memory.max", "memory.events"),
}


@dataclass(frozen=True, slots=True)
class Mount:
    """Where a hierarchy of groups is seen: ``root`` is the group that lies at ``point``."""

    version: int
    root: str
    point: str
    controllers: frozenset[str] = frozenset()

    def folder(self, group: str) -> str:
        """The folder of a group; from within a container only what lies below ``root`` is seen."""
        try:
            inside = PurePosixPath(group).relative_to(self.root)
        except ValueError:
            return self.point
        if ".." in inside.parts:
            return self.point
        return str(PurePosixPath(self.point, inside))


def mounts(text: str) -> list[Mount]:
    """The hierarchies that ``/proc/self/mountinfo`` lists."""
    found = []
    for line in text.splitlines():
        before, dash, after = line.partition(" - ")
        left, right = before.split(), after.split()
        if not dash or len(left) < 5 or not right:
            continue
        if right[0] == "cgroup2":
            found.append(Mount(2, left[3], left[4]))
        elif right[0] == "cgroup" and len(right) > 2:
            found.append(Mount(1, left[3], left[4], frozenset(right[2].split(","))))
    return found


def groups(text: str) -> dict[str, str]:
    """What ``/proc/PID/cgroup`` tells: controller to group; version 2 is the empty name."""
    found = {}
    for line in text.splitlines():
        fields = line.split(":", 2)
        if len(fields) == 3:
            for controller in fields[1].split(","):
                found[controller] = fields[2].removesuffix(" (deleted)")
    return found


def rows(text: str) -> dict[str, int]:
    """Lines ``name count``, as in ``memory.events`` and ``memory.oom_control``."""
    fields = (line.split() for line in text.splitlines())
    return {f[0]: int(f[1]) for f in fields if len(f) == 2 and f[1].isdigit()}


def limit(text: str) -> int | None:
    """A limit in bytes or threads; none is ``max``, or more than any machine has."""
    word = text.strip()
    return int(word) if word.isdigit() and int(word) < NO_LIMIT else None


@cache
def _mounts() -> tuple[Mount, ...]:
    return tuple(mounts(proc.text("/proc/self/mountinfo")))


def _place(controller: str, of: dict[str, str]) -> tuple[Mount, str] | None:
    """Where a controller sees a process: its mount, and the group's name."""
    for mount in _mounts():
        if mount.version == 1 and controller in mount.controllers and controller in of:
            return mount, of[controller]
    for mount in _mounts():
        if mount.version == 2 and "" in of:
            return mount, of[""]
    return None


@dataclass(slots=True)
class Group:
    """A control group, with the counts at the time it was first seen."""

    name: str
    version: int
    folder: str
    top: str
    tasks: str | None = None
    handles: dict[str, int] = field(default_factory=dict)
    limit_bytes: int | None = None
    most_threads: int | None = None
    kills_before: int | None = None
    kills: int | None = None
    claimed: int = 0  # kills of which the victim is known
    refused_before: int | None = None
    refused: int | None = None

    @classmethod
    def of(cls, told: str, began: float) -> Group | None:
        """The group that ``/proc/PID/cgroup`` tells. ``began`` is when the run began (time.time)."""
        of = groups(told)
        place = _place("memory", of)
        if place is None:
            return None
        mount, name = place
        others = _place("pids", of)
        tasks = others[0].folder(others[1]) if others else None
        group = cls(name, mount.version, mount.folder(name), mount.point, tasks)
        group._open()
        group.count()
        new = _made(group.folder) > began - NEW
        group.kills_before = 0 if new and group.kills is not None else group.kills
        group.refused_before = 0 if new and group.refused is not None else group.refused
        group.limit_bytes = group._limit()
        group.most_threads = limit(proc.text(f"{tasks}/{VERSIONS[2].threads}")) if tasks else None
        return group

    def usage_bytes(self) -> int:
        """What the group uses now; 0 where that is not told."""
        word = self._read(VERSIONS[self.version].usage).strip()
        return int(word) if word.isdigit() else 0

    def count(self) -> None:
        """Read the counts anew; where the group is gone, what was seen last stays."""
        kills = rows(self._read(VERSIONS[self.version].kills)).get("oom_kill")
        self.kills = self.kills if kills is None else kills
        refused = rows(self._read(VERSIONS[2].refused)).get("max")
        self.refused = self.refused if refused is None else refused

    def close(self) -> None:
        """Give the files back."""
        for handle in self.handles.values():
            os.close(handle)
        self.handles.clear()

    def _open(self) -> None:
        files = VERSIONS[self.version]
        wanted = {files.usage: self.folder, files.kills: self.folder}
        if self.tasks:
            wanted[files.refused] = self.tasks
        for name, folder in wanted.items():
            try:
                self.handles[name] = os.open(f"{folder}/{name}", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                continue

    def _read(self, name: str) -> str:
        handle = self.handles.get(name)
        try:
            return "" if handle is None else os.pread(handle, 4096, 0).decode("ascii", "replace")
        except OSError:  # the group has been removed
            return ""

    def _limit(self) -> int | None:
        """The lowest limit of the group and of those above it."""
        name = VERSIONS[self.version].limit
        at, found = self.folder, []
        for _ in range(MOST_PARENTS):
            found.append(limit(proc.text(f"{at}/{name}")))
            if at in (self.top, "/"):
                break
            at = at.rpartition("/")[0]
        return min((one for one in found if one is not None), default=None)


def _made(folder: str) -> float:
    """When a group was made; where that cannot be told, long ago."""
    try:
        told = os.stat(folder)  # noqa: PTH116 -- a file of the kernel's
    except OSError:
        return 0.0
    return min(told.st_ctime, time.time())
