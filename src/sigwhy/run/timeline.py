"""Memory over time, of every process of the tree: little is kept, and it costs next to nothing.

While memory stands still it is read twice a second, while it grows fast as often as fits: the last
reading before a death is the one that matters. What is read is kept short by forgetting every other
reading of the past.
"""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sigwhy.run import proc
from sigwhy.run.cgroup import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sigwhy.model.incident import Memory, Spot
    from sigwhy.run.supervise import Member

PAGE = resource.getpagesize()
FASTEST, FAST, SLOWEST, LONGEST = 0.003, 0.01, 0.5, 2.0  # seconds between two readings
SHARE = 1 / 300  # of the time that may be spent on reading
AT_ONCE = 0.03  # seconds of reading that are given in advance
URGENT_SHARE = 1 / 20  # the same when memory will be gone in a moment
URGENT_SECONDS = 2.0
READINGS_TO_THE_END = 10
AS_FAST_AS_IT_GETS = 8 << 30  # bytes per second that a program can touch: a small limit is near
MUCH_BYTES, MUCH_SHARE = 4 << 20, 0.02  # growth that makes the next reading come sooner
SLOWER = 1.4
MOST_SAMPLES, UNTHINNED = 240, 60
MOST_SERIES = 256
MOST_READ = 64  # processes that are read each time; of more, these at a time
MOST_ASKED = 16
MACHINE_SECONDS = 1.0
GROUP_FIRST, GROUP_LAST = 0.25, 5.0
SHARED_SECONDS, SHARED_BYTES = 20.0, 64 << 20  # how often, and of whom, the true share is asked
SHARED_SHARE = 1 / 1000  # of the time that may be spent on that
LIMITS = {
    "address space": resource.RLIMIT_AS,
    "data size": resource.RLIMIT_DATA,
    "cpu time": resource.RLIMIT_CPU,
    "file size": resource.RLIMIT_FSIZE,
    "stack size": resource.RLIMIT_STACK,
    "open files": resource.RLIMIT_NOFILE,
    "processes": resource.RLIMIT_NPROC,
}
CLOCK = 100  # USER_HZ, the same on every Linux that runs Python


@dataclass(slots=True)
class Series:
    """One process: its readings, its control group, and its limits when last asked."""

    began: float
    samples: list[tuple[float, int, int, int, int]] = field(default_factory=list)
    command: tuple[str, ...] | None = None
    group: Group | None = None
    group_due: float = 0.0
    group_wait: float = GROUP_FIRST
    limits: dict[str, str] = field(default_factory=dict)
    peak_bytes: int = 0
    speed: float = 0.0  # bytes per second
    own_share: float = 1.0  # of what is resident, without what is shared with others
    share_due: float = 0.0
    processor_seconds: float | None = None

    @property
    def resident_bytes(self) -> int:
        """The last reading."""
        return self.samples[-1][1] if self.samples else 0

    def add(self, at: float, resident: int, virtual: int) -> None:
        """One more reading; the tree and the group follow when all have been read."""
        if self.samples:
            before = self.samples[-1]
            self.speed = (resident - before[1]) / max(at - before[0], 1e-6)
        self.peak_bytes = max(self.peak_bytes, resident)
        self.samples.append((at, resident, 0, 0, virtual))
        if len(self.samples) > MOST_SAMPLES:
            old = self.samples[:-UNTHINNED]
            self.samples = [*old[::2], *self.samples[-UNTHINNED:]]


