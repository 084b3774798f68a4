"""MemorySanitizer: memory that was read before anybody wrote it.

Looks like::

    ==7701==WARNING: MemorySanitizer: use-of-uninitialized-value
        #0 0x4b2c1e in blur::Sum(float const*, long) /home/ann/blur/blur_op.cc:18:7
      Uninitialized value was created by a heap allocation
        #0 0x43a1d2 in operator new[](unsigned long) msan_new_delete.cpp:48
    SUMMARY: MemorySanitizer: use-of-uninitialized-value /home/ann/blur/blur_op.cc:18:7 in blur::Sum
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from sigwhy.machine.sanitizer_frame import frame, numbered, runs
from sigwhy.model.fact import Checker, Span, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact, Frame

MARKERS = ("MemorySanitizer",)
HEAD = re.compile(
    r"(?:WARNING|ERROR): MemorySanitizer: (?!SEGV|FPE|ILL|BUS|ABRT|TRAP|stack-overflow)([A-Za-z][\w-]*)"
)
SUMMARY = re.compile(
    r"SUMMARY: MemorySanitizer: ([A-Za-z][\w-]*) (\S[^\n]{0,600}?)(?: in (\S.*))?$"
)
ORIGIN = re.compile(r"Uninitialized value was created by")
STORED = re.compile(
    r"Uninitialized value was stored to memory at|Memory was marked as uninitialized"
)
MOST_REPORTS = 20

Role = Literal["fault", "allocated"]


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the reports, the stack of each read and of the allocation it came from."""
    found = runs(evidence.lines)
    role: Role | None = None
    told = 0
    for n, line in enumerate(evidence.lines):
        if n in found and numbered(line):
            if role:
                yield _stack(evidence, n, found[n].last, found[n].frames, role)
            role = None
        elif (head := HEAD.search(line)) and told < MOST_REPORTS:
            role, told = "fault", told + 1
            yield _checker(evidence, n, head[1], None)
        elif not told and (summary := SUMMARY.search(line)):
            told = 1
            yield from _summed_up(evidence, n, summary)
        else:
            role = _of_what_follows(line, role)


def _of_what_follows(line: str, role: Role | None) -> Role | None:
    """Whose stack the line announces; a line that announces none changes nothing."""
    if ORIGIN.search(line):
        return "allocated"
    return None if STORED.search(line) else role


def _summed_up(evidence: Evidence, n: int, summary: re.Match[str]) -> Iterator[Fact]:
    """What a summary says whose report was cut away."""
    yield _checker(evidence, n, summary[1], summary[2])
    if one := frame(f"0x0 in {summary[3] or ''} {summary[2]}"):
        yield _stack(evidence, n, n, (one,), "fault")


def _checker(evidence: Evidence, n: int, kind: str, place: str | None) -> Checker:
    span = Span(evidence=evidence.name, first=n, last=n, words=kind)
    return Checker(span=span, tool="msan", kind=kind, access="read", place=place)


def _stack(
    evidence: Evidence,
    first: int,
    last: int,
    frames: tuple[Frame, ...],
    role: Role,
) -> Stack:
    return Stack(
        span=Span(evidence=evidence.name, first=first, last=last),
        thread=None,
        crashed=role == "fault",
        frames=frames,
        role=role,
    )
