"""What PaddlePaddle prints when it dies: its C++ traceback and the error summary.

Looks like::

    C++ Traceback (most recent call last):
    --------------------------------------
    0   paddle::imperative::Tracer::TraceOp(std::string const&)
    1   phi::KernelFactory::Instance()
    ----------------------
    Error Message Summary:
    ----------------------
    FatalError: `Segmentation fault` is detected by the operating system.
      [SignalInfo: *** SIGSEGV (@0x0) received by PID 4711 (TID 0x7f12) from PID 0 ***]
    InvalidArgumentError: The 'shape' must be positive.
      [Hint: Expected rank > 0, but received rank:0 <= 0:0.] (at /paddle/paddle/phi/infermeta/unary.cc:812)
      [operator < reshape2 > error]
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.signals import signal_named
from sigwhy.model.fact import Check, Death, Fact, Frame, Op, Span, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence

MARKERS = (
    "C++ Traceback (most recent", "C++ Call Stacks (More", "is detected by the operating system",
    "[Hint: Expected", "[operator < ",
)  # fmt: skip
HEAD = re.compile(r"C\+\+ (?:Traceback \(most recent call last\)|Call Stacks \(More useful)")
FRAME = re.compile(r"^\s*(?P<number>\d{1,3})\s{1,4}(?P<symbol>[A-Za-z_~(][^\s].*|[A-Za-z_]\w*)$")
RULE = re.compile(r"^\s*-{3,}\s*$")
DETECTED = re.compile(
    r"FatalError: [`'](?P<words>[A-Za-z ]{4,40})[`'] is detected by the operating"
)
WORDS = {
    "process abort signal": "SIGABRT",
    "access to an undefined portion of a memory object": "SIGBUS",
    "erroneous arithmetic operation": "SIGFPE",
    "termination signal": "SIGTERM",
}
EXPECTED = re.compile(
    r"\[Hint: Expected (?P<expression>.{1,300}?), but (?P<detail>received .{1,300}?)\.?\]"
    r"(?: \(at (?P<file>[\w./\\:-]{1,300}?):(?P<line>\d{1,6})\))?"
)
OPERATOR = re.compile(r"\[operator < (?P<op>\w{1,80}) > error\]")


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the stack, the death, the condition that failed and the operator."""
    for n, line in enumerate(evidence.lines):
        if HEAD.search(line) and (stack := _stack(evidence, n)):
            yield stack
        yield from _words(evidence, n, line)


def _words(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    if found := DETECTED.search(line):
        span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
        words = found["words"].lower()
        if signal := WORDS.get(words) or signal_named(words):
            yield Death(span=span, signal=signal)
    if found := EXPECTED.search(line):
        span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
        yield Check(
            span=span,
            framework="paddle",
            expression=found["expression"],
            detail=found["detail"],
            file=found["file"],
            line=int(found["line"]) if found["line"] else None,
        )
    if found := OPERATOR.search(line):
        span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
        yield Op(span=span, framework="paddle", op=found["op"])


def _stack(evidence: Evidence, head: int) -> Stack | None:
    """The numbered frames below the head; the innermost stands last."""
    frames, last = [], head
    for n in range(head + 1, len(evidence.lines)):
        line = evidence.lines[n]
        if found := FRAME.match(line):
            frames.append(Frame(function=found["symbol"].strip()))
            last = n
        elif not RULE.match(line) or frames:
            break
    if not frames:
        return None
    span = Span(evidence=evidence.name, first=head, last=last)
    return Stack(span=span, thread=None, crashed=True, frames=tuple(reversed(frames)))
