"""What the kernel wrote in its log: whom it killed for memory, who died where, what broke."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

RECORDS = "/dev/kmsg"
MOST_RECORDS = 200_000
RECORD_BYTES = 8192
SLACK = 2.0  # seconds by which the clock of the log may differ from ours
BEFORE = 120  # records of one report of the OOM killer, before it names its victim
# 6,339,5140900,-;Memory cgroup out of memory: Killed process 811 (python) total-vm:9876kB
RECORD = re.compile(r"^\d{1,6},(?P<number>\d{1,20}),(?P<micros>\d{1,20}),[^;]{0,40};(?P<words>.*)$")
KILLED = re.compile(r"Killed process (?P<pid>\d{1,10})\b")
OOM_LEAD = re.compile(r"invoked oom-killer|^memory: usage|^oom-kill:")
HARDWARE = re.compile(
    r"\[Hardware Error\]|Machine check events|mce: |EDAC \w+: .*(?:CE|UE) |Memory failure: 0x"
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the log: seconds since the start of the machine, and its words."""

    seconds: float
    words: str

    def __str__(self) -> str:
        return f"[{self.seconds:12.6f}] {self.words}"


class CannotReadError(Exception):
    """The log may not be read; the message says why."""


def lines(since: float = 0.0) -> list[Line]:
    """The lines of the log from this second on (time.monotonic); raises ``CannotReadError``."""
    try:
        handle = os.open(RECORDS, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise CannotReadError(f"{RECORDS}: {error.strerror}") from None
    found: list[Line] = []
    try:
        for _ in range(MOST_RECORDS):
            try:
                record = os.read(handle, RECORD_BYTES)
            except BrokenPipeError:  # overwritten while we read: the next record follows
                continue
            if line := _line(record):
                found.append(line)
    except OSError:  # nothing more has been written
        pass
    finally:
        os.close(handle)
    return [line for line in found if line.seconds >= since - SLACK]


def _line(record: bytes) -> Line | None:
    first = record.split(b"\n", 1)[0].decode("utf-8", "replace")
    found = RECORD.match(first)
    return Line(int(found["micros"]) / 1e6, found["words"]) if found else None


def killed(since: float) -> set[int]:
    """Whom the kernel killed for memory from this second on, as far as the log may be read."""
    try:
        log = lines(since)
    except CannotReadError:
        return set()
    return {int(found["pid"]) for line in log if (found := KILLED.search(line.words))}


def hardware(since: float) -> list[str]:
    """What the kernel says of hardware that failed, as far as the log may be read."""
    try:
        return [str(line) for line in lines(since) if HARDWARE.search(line.words)]
    except CannotReadError:
        return []


def about(pids: set[int], log: list[Line]) -> list[Line]:
    """The lines that speak of these processes, and of hardware that failed."""
    ours = re.compile(
        rf"(?:[Pp]rocess |pid=|pid: |\[)(?:{'|'.join(map(str, sorted(pids)))})(?=[ ,:\])]|$)"
    )
    wanted: set[int] = set()
    for n, line in enumerate(log):
        if HARDWARE.search(line.words):
            wanted.add(n)
        elif ours.search(line.words) and not line.words.startswith("[  "):
            wanted |= {n, *_lead(n, log)} if "ill" in line.words else {n}
    return [log[n] for n in sorted(wanted)]


def _lead(end: int, log: list[Line]) -> list[int]:
    """The lines of the same report that tell the limit and who asked for one page too many."""
    found: list[int] = []
    for n in range(end - 1, max(end - BEFORE, -1), -1):
        if "Killed process" in log[n].words:
            break
        if OOM_LEAD.search(log[n].words):
            found.append(n)
    return found
