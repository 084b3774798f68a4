"""Memory over time: what the kernel counted, how memory grew, and where Python was meanwhile."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from sigwhy.autopsy.told import NO_SPAN, Told
from sigwhy.model.fact import Growth, MemoryKill, Notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.incident import Incident, Memory, Sample

MIB = 1 << 20
GIB = 1 << 30
GREW_BYTES = 64 * MIB
GREW_SHARE = 0.25  # of what there was at first
BEGINS_AT = 0.08  # of the whole growth: before that, the program only began
EACH_THIRD = 0.5  # of the mean growth, that a third must have at least
LEAP = 0.45  # of the whole growth within a tenth of the time: one step
TENTH = 10
ASKED_MEANWHILE = 0.4  # of the growth: less means that all was asked for before, in one piece
LATE = 0.5  # of the growth: what happened above it
SHORT = 5.0  # seconds in which a loop with many lines is hardly ever looked at in two of them
PIECE, PIECES = 0.03, 4  # of the growth between two readings, and how many such
CRUMB, MANY_PIECES = 0.005, 10  # of the growth between two readings, and how many such
VERY_SHORT = 1.0
ADDED = 0.15  # of the whole growth, between two looks
BARS = "▁▂▃▄▅▆▇█"
MOST_BARS = 24
# What makes a copy of everything: it needs its memory at once, however many parts it has.
COPIES = re.compile(
    r" in (?:\w+\.)*(?:save\w*|_save\w*|dumps?|tobytes|tolist|getvalue|make_new_dset|create_dataset|to_\w+|concat\w*|[hv]?stack"
    r"|copy|deepcopy|astype|merge|join|pivot\w*|read_\w+|loads?|load_\w+|restore\w*|serialize\w*|SerializeToString)\(\)$"
)
NOT_YOURS = re.compile(r"site-packages|dist-packages|/lib/python\d|^<|^$")


def tell(incident: Incident) -> Iterator[Told]:
    """The kernel's counts first, then the growth, then the places."""
    memory = incident.memory
    if memory is None:
        return
    killed = incident.signal is not None and incident.signal.name == "SIGKILL"
    if killed:
        yield from _counted(incident, memory)
    ran_out = killed or _is_refusal(incident)
    if ran_out and len(memory.samples) > 1:
        growth = _growth(memory)
        yield Told.of(_said(growth, memory), growth) if growth else _unclear(memory)
        yield from _spots(memory)


def _is_refusal(incident: Incident) -> bool:
    """Whether it ended for a reason that memory may have given it."""
    return incident.exception in {"std::bad_alloc", "bad_alloc"} or "MemoryError" in incident.stderr


# ---- what the kernel counted ----------------------------------------------------------------


def _counted(incident: Incident, memory: Memory) -> Iterator[Told]:
    before, after = memory.oom_kills_before, memory.oom_kills_after
    group = f"control group {memory.group}"
    limit = f" (limit {_size(memory.group_limit_bytes)})" if memory.group_limit_bytes else ""
    if before is not None and after is not None and after > before:
        last = memory.samples[-1] if memory.samples else None
        yield Told.of(
            f"the kernel counts kills for memory in the {group}{limit}: oom_kill went from {before} to {after}",
            MemoryKill(
                span=NO_SPAN,
                by="cgroup",
                victim=" ".join(incident.command) or None,
                pid=incident.pid,
                limit_bytes=memory.group_limit_bytes,
                used_bytes=last.resident_bytes if last else None,
            ),
            words="oom_kill",
        )
    elif any("Killed process" in line for line in incident.kernel):
        return
    elif _unmoved(memory):
        told = (
            "of the whole machine" if memory.machine_kills_after is not None else f"of the {group}"
        )
        yield Told.of(
            f"the kernel killed nobody for memory meanwhile: its count (oom_kill) {told} did not move",
            Notice(
                span=NO_SPAN,
                topic="not-out-of-memory",
                text="oom_kill did not move",
                subject="kernel",
                mechanism="killed",
            ),
        )


