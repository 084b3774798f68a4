"""What UCX and UCC print when a process receives a deadly signal.

Looks like::

    [node0:8123 :0:8156] Caught signal 11 (Segmentation fault: address not mapped to object at address 0x20)
    ==== backtrace (tid:   8156) ====
     0 0x0000000000043090 killpg()  ???:0
     1  /usr/lib/libfast.so(merge_sorted+0x2c) [0x7f12]
    =================================
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.demangle import demangled
from sigwhy.machine.place import count, file_and_line, number, symbolised
from sigwhy.machine.signals import code_named, signal_named
from sigwhy.model.fact import Death, Fault, Frame, Span
from sigwhy.model.frames import Head, Row, stacks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

CAUGHT = re.compile(
    r"Caught signal (?P<number>\d{1,3}) \((?P<means>[A-Z][\w /.-]{2,60})"
    r"(?:: (?P<detail>[\w /.-]{2,80}?))?(?: at address (?P<address>0x[0-9a-fA-F]{1,16}|\(nil\)))?\)"
)
WHO = re.compile(r"\[[\w.-]{1,100}:(?P<pid>\d{1,9})\s*:\d{1,6}:(?P<tid>\d{1,9})\]")
BEGINS = re.compile(r"==== backtrace (?:\(tid:\s*(?P<tid>\d{1,9})\) )?====")
NAMED = re.compile(
    r"^\s*(?P<number>\d{1,4}) +(?:0x[0-9a-fA-F]{4,16}) (?P<function>[^\s(]\S{0,2000}?)(?:\(\))?\s+(?P<place>\S{1,400}:\d{1,8})\s*$"
)
LISTED = re.compile(r"^\s*(?P<number>\d{1,4}) +(?P<rest>/\S.*|\S+\.so\S*.*|\S+\(.*)$")
# Where sources are there, each frame comes with some lines of them.
SOURCE = re.compile(
    r"(?:^|\s)(?P<file>/[^\s:\[\]]{1,400}): \[ (?P<function>[^\]\n]{1,2000}?)(?:\(\))? \]"
)
SOURCE_LINE = re.compile(r"^\s*==>\s+(?P<line>\d{1,8})\b")
MARKERS = ("Caught signal", "==== backtrace", "???:0", ") [0x", "==>")
FAULTS = ("SIGSEGV", "SIGBUS")
NEAR = 12


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the signal, the address and the stacks."""
    for n, line in enumerate(evidence.lines):
        if found := CAUGHT.search(line):
            yield from _caught(evidence, n, found)
    yield from stacks(evidence.name, _marks(evidence))


def _caught(evidence: Evidence, n: int, found: re.Match[str]) -> Iterator[Fact]:
    signal = signal_named(found["means"]) or signal_named(found["number"])
    if not signal:
        return
    who = WHO.search(evidence.lines[n])
    span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
    yield Death(
        span=span,
        signal=signal,
        code=code_named(signal, found["detail"] or ""),
        pid=count(who["pid"]) if who else None,
        tid=count(who["tid"]) if who else None,
    )
    if found["address"] and signal in FAULTS:
        nil = found["address"] == "(nil)"
        yield Fault(span=span, address=0 if nil else number(found["address"]))


def _marks(evidence: Evidence) -> Iterator[Head | Row]:
    inside = False
    for n, line in enumerate(evidence.lines):
        if found := BEGINS.search(line):
            inside = True
            yield Head(line=n, thread=found["tid"], crashed=True)
        elif inside and line.startswith("====="):
            inside = False
        elif found := NAMED.match(line):
            file, at = file_and_line(found["place"])
            frame = Frame(
                function=demangled(found["function"]), file=file, line=at if file else None
            )
            yield Row(first=n, last=n, number=int(found["number"]), frame=frame)
        elif inside and (row := _listed(n, line)):
            yield row
        elif found := SOURCE.search(line):
            last, at = _source_line(evidence, n)
            frame = Frame(function=found["function"].strip(), file=found["file"], line=at)
            yield Row(first=n, last=last, number=None, frame=frame)


def _listed(n: int, line: str) -> Row | None:
    found = LISTED.match(line)
    frame = symbolised(found["rest"]) if found else None
    if not found or not frame:
        return None
    return Row(first=n, last=n, number=int(found["number"]), frame=frame)


def _source_line(evidence: Evidence, n: int) -> tuple[int, int | None]:
    for m in range(n + 1, min(n + NEAR, len(evidence.lines))):
        if found := SOURCE_LINE.match(evidence.lines[m]):
            return m, int(found["line"])
        if SOURCE.search(evidence.lines[m]):
            break
    return n, None
