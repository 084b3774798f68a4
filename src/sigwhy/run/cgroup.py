"""The control group of a process: its limits, and the kernel's own counts of what it refused.

Both versions are read. The files stay open, so that they can still be asked in the moment in which
the last process of the group dies and its maker removes it.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from functools import cache

from sigwhy.machine.cgroup import VERSIONS, Mount, groups, limit, mounts, place, rows, upwards
from sigwhy.run import proc

NEW = 2.0  # seconds: clocks of files are coarse


@cache
def _mounts() -> tuple[Mount, ...]:
    return tuple(mounts(proc.text("/proc/self/mountinfo")))


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
        at = place("memory", of, _mounts())
        if at is None:
            return None
        mount, name = at
        others = place("pids", of, _mounts())
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
        found = (limit(proc.text(f"{at}/{name}")) for at in upwards(self.folder, self.top))
        return min((one for one in found if one is not None), default=None)


def _made(folder: str) -> float:
    """When a group was made; where that cannot be told, long ago."""
    try:
        told = os.stat(folder)  # noqa: PTH116 -- a file of the kernel's
    except OSError:
        return 0.0
    return min(told.st_ctime, time.time())
