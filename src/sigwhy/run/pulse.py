"""Whether processes move: CPU time and turns on a CPU, of every thread, looked at twice.

A look costs some ten microseconds for each thread and disturbs nobody.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sigwhy.run import proc

if TYPE_CHECKING:
    from collections.abc import Iterable

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
# Whoever waits for the GIL or polls wakes up some hundred times a second, and does nothing.
IDLE_SHARE = 0.03
BUSY_SHARE = 0.6
MOST_PROCESSES = 64
MOST_THREADS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """The CPU seconds that threads had used at one moment, and those for which they had to queue."""

    at: float = field(default_factory=time.monotonic)
    used: dict[tuple[int, int], tuple[float, float]] = field(default_factory=dict)

    def since(self, before: Pulse) -> Moved:
        """What moved between two looks."""
        seconds = max(self.at - before.at, 1e-6)
        ran: dict[tuple[int, int], float] = {}
        wanted: dict[tuple[int, int], float] = {}
        for key, (used, queued) in self.used.items():
            was_used, was_queued = before.used.get(key, (used, queued))
            ran[key] = (used - was_used) / seconds
            wanted[key] = ran[key] + (queued - was_queued) / seconds
        changed = self.used.keys() != before.used.keys()
        return Moved(seconds=seconds, ran=ran, wanted=wanted, changed=changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """How much of a CPU each thread had, and wanted, by process and thread.

    ``changed`` says that threads began or ended.
    """

    seconds: float
    ran: dict[tuple[int, int], float]
    wanted: dict[tuple[int, int], float]
    changed: bool = False

    @property
    def is_still(self) -> bool:
        """Whether nobody did anything."""
        return not self.changed and sum(self.ran.values()) < IDLE_SHARE

    @property
    def busiest(self) -> tuple[int, int] | None:
        """The process and thread that wanted the CPU all the time, if there is one."""
        key = max(self.wanted, key=lambda k: self.wanted[k], default=None)
        return key if key and self.wanted[key] >= BUSY_SHARE else None


def pulse(pids: Iterable[int]) -> Pulse:
    """Feel it once."""
    used: dict[tuple[int, int], tuple[float, float]] = {}
    for pid, _ in zip(pids, range(MOST_PROCESSES), strict=False):
        for tid in proc.threads(pid)[:MOST_THREADS]:
            used[pid, tid] = _seconds(pid, tid)
    return Pulse(used=used)


def _seconds(pid: int, tid: int) -> tuple[float, float]:
    """The CPU time of a thread: to the nanosecond where the kernel counts so, else in ticks."""
    words = proc.text(f"/proc/{pid}/task/{tid}/schedstat").split()
    if len(words) == 3 and words[0] != "0":
        return int(words[0]) / 1e9, int(words[1]) / 1e9
    fields = proc.stat(pid, tid)
    return ((int(fields[11]) + int(fields[12])) / TICKS if len(fields) > 12 else 0.0), 0.0


def family(root: int) -> list[int]:
    """A process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 -- names are all that is wanted
        if name.isdecimal():
            fields = proc.stat(int(name))
            if len(fields) > 1:
                children.setdefault(int(fields[1]), []).append(int(name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found