def _unmoved(memory: Memory) -> bool:
    """Whether a count that would have moved did not: that of all the machine, else the group's."""
    if memory.machine_kills_before is not None and memory.machine_kills_after is not None:
        return memory.machine_kills_before == memory.machine_kills_after
    return memory.oom_kills_before is not None and memory.oom_kills_before == memory.oom_kills_after


# ---- how it grew ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rise:
    """The part of the readings in which memory grew."""

    samples: tuple[Sample, ...]

    @property
    def bytes(self) -> int:
        """From the first to the last reading."""
        return self.samples[-1].resident_bytes - self.samples[0].resident_bytes

    @property
    def seconds(self) -> float:
        """The same in time."""
        return self.samples[-1].seconds - self.samples[0].seconds

    def at(self, share: float) -> float:
        """What was used when this share of the time had passed, between two readings."""
        wanted = self.samples[0].seconds + share * self.seconds
        for a, b in pairwise(self.samples):
            if a.seconds <= wanted <= b.seconds:
                part = (wanted - a.seconds) / max(b.seconds - a.seconds, 1e-9)
                return a.resident_bytes + part * (b.resident_bytes - a.resident_bytes)
        return self.samples[-1].resident_bytes


def _growth(memory: Memory) -> Growth | None:
    """What the readings tell; None where they tell that it grew, and not how."""
    samples = memory.samples
    first, last = samples[0], samples[-1]
    low = min(s.resident_bytes for s in samples)
    high = max(s.resident_bytes for s in samples)
    grew = high - low > max(GREW_BYTES, GREW_SHARE * low)
    rise = _rise(samples) if grew else None
    shape: Literal["steady", "step", "flat"] | None = _shape(rise, memory) if rise else "flat"
    if shape is None:
        return None
    seconds = rise.seconds if rise and shape != "flat" else last.seconds - first.seconds
    speed = rise.bytes / rise.seconds if rise and rise.seconds > 0 and shape != "flat" else None
    return Growth(
        span=NO_SPAN,
        shape=shape,
        start_bytes=first.resident_bytes,
        end_bytes=last.resident_bytes,
        seconds=seconds,
        limit_bytes=memory.group_limit_bytes,
        bytes_per_second=speed,
    )


def _rise(samples: Sequence[Sample]) -> Rise | None:
    """From where the growth began to the end; None where memory had fallen again by then."""
    low, last = samples[0].resident_bytes, samples[-1].resident_bytes
    if last - low < GREW_BYTES:
        return None
    begin = 0
    for n, sample in enumerate(samples):
        if sample.resident_bytes - low <= BEGINS_AT * (last - low):
            begin = n
    return Rise(tuple(samples[begin:]))


def _shape(rise: Rise, memory: Memory) -> Literal["steady", "step"] | None:
    """Steady where each third grew, or one line asked again and again; else a step."""
    total = rise.bytes
    if _filled(rise):
        return "step"
    if any(COPIES.search(place) for spot in memory.spots[-1:] for place in spot.places):
        return "step"
    again = _again_at_one_line(memory, total)
    if again is not None and (again or rise.seconds < SHORT):
        return "steady" if again else "step"
    if rise.seconds < VERY_SHORT:
        return "steady" if memory.spots and _in_many_pieces(rise) else None
    return _by_its_course(rise) or ("steady" if _piece_by_piece(rise) else None)


def _piece_by_piece(rise: Rise) -> bool:
    """Whether the later half came in many pieces, whatever the start of the program did."""
    mark = rise.samples[0].resident_bytes + LATE * rise.bytes
    begin = max(n for n, s in enumerate(rise.samples) if n == 0 or s.resident_bytes <= mark)
    late = rise.samples[begin:]
    grown = late[-1].resident_bytes - late[0].resident_bytes
    came = [b.resident_bytes - a.resident_bytes for a, b in pairwise(late)]
    pieces = [one for one in came if one > CRUMB * grown]
    return len(pieces) >= MANY_PIECES and max(pieces) <= LEAP * grown


