"""ThreadSanitizer: data races, lock orders and threads that nobody joined.

Looks like::

    WARNING: ThreadSanitizer: data race (pid=11791)
      Write of size 4 at 0x7b0800000038 by thread T2:
        #0 Cache::Add(int) /home/ann/cache.cc:9 (train+0x2384)
      Previous read of size 4 at 0x7b0800000038 by main thread (mutexes: write M9):
        #0 Cache::Size() const <null> (libcache.so+0x2401) (BuildId: 9fd0)
      Location is heap block of size 32 at 0x7b0800000020 allocated by main thread:
    SUMMARY: ThreadSanitizer: data race /home/ann/cache.cc:9 in Cache::Add(int)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sigwhy.machine.sanitizer_frame import Run, frame, numbered, runs
from sigwhy.model.fact import Checker, Span, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Access, Fact

MARKERS = ("ThreadSanitizer",)
HEAD = re.compile(r"(?:WARNING: |^\s*)ThreadSanitizer: ([a-z][^\n]{2,160}?)(?: \(pid=\d+\))?\s*$")
ACCESS = re.compile(
    r"\b(?:Atomic |atomic )?([Rr]ead|[Ww]rite) of size (\d{1,9}) at (0x[0-9a-fA-F]{1,16}) by (main thread|thread \w{1,9}|goroutine \d+)"
)
PREVIOUS = re.compile(r"\bPrevious (?:atomic )?(?:read|write) of size")
HELD = re.compile(r"\bMutex M\d+ (?:\(0x[0-9a-f]+\) )?acquired here while holding")
STARTED = re.compile(r"^\s*Thread T\d+ .{0,160}created by")
ASIDE = re.compile(
    r"^\s*(?:Location is |As if synchronized|Mutex M\d+ .{0,80}created at|Issued|Hint: )"
)
SUMMARY = re.compile(
    r"SUMMARY: ThreadSanitizer: ([a-z][a-z -]*(?:\([^()]*\))?)(?: (\S[^\n]{0,400}?))?(?: in (\S.*))?$"
)
MOST_REPORTS = 20

Role = Literal["fault", "previous"]


@dataclass(slots=True)
class _Reading:
    """The report that is being read."""

    reports: int = 0
    kind: str = ""
    role: Role | None = None
    stacks: int = 0
    thread: str | None = None


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the reports and the stacks of both parties."""
    found = runs(evidence.lines)
    reading = _Reading()
    for n, line in enumerate(evidence.lines):
        if (run := found.get(n)) and numbered(line):
            if reading.role:
                yield _stack(evidence, run, reading)
                reading.stacks += 1
            reading.role = None
        elif "ThreadSanitizer" in line:
            yield from _head(evidence, n, reading)
        else:
            _hear(line, reading)


def _head(evidence: Evidence, n: int, reading: _Reading) -> Iterator[Fact]:
    line = evidence.lines[n]
    if (head := HEAD.search(line)) and reading.reports < MOST_REPORTS:
        reading.reports += 1
        reading.kind, reading.role, reading.stacks = head[1], "fault", 0
        touched = ACCESS.search(evidence.lines[n + 1]) if n + 1 < len(evidence.lines) else None
        yield Checker(
            span=Span(evidence=evidence.name, first=n, last=n, words=head[1]),
            tool="tsan",
            kind=head[1],
            access=_access(touched[1]) if touched else "unknown",
            size=int(touched[2]) if touched else None,
            address=int(touched[3], 16) if touched else None,
        )
    elif not reading.reports and (summary := SUMMARY.search(line)):
        span = Span(evidence=evidence.name, first=n, last=n, words=summary[1])
        yield Checker(span=span, tool="tsan", kind=summary[1].strip(), place=summary[2])
        if summary[2] and (one := frame(f"0x0 in {summary[3] or ''} {summary[2]}")):
            yield Stack(span=span, thread=None, crashed=True, frames=(one,))


def _hear(line: str, reading: _Reading) -> None:
    if not reading.reports:
        if touched := ACCESS.search(line):  # the head was cut away
            reading.role = "previous" if PREVIOUS.search(line) else "fault"
            reading.thread = touched[4].removeprefix("thread ")
    elif touched := ACCESS.search(line):
        reading.role = "previous" if PREVIOUS.search(line) or reading.stacks else "fault"
        reading.thread = touched[4].removeprefix("thread ")
    elif HELD.search(line):
        reading.role = "previous" if reading.stacks else "fault"
    elif STARTED.search(line):
        reading.role = "fault" if reading.kind == "thread leak" and not reading.stacks else None
    elif ASIDE.search(line):
        reading.role = None


def _access(word: str) -> Access:
    return "read" if word.lower() == "read" else "write"


def _stack(evidence: Evidence, run: Run, reading: _Reading) -> Stack:
    return Stack(
        span=Span(evidence=evidence.name, first=run.first, last=run.last),
        thread=reading.thread,
        crashed=reading.role == "fault",
        frames=run.frames,
        role=reading.role or "fault",
    )
