"""LeakSanitizer, alone or inside AddressSanitizer.

Looks like::

    ==31517==ERROR: LeakSanitizer: detected memory leaks
    Direct leak of 192 byte(s) in 3 object(s) allocated from:
        #0 0x7ffa6c6b in __interceptor_malloc asan_malloc_linux.cpp:69
        #1 0x5561ca46 in blur_leak /home/ann/blur/blur_op.cc:35
    SUMMARY: AddressSanitizer: 192 byte(s) leaked in 3 allocation(s).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.sanitizer_frame import numbered, runs
from sigwhy.model.fact import Checker, Notice, Span, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

MARKERS = ("LeakSanitizer", "Direct leak of", "Indirect leak of", "byte(s) leaked in")
HEAD = re.compile(r"LeakSanitizer: (detected memory leaks)")
LEAK = re.compile(r"\b(Direct|Indirect) leak of (\d{1,18}) byte")
TOTAL = re.compile(r"SUMMARY: \w{1,24}: (\d{1,18}) byte\(s\) leaked in \d+ allocation")
UNABLE = re.compile(
    r"LeakSanitizer has encountered a fatal error|LeakSanitizer does not work under ptrace"
)
NEXT = re.compile(r"SUMMARY: |ERROR: |runtime error: ")
MOST_BLOCKS = 20


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield that something leaked, and where the lost blocks were allocated."""
    yield from _words(evidence)
    yield from _blocks(evidence)


def _words(evidence: Evidence) -> Iterator[Fact]:
    said = False
    for n, line in enumerate(evidence.lines):
        if "leak" not in line and "LeakSanitizer" not in line:
            continue
        span = Span(evidence=evidence.name, first=n, last=n)
        if unable := UNABLE.search(line):
            yield Notice(
                span=span, topic="sanitizer-setup", text=unable[0], subject="LeakSanitizer"
            )
        head = HEAD.search(line)
        sized = LEAK.search(line) or TOTAL.search(line)
        if head or (sized and not said):
            said = True
            size = int(sized[sized.re.groups]) if sized else None
            yield Checker(span=span, tool="lsan", kind="memory leaks", size=size)


def _blocks(evidence: Evidence) -> Iterator[Fact]:
    found = runs(evidence.lines)
    leaking = False
    told = 0
    for n, line in enumerate(evidence.lines):
        if LEAK.search(line):
            leaking = True
        elif NEXT.search(line):
            leaking = False
        elif n in found and leaking and numbered(line) and told < MOST_BLOCKS:
            leaking = False
            told += 1
            yield Stack(
                span=Span(evidence=evidence.name, first=n, last=found[n].last),
                thread=None,
                crashed=False,
                frames=found[n].frames,
                role="leaked",
            )
