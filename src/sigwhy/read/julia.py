"""What Julia prints when it receives a deadly signal.

Looks like::

    [8123] signal 11 (1): Segmentation fault
    signal (11): Segmentation fault
    in expression starting at /home/me/run.jl:4
    merge_sorted at /opt/julia/lib/libfast.so (unknown line)
    unknown function (ip: 0x7f21b10)
    Allocations: 2650 (Pool: 2640; Big: 10); GC: 0
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.demangle import demangled
from sigwhy.machine.place import count, file_and_line
from sigwhy.machine.signals import code_named, signal_named
from sigwhy.model.fact import Death, Frame, Span
from sigwhy.model.frames import Head, Row, stacks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

SIGNAL = re.compile(
    r"(?:\[(?P<pid>\d{1,9})\] )?signal (?:\((?P<old>\d{1,3})(?:\.(?P<sub>-?\d{1,4}))?\)"
    r"|(?P<new>\d{1,3}) \((?P<code>-?\d{1,6})\)): (?P<means>[A-Z][\w /-]{2,60})"
)
WINDOWS = re.compile(
    r"Please submit a bug report with steps to reproduce this fault|Exception: EXCEPTION_(?P<name>\w{3,30}) at 0x"
)
STARTING = re.compile(
    r"in expression starting at (?P<place>\S.{0,300}:\d{1,8})\s*$|while loading (?P<old>\S.{0,300}), in expression starting on line (?P<line>\d{1,8})"
)
FRAME = re.compile(
    r"^\s*(?P<function>[^\s(\[:][^\n]{0,400}?) at (?P<place>[^\s][^\n]{0,400}?)"
    r"(?P<unknown> \(unknown line\))?(?: \[inlined\])?\s*$"
)
NO_NAME = re.compile(
    r"^\s*unknown function \(ip: 0x[0-9a-fA-F]+\)(?: at (?P<library>\S.{0,400}))?\s*$"
)
ENDS = re.compile(r"^\s*Allocations: \d")
MARKERS = (
    "signal (",
    ") signal ",
    "] signal ",
    "signal 11 (",
    "(unknown line)",
    "unknown function (ip",
    "signal 6 (",
    "signal 4 (",
    "signal 7 (",
)
WINDOWS_NAMES = {"ACCESS_VIOLATION": "SIGSEGV", "ILLEGAL_INSTRUCTION": "SIGILL"}


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the signal and the stack under it."""
    for n, line in enumerate(evidence.lines):
        if found := SIGNAL.search(line):
            signal = signal_named(found["means"]) or signal_named(found["old"] or found["new"])
            if signal:
                span = Span(evidence=evidence.name, first=n, last=n, words=found[0].rstrip())
                code = code_named(signal, found["sub"] or found["code"] or "")
                yield Death(span=span, signal=signal, code=code, pid=count(found["pid"]))
        elif (found := WINDOWS.search(line)) and found["name"] in WINDOWS_NAMES:
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
            yield Death(span=span, signal=WINDOWS_NAMES[found["name"]])
    yield from stacks(evidence.name, _marks(evidence))


def _marks(evidence: Evidence) -> Iterator[Head | Row]:
    inside = False
    for n, line in enumerate(evidence.lines):
        if SIGNAL.search(line) or WINDOWS.search(line):
            inside = True
            yield Head(line=n, crashed=True)
        elif ENDS.match(line):
            inside = False
        elif STARTING.search(line):
            continue
        elif (frame := _frame(line, inside=inside)) is not None:
            yield Row(first=n, last=n, number=None, frame=frame)


def _frame(line: str, *, inside: bool) -> Frame | None:
    """A frame; outside of a block only where its form can be nothing else."""
    if found := NO_NAME.match(line):
        return Frame(library=found["library"])
    found = FRAME.match(line)
    if not found:
        return None
    name = demangled(found["function"].strip())
    if found["unknown"]:
        return Frame(function=name, library=found["place"])
    file, at = file_and_line(found["place"])
    if not inside or at is None:
        return None
    return Frame(function=name, file=file, line=at)