class Timeline:
    """The readings of one run. ``tick`` reads when it is due; ``ended`` must come at once."""

    def __init__(self) -> None:
        self.began, self.began_on = time.monotonic(), time.time()
        self.series: dict[int, Series] = {}
        self.groups: dict[str, Group] = {}
        self.kills_before = machine_kills()
        self.kills_after: int | None = None
        self.spots: dict[int, list[Spot]] = {}
        self.machine_bytes, self.free_bytes = 0, 0
        self._machine_due = self._share_due = 0.0
        self._due = self._earliest = self.began
        self._interval = FAST
        self._spent = 0.0
        self._next = 0
        self.living: set[int] = set()
        self.killed_for_memory: list[int] = []

    # ---- reading ----------------------------------------------------------------------------

    def tick(self, members: Mapping[int, Member]) -> float:
        """Read, if it is due; gives the seconds until it will be due again."""
        now = time.monotonic()
        if now < self._due and self._is_new(members):
            self._interval = FAST
            in_advance = self._spent < AT_ONCE + SHARE * (now - self.began)
            self._due = now if in_advance else min(self._due, max(now + FAST, self._earliest))
        if now < self._due:
            return self._due - now
        living = [m for m in members.values() if m.status is None]
        used = time.thread_time()
        grew = self._read(living, now)
        slowest = min(max(self.smallest_room() / AS_FAST_AS_IT_GETS, FAST), SLOWEST)
        self._interval = FAST if grew else min(self._interval * SLOWER, slowest)
        spent = time.thread_time() - used
        self._spent += spent
        debt = self._spent - AT_ONCE - SHARE * (now - self.began)
        wait = min(max(self._interval, debt / SHARE), LONGEST)
        left = self.seconds_left()
        if left < URGENT_SECONDS:
            wait = min(wait, max(left / READINGS_TO_THE_END, FASTEST, spent / URGENT_SHARE))
        self._due, self._earliest = now + wait, now + debt / SHARE
        return wait

    def _is_new(self, members: Mapping[int, Member]) -> bool:
        """Whether a process came, or became another program; of very many nobody asks."""
        if len(members) > MOST_ASKED:
            return False
        known = self.series
        return any(
            m.status is None and (m.pid not in known or known[m.pid].command is not m.command)
            for m in members.values()
        )

    def _read(self, living: list[Member], now: float) -> bool:
        if now >= self._machine_due:
            self._machine_due = now + MACHINE_SECONDS
            self.machine_bytes, self.free_bytes = machine_memory()
        grew = False
        read: list[Series] = []
        self.living = {member.pid for member in living}
        for member in self._turn(living):
            virtual, resident = sizes(member.pid)
            # Of one that is ending, version 1 says that it were in the group of all.
            series = self._of(member, now) if resident else None
            if series is None:
                continue
            before = series.resident_bytes
            series.add(now, resident, virtual)
            read.append(series)
            grew = grew or resident - before > max(MUCH_BYTES, before * MUCH_SHARE)
            self._share(member.pid, series, now, alone=len(living) == 1)
        usage = {name: g.usage_bytes() for name, g in self._used(read).items()}
        tree = self.tree_bytes(living)
        for series in read:
            at, resident, _, _, virtual = series.samples[-1]
            group = usage.get(series.group.name, 0) if series.group else 0
            series.samples[-1] = (at, resident, tree, group, virtual)
        return grew

    def _turn(self, living: list[Member]) -> list[Member]:
        """All, or of very many a part at a time."""
        if len(living) <= MOST_READ:
            return living
        self._next %= len(living)
        turn = (living + living)[self._next : self._next + MOST_READ]
        self._next += MOST_READ
        return turn

    def _of(self, member: Member, now: float) -> Series | None:
        series = self.series.get(member.pid)
        if series is None:
            if len(self.series) >= MOST_SERIES:
                return None  # of so many, the first ones tell enough
            series = self.series[member.pid] = Series(began=member.began)
        if series.command != member.command or now >= series.group_due:
            series.command = member.command
            self._look_around(member.pid, series, now)
        return series

    def _look_around(self, pid: int, series: Series, now: float) -> None:
        """The control group and the limits, which a process may change while it runs."""
        told = proc.text(f"/proc/{pid}/cgroup")
        if told:
            series.group = self._group(told)
        if limits := limits_of(pid):
            series.limits = limits
        if "cpu time" in limits:
            series.processor_seconds = processor_seconds(pid)
            series.group_wait = GROUP_FIRST
        series.group_due = now + series.group_wait
        series.group_wait = min(series.group_wait * 2, GROUP_LAST)

    def _group(self, told: str) -> Group | None:
        if told not in self.groups:
            group = Group.of(told, self.began_on)
            if group is None:
                return None
            self.groups[told] = group
        return self.groups[told]

    def _share(self, pid: int, series: Series, now: float, *, alone: bool) -> None:
        """How much of what is resident is its own: asked rarely, for the kernel counts each page."""
        if alone or now < max(self._share_due, series.share_due):
            return
        if series.resident_bytes < SHARED_BYTES:
            return
        used = time.thread_time()
        told = proc.rows(f"/proc/{pid}/smaps_rollup").get("Pss", "")
        cost = time.thread_time() - used
        self._spent -= cost  # it has a budget of its own
        self._share_due = now + cost / SHARED_SHARE
        series.share_due = now + SHARED_SECONDS
        if told:
            series.own_share = min(1.0, int(told.split()[0]) * 1024 / series.resident_bytes)

    def _used(self, read: list[Series]) -> dict[str, Group]:
        return {series.group.name: series.group for series in read if series.group}

    def tree_bytes(self, living: list[Member]) -> int:
        """What all processes use together; what they share is counted once, as far as is known."""
        found = (self.series.get(member.pid) for member in living)
        return int(sum(one.resident_bytes * one.own_share for one in found if one))

    # ---- how near the end is ----------------------------------------------------------------

    def nearest(self) -> tuple[float, float]:
        """How much of its limit the fullest group holds (0 to 1), and in how many seconds it is full.

        Only what processes hold counts: the kernel gives up its cache of files when it must.
        """
        fullest, soonest = 0.0, float("inf")
        for limit, held, speed in self._against_limits():
            if limit:
                fullest = max(fullest, held / limit)
                if speed > 0:
                    soonest = min(soonest, max(limit - held, 0) / speed)
        return fullest, soonest

    def smallest_room(self) -> int:
        """How many bytes are left until the first limit."""
        return min((limit - held for limit, held, _ in self._against_limits()), default=0)

    def seconds_left(self) -> float:
        """In how many seconds memory will be gone, if it grows on as it does."""
        return self.nearest()[1]

    def _against_limits(self) -> list[tuple[int, int, float]]:
        """Limit, bytes held and growth, of each control group and of the machine."""
        held: dict[str, list[float]] = {}
        limits: dict[str, int] = {}
        total, speed = 0.0, 0.0
        for pid, series in self.series.items():
            if pid not in self.living:
                continue
            own = series.resident_bytes * series.own_share
            total, speed = total + own, speed + series.speed
            if series.group and series.group.limit_bytes:
                sums = held.setdefault(series.group.name, [0.0, 0.0])
                sums[0] += own
                sums[1] += series.speed
                limits[series.group.name] = series.group.limit_bytes
        found = [(limits[name], int(sums[0]), sums[1]) for name, sums in held.items()]
        return [*found, (int(self.free_bytes + total), int(total), speed)]

    def biggest(self) -> int | None:
        """The process that grows most."""
        known = self.living & self.series.keys()
        return max(known, key=lambda pid: self.series[pid].speed, default=None)

    def room_bytes(self, pid: int) -> int:
        """What is left for us, should we stand under the same limit as this process."""
        group = self.series[pid].group
        ours = self.groups.get(proc.text("/proc/self/cgroup"))
        if group is None or group.limit_bytes is None or ours is not group:
            return self.free_bytes
        return max(group.limit_bytes - group.usage_bytes(), 0)

    def read_now(self, pid: int) -> int:
        """One more reading of a process, due or not."""
        series = self.series[pid]
        virtual, resident = sizes(pid)
        if resident and series.samples:
            tree, group = series.samples[-1][2:4]
            series.add(time.monotonic(), resident, virtual)
            series.samples[-1] = (*series.samples[-1][:2], tree, group, virtual)
        return resident or series.resident_bytes

    def add_spot(self, pid: int, spot: Spot) -> None:
        """Where Python was when it was looked at."""
        self.spots.setdefault(pid, []).append(spot)

    # ---- the end ----------------------------------------------------------------------------

    def ended(self, pid: int, *, killed: bool) -> None:
        """A process has ended: read the counts of its group before anybody removes it.

        Whoever dies of SIGKILL first when the count has moved is the one that was meant.
        """
        self.living.discard(pid)
        series = self.series.get(pid)
        group = series.group if series else None
        if group:
            group.count()
            if killed and (group.kills or 0) > (group.kills_before or 0) + group.claimed:
                group.claimed += 1
                self.killed_for_memory.append(pid)

    def forget(self, pid: int) -> None:
        """A process has ended well; its readings are of no use."""
        self.series.pop(pid, None)
        self.spots.pop(pid, None)

    def machine_has_killed(self) -> bool:
        """Whether the kernel has killed anybody on this machine for memory since the run began."""
        self.kills_after = machine_kills()
        return self.kills_after is None or self.kills_after != self.kills_before

    def memory(self, pid: int) -> Memory:
        """All of it, as an Incident keeps it; times count from the start of the process."""
        from sigwhy.model.incident import Memory, Sample

        series = self.series.get(pid) or Series(began=time.monotonic())
        group = series.group
        zero = series.began
        if self.kills_after is None:
            self.kills_after = machine_kills()
        return Memory(
            samples=[Sample(round(at - zero, 3), *rest) for at, *rest in series.samples],
            group_limit_bytes=group.limit_bytes if group else None,
            machine_bytes=self.machine_bytes or None,
            free_bytes=self.free_bytes or None,
            oom_kills_before=group.kills_before if group else None,
            oom_kills_after=group.kills if group else None,
            machine_kills_before=self.kills_before,
            machine_kills_after=self.kills_after,
            peak_bytes=series.peak_bytes or None,
            group=group.name if group else None,
            seconds=round(time.monotonic() - zero, 3) if series.samples else None,
            spots=self.spots.get(pid, []),
            refused_threads=_since(group.refused_before, group.refused) if group else None,
            most_threads=group.most_threads if group else None,
            processor_seconds=series.processor_seconds,
        )

    def close(self) -> None:
        """Give the files of the groups back."""
        for group in self.groups.values():
            group.close()
        self.groups.clear()


