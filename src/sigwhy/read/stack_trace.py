"""The stack that glog, absl or TensorFlow prints from inside the dying process.

Looks like::

    *** Check failure stack trace: ***
        @     0x7f4f4a70b769  tensorflow::QuantizedConv2DOp<>::Compute()
    *** Aborted at 1700000000 (unix time) try "date -d @1700000000" if you are using GNU date ***
    PC: @     0x7f12ab34cd56 std::string::size()
    *** SIGSEGV (@0x18) received by PID 4711 (TID 0x7f12) from PID 24; stack trace: ***
    *** SIGSEGV received at time=1700000000 on cpu 3 ***
    *** Received signal 11 ***
    *** BEGIN MANGLED STACK TRACE ***
    /usr/lib/libtensorflow_framework.so.2(_ZN3tsl2opEv+0x1d)[0x7f12ab34cd56]
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.place import number, symbolised
from sigwhy.machine.signals import LINUX
from sigwhy.model.fact import Death, Fact, Fault, Frame, Op, Span, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence

MARKERS = (
    "*** Check failure",
    "*** Aborted at",
    "*** SIG",
    "*** Received signal",
    "STACK TRACE ***",
    "stack trace ***",
    "stack trace: ***",
    "    @ ",
    "::Compute",
    "7Compute",
    "12ComputeAsync",
)
OPENS = re.compile(r"\*\*\* (?:BEGIN MANGLED STACK TRACE|Begin stack trace)")
# a library prints this one about an error that it survives
PRINTED = ("*** Begin stack trace",)
AT = re.compile(
    r"(?<![\w.])@ +(?P<pc>0x[0-9a-fA-F]{1,16}) +(?:(?:\d{1,9}|\(unknown\)) +)?(?P<symbol>\S.*)"
)
NAKED = re.compile(r"^\s+(?P<symbol>(?:[A-Za-z_][\w:<>~]*::|_Z)[^\s].*)$")
UNKNOWN = "(unknown)"
SIGNAL = re.compile(
    r"\*\*\* (?P<signal>SIG[A-Z]{2,8}) \(@(?P<address>0x[0-9a-fA-F]{1,16}|\(nil\))\)"
    r" received by PID (?P<pid>\d{1,10})(?: \(TID (?P<tid>0x[0-9a-fA-F]{1,16}|\d{1,10})\))?"
)
RECEIVED = re.compile(r"\*\*\* (?P<signal>SIG[A-Z]{2,8}) received at time=\d")
NUMBERED = re.compile(r"\*\*\* Received signal (?P<number>\d{1,2}) \*\*\*")
FAULTS = ("SIGSEGV", "SIGBUS")
# Compute() of a kernel: its class is the operation, in the names of C++ and of the linker.
KERNEL = re.compile(
    r"(?<!\w)(?P<kernel>(?:(?:[A-Za-z_]\w{0,60}|\(anonymous namespace\))::){0,6}?(?P<op>[A-Z]\w{1,80}?)(?:Op|OpBase|Kernel)?(?:<[^()]{0,900}>)?)"
    r"::Compute(?:Async)?(?: ?\(|$)"
)
CONTEXT = "OpKernelContext"
MANGLED = re.compile(r"_ZN[\w]{2,900}?(?=(?:7Compute|12ComputeAsync)EPNS_15OpKernelContext)")
CLASS = re.compile(r"\d{1,2}(?P<op>[A-Z]\w{1,80}?)(?:Op|OpBase)(?=I|$)")
# Classes above the kernels, which every kernel runs through.
NO_KERNELS = frozenset({"AsyncOp", "Async", "HybridAsyncOp", "HybridAsync", "Op"})
NO_KERNEL = ("Device", "Functor")


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield deaths, the addresses that failed, the stacks, and the kernels on them."""
    for n, line in enumerate(evidence.lines):
        if " ***" in line:
            yield from _deaths(evidence, n, line)
    yield from _stacks(evidence)
    yield from _kernels(evidence)


def _deaths(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    if found := SIGNAL.search(line):
        span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
        tid = number(found["tid"]) if (found["tid"] or "").startswith("0x") else None
        yield Death(span=span, signal=found["signal"], pid=int(found["pid"]), tid=tid)
        if found["signal"] in FAULTS:
            yield Fault(span=span, address=number(found["address"]) or 0)
    elif found := RECEIVED.search(line):
        span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
        yield Death(span=span, signal=found["signal"])
    elif found := NUMBERED.search(line):
        span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
        if signal := LINUX.get(int(found["number"])):
            yield Death(span=span, signal=signal)


def _stacks(evidence: Evidence) -> Iterator[Stack]:
    """Each run of frames. ``@ 0xH NAME`` speaks for itself, the other forms need their head."""
    frames: list[Frame] = []
    head, first, last = "", 0, 0
    for n, line in enumerate(evidence.lines):
        found = OPENS.search(line)
        frame = _frame(line, inside=bool(head)) if not found else None
        if frame:
            first = first if frames else n
            frames.append(frame)
            last = n
            continue
        if frames:
            yield _stack(evidence, head, frames, (first, last))
            head, frames = "", []
        if found:
            head = found[0]
    if frames:
        yield _stack(evidence, head, frames, (first, last))


def _stack(evidence: Evidence, head: str, frames: list[Frame], rows: tuple[int, int]) -> Stack:
    span = Span(evidence=evidence.name, first=rows[0], last=rows[1])
    return Stack(span=span, thread=None, crashed=head not in PRINTED, frames=tuple(frames))


def _frame(line: str, *, inside: bool) -> Frame | None:
    if found := AT.search(line):
        symbol = found["symbol"].strip()
        return Frame(function=None if symbol == UNKNOWN else symbol)
    if inside and (frame := symbolised(line)):
        return frame
    if inside and (found := NAKED.match(line)):
        return Frame(function=found["symbol"])
    return None


def _kernels(evidence: Evidence) -> Iterator[Op]:
    """The kernels that any stack of the text names, each once."""
    seen: set[str] = set()
    for n, line in enumerate(evidence.lines):
        for op, kernel in _computes(line):
            if op not in seen | NO_KERNELS and not op.endswith(NO_KERNEL):
                seen.add(op)
                span = Span(evidence=evidence.name, first=n, last=n, words=kernel)
                yield Op(span=span, framework="tensorflow", op=op, kernel=kernel)


def _computes(line: str) -> Iterator[tuple[str, str]]:
    if "Compute" not in line:
        return
    found = KERNEL.search(line)
    if found and ("tensorflow" in line or CONTEXT in line or f"{found['op']}Op" in line):
        yield found["op"], found["kernel"]
    elif (found := MANGLED.search(line)) and (names := CLASS.findall(found[0])):
        yield names[-1], found[0]
