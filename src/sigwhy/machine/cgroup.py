"""Control groups of both versions: where they lie, and what their files say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

NO_LIMIT = 1 << 60  # version 1 writes the largest number of pages where there is no limit
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


def place(
    controller: str, of: Mapping[str, str], hierarchies: Iterable[Mount]
) -> tuple[Mount, str] | None:
    """Where a controller sees a process: its mount, and the group's name."""
    known = list(hierarchies)
    for mount in known:
        if mount.version == 1 and controller in mount.controllers and controller in of:
            return mount, of[controller]
    for mount in known:
        if mount.version == 2 and "" in of:
            return mount, of[""]
    return None


def upwards(folder: str, top: str) -> Iterator[str]:
    """The folder of a group, and those above it up to the mount."""
    for _ in range(MOST_PARENTS):
        yield folder
        if folder in (top, "/", ""):
            return
        folder = folder.rpartition("/")[0]


def rows(text: str) -> dict[str, int]:
    """Lines ``name count``, as in ``memory.events`` and ``memory.oom_control``."""
    fields = (line.split() for line in text.splitlines())
    return {f[0]: int(f[1]) for f in fields if len(f) == 2 and f[1].isdigit()}


def limit(text: str) -> int | None:
    """A limit in bytes or threads; none is ``max``, or more than any machine has."""
    word = text.strip()
    return int(word) if word.isdigit() and int(word) < NO_LIMIT else None