def _filled(rise: Rise) -> bool:
    """Whether it filled what had been asked for in one piece; how it began (imports) is left out."""
    first, last = rise.samples[0], rise.samples[-1]
    mark = first.resident_bytes + LATE * rise.bytes
    begin = max(n for n, s in enumerate(rise.samples) if n == 0 or s.resident_bytes <= mark)
    late = rise.samples[begin]
    asked = last.virtual_bytes - late.virtual_bytes
    return bool(late.virtual_bytes) and asked < ASKED_MEANWHILE * (
        last.resident_bytes - late.resident_bytes
    )


def _by_its_course(rise: Rise) -> Literal["steady", "step"] | None:
    """A leap brought most of it, or each third its part; else it went up and down the hills."""
    tenths = [rise.at((n + 1) / TENTH) - rise.at(n / TENTH) for n in range(TENTH)]
    leaps = [b.resident_bytes - a.resident_bytes for a, b in pairwise(rise.samples)]
    if max(*tenths, *leaps, 0) > LEAP * rise.bytes:
        return "step"
    thirds = [rise.at((n + 1) / 3) - rise.at(n / 3) for n in range(3)]
    return "steady" if min(thirds) >= EACH_THIRD * rise.bytes / 3 else None


def _in_many_pieces(rise: Rise) -> bool:
    """Whether more was asked for between most readings, and never most of it at once."""
    asked = [b.virtual_bytes - a.virtual_bytes for a, b in pairwise(rise.samples)]
    pieces = [one for one in asked if one > PIECE * rise.bytes]
    return len(pieces) >= PIECES and max(pieces) <= LEAP * rise.bytes


def _again_at_one_line(memory: Memory, total: int) -> bool | None:
    """Whether Python stood in the same line of the user's while much was added; None if unknown.

    Two functions are two steps; two lines of one function may be those of a loop.
    """
    looks = [(spot, place) for spot in memory.spots if (place := _own(spot.places))]
    if len(looks) < 2:
        return None
    if len({place.rpartition(" in ")[2] for _, place in looks}) > 1:
        return False
    same = [spot for spot, place in looks if place == looks[-1][1]]
    added = same[-1].resident_bytes - same[0].resident_bytes
    return True if added > ADDED * total else None


def _own(places: Sequence[str]) -> str | None:
    """The innermost place that is the user's own."""
    return next((place for place in places if not NOT_YOURS.search(place)), None)


# ---- in words -------------------------------------------------------------------------------


def _said(growth: Growth, memory: Memory) -> str:
    bars = sparkline(memory.samples)
    limit = f", the limit is {_size(growth.limit_bytes)}" if growth.limit_bytes else ""
    span = f"{_size(growth.start_bytes)} to {_size(growth.end_bytes)}"
    match growth.shape:
        case "flat":
            return f"memory did not grow: {span} {bars}{limit}"
        case "steady":
            speed = _size(int(growth.bytes_per_second or 0))
            return f"memory grew steadily, by {speed} per second for {growth.seconds:.3g} s: {span} {bars}{limit}"
        case "step":
            return f"memory grew by a leap, within {growth.seconds:.3g} s: {span} {bars}{limit}"


def _unclear(memory: Memory) -> Told:
    first, last = memory.samples[0], memory.samples[-1]
    span = f"{_size(first.resident_bytes)} to {_size(last.resident_bytes)}"
    return Told.of(
        f"memory grew from {span} {sparkline(memory.samples)}; whether by many steps or one was not seen"
    )


def _spots(memory: Memory) -> Iterator[Told]:
    seen: set[str] = set()
    for spot in memory.spots:
        place = _own(spot.places) or next(iter(spot.places), "")
        if place and place not in seen:
            seen.add(place)
            yield Told.of(f"at {_size(spot.resident_bytes)} Python was at {place}")


def sparkline(samples: Sequence[Sample]) -> str:
    """The readings as a line of bars, the highest one full."""
    if len(samples) < 2:
        return ""
    rise = Rise(tuple(samples))
    count = min(MOST_BARS, max(len(samples), 2))
    values = [rise.at(n / (count - 1)) for n in range(count)]
    top = max(values) or 1
    return "".join(BARS[min(int(v / top * len(BARS)), len(BARS) - 1)] for v in values)


def _size(count: int | None) -> str:
    if count is None:
        return "?"
    return f"{count / GIB:.1f} GiB" if count >= GIB else f"{count / MIB:.0f} MiB"
