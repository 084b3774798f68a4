"""What PyTorch says when it gives up: its asserts, its C++ frames, its signal handlers.

Looks like::

    RuntimeError: [enforce fail at inline_container.cc:424] . unexpected pos 128 vs 22
    RuntimeError: self.dim() == 2 INTERNAL ASSERT FAILED at "../aten/src/ATen/native/X.cpp":97, please report a bug to PyTorch.
    Exception raised from check at ../c10/util/x.cpp:51 (most recent call first):
    frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x57 (0x7f12ab34cd56 in /x/libc10.so)
    SIGSEGV(11), PID: 4711, Thread 4720:
    ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).
    #3 0x00007f in at::native::mkldnn_convolution(at::Tensor const&) () from /x/libtorch_cpu.so
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.signals import signal_named
from sigwhy.model.fact import Check, Death, Fact, Frame, Notice, Op, Span, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence

MARKERS = (
    "[enforce fail at ",
    "INTERNAL ASSERT FAILED",
    "frame #",
    "Exception raised from ",
    "encountered in worker",
    "PID: ",
    "at::",
    "torch.load",
    "PytorchStreamReader",
    "Attempting to deserialize",
    "unpickling_error",
    "Invalid magic number",
    "failed finding central directory",
)
ENFORCED = re.compile(
    r"\[enforce fail at (?P<file>[\w./\\+-]{1,300}):(?P<line>\d{1,6})\] ?(?P<text>.*)"
)
ASSERTED = re.compile(
    r"INTERNAL ASSERT FAILED at [\"'](?P<file>[^\"']{1,300})[\"']:(?P<line>\d{1,6})"
    r"(?:, please report a bug to PyTorch)?[.,]? ?(?P<text>.*)"
)
EXCEPTION_NAME = re.compile(r"^(?:[\w.]{1,60}(?:Error|Exception)|what\(\)): +")
FRAME = re.compile(
    r"frame #(?P<number>\d{1,4}): (?P<symbol>\S.*?)"
    r"(?: \+ (?P<offset>0x[0-9a-f]{1,16}|\d{1,12}))?"
    r"(?: \((?P<pc>0x[0-9a-f]{1,16}) in (?P<library>[^()]{1,400})\))?$"
)
NO_NAME = ("<unknown function>", "<unknown symbol>")
HANDLER = re.compile(r"\b(?P<signal>SIG[A-Z]{2,6})\((?P<number>\d{1,2})\), PID: (?P<pid>\d{1,10})")
WORKER = re.compile(r"Unexpected (?P<words>[a-z -]{5,40}) encountered in worker")
WORDS = {"floating-point exception": "SIGFPE"}
SHARED_MEMORY = re.compile(r"insufficient shared memory \(shm\)")
# The dispatcher calls each operator by name: at::_ops::conv2d::call(...)
OPERATOR = re.compile(r"\bat::_ops::(?P<op>\w{1,80})::(?:call|redispatch)\(")
KERNEL = re.compile(
    r"(?<!\w)(?P<kernel>at::native::(?:\(anonymous namespace\)::)?(?P<op>[a-z_]\w{1,80}))[(<]"
)
ALLOCATES = re.compile(r"allocat|not enough memory", re.IGNORECASE)
# A file that torch.load() could not read.
BROKEN_FILE = (
    re.compile(r"PytorchStreamReader failed (?:reading|finding|locating|read|to)[\w ./:-]{0,80}"),
    re.compile(r"failed finding central directory"),
    re.compile(r"Invalid magic number; corrupt file\?"),
)


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield failed asserts, deaths, stacks, operators and files that could not be read."""
    for n, line in enumerate(evidence.lines):
        yield from _asserts(evidence, n, line)
        yield from _deaths(evidence, n, line)
        for pattern in BROKEN_FILE:
            if found := pattern.search(line):
                span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
                yield Notice(
                    span=span,
                    topic="model-damaged",
                    text=found[0],
                    subject="checkpoint",
                    mechanism="no-crash",
                )
                break
    yield from _stacks(evidence)
    yield from _operators(evidence)


def _asserts(evidence: Evidence, n: int, line: str) -> Iterator[Check]:
    if found := ENFORCED.search(line):
        expression, detail = found["text"].strip(" ."), ""
        if ALLOCATES.search(expression):
            return
        expression, _, detail = expression.partition(". ")
    elif found := ASSERTED.search(line):
        before = line[: found.start()].strip()
        expression, detail = EXCEPTION_NAME.sub("", before), found["text"].strip()
    else:
        return
    yield Check(
        span=Span(evidence=evidence.name, first=n, last=n, words=found[0].strip()),
        framework="torch",
        expression=expression or detail,
        detail=detail,
        file=found["file"],
        line=int(found["line"]),
    )


def _deaths(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    if found := HANDLER.search(line):
        span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
        yield Death(span=span, signal=found["signal"], pid=int(found["pid"]))
    elif found := WORKER.search(line):
        span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
        words = found["words"]
        if signal := WORDS.get(words) or signal_named(words):
            yield Death(span=span, signal=signal)
    if found := SHARED_MEMORY.search(line):
        span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
        yield Notice(span=span, topic="shared-memory-full", text=found[0], subject="/dev/shm")  # noqa: S108 -- the name that Linux gives it


def _stacks(evidence: Evidence) -> Iterator[Stack]:
    """Each run of frames; a run ends where the numbers begin again or another line stands."""
    frames: list[Frame] = []
    first = last = 0
    for n, line in enumerate(evidence.lines):
        found = FRAME.search(line.rstrip()) if "frame #" in line and "`" not in line else None
        if frames and (not found or found["number"] == "0"):
            yield _stack(evidence, frames, first, last)
            frames = []
        if found:
            first = first if frames else n
            frames.append(_frame(found))
            last = n
    if frames:
        yield _stack(evidence, frames, first, last)


def _stack(evidence: Evidence, frames: list[Frame], first: int, last: int) -> Stack:
    span = Span(evidence=evidence.name, first=first, last=last)
    return Stack(span=span, thread=None, crashed=True, frames=tuple(frames))


def _frame(found: re.Match[str]) -> Frame:
    symbol = found["symbol"]
    return Frame(function=None if symbol in NO_NAME else symbol, library=found["library"])


def _operators(evidence: Evidence) -> Iterator[Op]:
    """The operators that any stack of the text names, each once, the innermost first."""
    seen = set()
    for n, line in enumerate(evidence.lines):
        found = OPERATOR.search(line) or KERNEL.search(line) if "at::" in line else None
        if found and found["op"] not in seen:
            seen.add(found["op"])
            kernel = found.groupdict().get("kernel")
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0].rstrip("(<"))
            yield Op(span=span, framework="torch", op=found["op"], kernel=kernel)