def _since(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def sizes(pid: int) -> tuple[int, int]:
    """What a process has asked for, and what it holds in memory now; 0 where it is gone."""
    fields = proc.bytes_of(f"/proc/{pid}/statm", 256).split()
    return (int(fields[0]) * PAGE, int(fields[1]) * PAGE) if len(fields) > 1 else (0, 0)


def processor_seconds(pid: int) -> float | None:
    """The processor time that a process has used."""
    fields = proc.stat(pid)
    return (int(fields[11]) + int(fields[12])) / CLOCK if len(fields) > 12 else None


def machine_memory() -> tuple[int, int]:
    """All memory of the machine, and what of it can still be had."""
    told = proc.rows("/proc/meminfo")
    return _kib(told.get("MemTotal", "")), _kib(told.get("MemAvailable", ""))


def _kib(words: str) -> int:
    number = words.partition(" ")[0]
    return int(number) * 1024 if number.isdigit() else 0


def machine_kills() -> int | None:
    """How many processes the kernel has killed for memory since the machine was started."""
    for line in proc.text("/proc/vmstat").splitlines():
        if line.startswith("oom_kill "):
            return int(line.split()[1])
    return None


def limits_of(pid: int, ask: Callable[..., tuple[int, int]] = resource.prlimit) -> dict[str, str]:
    """The soft limits that are set, in the words of /proc/PID/limits; the hard one of CPU time too."""
    found = {}
    for name, number in LIMITS.items():
        try:
            soft, hard = ask(pid, number)
        except (OSError, ValueError):
            continue
        if soft != resource.RLIM_INFINITY:
            found[name] = str(soft)
        if number == resource.RLIMIT_CPU and hard != resource.RLIM_INFINITY:
            found["cpu time, hard"] = str(hard)
    return found
