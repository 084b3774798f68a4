"""What Open MPI (and PRRTE) print when a process of a job receives a deadly signal.

Looks like::

    [node0:00019] *** Process received signal ***
    [node0:00019] Signal: Segmentation fault (11)
    [node0:00019] Signal code: Address not mapped (1)
    [node0:00019] Failing at address: 0x88
    [node0:00019] [ 0] /lib/x86_64-linux-gnu/libpthread.so.0(+0x11390)[0x7fe686661390]
    [node0:00019] *** End of error message ***
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.demangle import demangled
from sigwhy.machine.place import count, number, symbolised
from sigwhy.machine.signals import code_named, signal_named
from sigwhy.model.fact import Death, Fault, Frame, Span
from sigwhy.model.frames import Head, Row, stacks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

RECEIVED = "*** Process received signal ***"
SIGNAL = re.compile(
    r"(?:^|\] |:)\s*Signal: (?P<means>[A-Z][\w /.-]{2,60}?) ?\((?P<number>\d{1,3})\)\s*$"
)
CODE = re.compile(r"Signal code: (?P<means>[\w /.-]{0,60}?) ?\((?P<number>-?\d{1,6})\)\s*$")
ADDRESS = re.compile(r"Failing at address: (?P<address>0x[0-9a-fA-F]{1,16}|\(nil\))")
PID = re.compile(r"\[[\w.-]{1,100}:(?P<pid>\d{1,9})\]")
FRAME = re.compile(r"(?:^|\s|\])\[ {0,2}(?P<number>\d{1,4})\] (?P<rest>\S.*)$")
# On macOS: ``2   libfast.dylib   0x000000010 merge + 44``.
MACH = re.compile(
    r"^\d{1,4}\s+(?P<library>\S{1,200})\s+0x[0-9a-fA-F]+\s+(?P<function>\S.{0,2000}?)(?: \+ \d{1,12})?$"
)
MARKERS = ("Process received signal", "Signal: ", "Signal code: ", "Failing at address", "] [")
NEAR = 8


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the signal, the address and the stack of each process that died."""
    signal, told = None, -NEAR - 1
    for n, line in enumerate(evidence.lines):
        span = Span(evidence=evidence.name, first=n, last=n)
        if found := SIGNAL.search(line):
            signal, told = signal_named(found["means"]) or signal_named(found["number"]), n
            if signal:
                yield _death(evidence, n, signal)
        elif found := ADDRESS.search(line):
            words = Span(evidence=evidence.name, first=n, last=n, words=found[0])
            nil = found["address"] == "(nil)"
            if signal in ("SIGSEGV", "SIGBUS") or n - told > NEAR:
                yield Fault(span=words, address=0 if nil else number(found["address"]))
        elif (found := CODE.search(line)) and n - told > NEAR:
            code = code_named(None, found["means"]) or ""
            signal = KINDS.get(code.partition("_")[0])
            if signal:
                yield Death(span=span, signal=signal, code=code)
    yield from stacks(evidence.name, _marks(evidence))


KINDS = {"SEGV": "SIGSEGV", "BUS": "SIGBUS", "FPE": "SIGFPE", "ILL": "SIGILL"}


def _death(evidence: Evidence, n: int, signal: str) -> Fact:
    """The signal, with its code from one of the next lines."""
    code, last = None, n
    for m in range(n + 1, min(n + NEAR, len(evidence.lines))):
        if found := CODE.search(evidence.lines[m]):
            code = code_named(signal, found["number"]) or code_named(signal, found["means"])
            last = m
            break
    pid = PID.search(evidence.lines[n])
    span = Span(evidence=evidence.name, first=n, last=last, words=evidence.lines[n].strip())
    return Death(span=span, signal=signal, code=code, pid=count(pid["pid"]) if pid else None)


def _marks(evidence: Evidence) -> Iterator[Head | Row]:
    for n, line in enumerate(evidence.lines):
        if RECEIVED in line:
            pid = PID.search(line)
            yield Head(line=n, thread=pid["pid"] if pid else None, crashed=True)
        elif "[" in line and (found := FRAME.search(line)):
            frame = _frame(found["rest"])
            if frame:
                yield Row(first=n, last=n, number=int(found["number"]), frame=frame)


def _frame(rest: str) -> Frame | None:
    if mach := MACH.match(rest):
        return Frame(function=demangled(mach["function"].strip()), library=mach["library"])
    if rest.startswith("[0x"):
        return Frame()
    return symbolised(rest)
