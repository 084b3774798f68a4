"""What systemd-coredump, coredumpctl and eu-stack tell of a core.

Looks like::

    Process 13508 (python) of user 1000 dumped core.
    Module /venv/lib/fastmerge/_kernel.so without build-id.
    Stack trace of thread 13508:
    #0  0x000070ddfaf0e32c n/a (libc.so.6 + 0x9132c)
    #1  0x000070ddfaebd6c8 raise (libc.so.6 + 0x406c8)
           Signal: 11 (SEGV)
      Command Line: python train.py
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.demangle import demangled
from sigwhy.machine.place import count, number
from sigwhy.machine.signals import signal_named
from sigwhy.model.fact import Death, Frame, Platform, Span
from sigwhy.model.frames import Head, Row, stacks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

DUMPED = re.compile(
    r"Process (?P<pid>\d{1,9}) \((?P<command>[^)\n]{1,64})\) of user \S{1,40} "
    r"(?:dumped core|terminated abnormally(?: with signal (?P<signal>\d{1,3}))?)"
)
SIGNAL = re.compile(r"^\s*Signal: (?P<number>\d{1,3})(?: \((?P<name>[A-Z]{2,10})\))?\s*$")
PID = re.compile(r"^\s*PID: (?P<pid>\d{1,9}) \((?P<command>[^)\n]{1,64})\)")
COMMAND = re.compile(r"^\s*Command Line: (?P<command>\S.{0,400})$")
THREAD = re.compile(r"Stack trace of thread (?P<tid>\d{1,9}):|^\s*TID (?P<eu>\d{1,9}):")
FRAME = re.compile(
    r"^\s*#(?P<number>\d{1,6})\s+0x(?P<pc>[0-9a-fA-F]{4,16})\s+(?P<function>\S.{0,8000}?)"
    r"\s\((?P<module>[^()\n]{1,400}?)(?: \+ (?P<offset>0x[0-9a-fA-F]{1,16}))?\)\s*$"
)
EU_FRAME = re.compile(
    r"^\s*#(?P<number>\d{1,6})\s+0x[0-9a-fA-F]{8,16}(?: - 1)?\s+(?P<function>[^\s(]\S{0,4000})"
    r"(?: - (?P<module>/\S{1,400}))?\s*$"
)
ARCHITECTURE = re.compile(r"ELF object binary architecture: (?P<machine>[\w .+-]{2,40})")
MACHINES = {"AMD x86-64": "x86_64", "AARCH64": "arm64", "Intel 80386": "i386", "ARM": "arm"}
MARKERS = (
    "dumped core", "Stack trace of thread", "n/a (", " + 0x", "Signal: ", "ELF object binary",
    "terminated abnormally", "TID ",
)  # fmt: skip
UNKNOWN = "n/a"
NEAR = 12


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the death, the machine and the stacks."""
    yield from _deaths(evidence)
    for n, line in enumerate(evidence.lines):
        if found := ARCHITECTURE.search(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0].rstrip())
            machine = MACHINES.get(found["machine"].strip())
            if machine:
                yield Platform(span=span, system="linux", machine=machine)
    yield from stacks(evidence.name, _marks(evidence))


def _deaths(evidence: Evidence) -> Iterator[Fact]:
    pid, command = None, None
    for n, line in enumerate(evidence.lines):
        if found := PID.match(line):
            pid, command = count(found["pid"]), found["command"]
        elif (found := SIGNAL.match(line)) and pid is not None:
            signal = signal_named(found["number"])
            told = next(
                (c["command"] for row in evidence.lines[n : n + NEAR] if (c := COMMAND.match(row))),
                command,
            )
            if signal:
                span = Span(evidence=evidence.name, first=n, last=n, words=found[0].strip())
                yield Death(span=span, signal=signal, pid=pid, command=told)
        elif (found := DUMPED.search(line)) and found["signal"]:
            signal = signal_named(found["signal"])
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
            if signal:
                yield Death(
                    span=span, signal=signal, pid=count(found["pid"]), command=found["command"]
                )


def _marks(evidence: Evidence) -> Iterator[Head | Row]:
    begun = False
    for n, line in enumerate(evidence.lines):
        if found := THREAD.search(line):
            thread = found["tid"] or found["eu"]
            # The thread that died comes first, whatever its number.
            yield Head(line=n, thread=thread, crashed=not begun)
            begun = True
        elif found := FRAME.match(line):
            begun = True
            yield _row(n, found, offset=number(found["offset"]))
        elif found := EU_FRAME.match(line):
            begun = True
            yield _row(n, found, offset=None)


def _row(n: int, found: re.Match[str], *, offset: int | None) -> Row:
    name = found["function"].strip()
    known = name not in (UNKNOWN, "???")
    frame = Frame(
        function=demangled(name) if known else None,
        library=found["module"],
        offset=None if known else offset,
    )
    return Row(first=n, last=n, number=int(found["number"]), frame=frame)
