"""AddressSanitizer, whole, torn or condensed; and the signals that any sanitizer reports.

Looks like::

    ==584==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6080f80 at pc 0x7fb5 bp 0x7f
    WRITE of size 4 at 0x6080f80 thread T0
        #0 0x7fb5f082 in blur::BlurOp::Compute(blur::Context*) /home/ann/blur/blur_op.cc:15
    0x6080f80 is located 0 bytes after 96-byte region [0x6080f20,0x6080f80)
    allocated by thread T0 here:
        #0 0x7fb5ed5b in operator new[](unsigned long) asan_new_delete.cpp:98
    SUMMARY: AddressSanitizer: heap-buffer-overflow /home/ann/blur/blur_op.cc:15 in blur::BlurOp
    ==585==ERROR: AddressSanitizer: SEGV on unknown address 0x00000000000c (pc 0x5570 bp 0x7f T0)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sigwhy.machine.sanitizer_frame import Run, frame, numbered, runs
from sigwhy.model.fact import Allocation, Check, Checker, Death, Fault, Frame, Notice, Span, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Access, Fact

MARKERS = (
    "AddressSanitizer",
    "ASan runtime does not come first",
    "GWP-ASan",
    "Sanitizer: SEGV",
    "Sanitizer: FPE",
    "Sanitizer: ILL",
    "Sanitizer: BUS",
    "Sanitizer: ABRT",
    "Sanitizer: TRAP",
    "Sanitizer: stack-overflow",
)
TOOLS = {
    "Address": "asan",
    "HWAddress": "asan",
    "Leak": "lsan",
    "Memory": "msan",
    "Thread": "tsan",
    "UndefinedBehavior": "ubsan",
}
DEADLY = {
    "SEGV": "SIGSEGV",
    "FPE": "SIGFPE",
    "ILL": "SIGILL",
    "BUS": "SIGBUS",
    "ABRT": "SIGABRT",
    "TRAP": "SIGTRAP",
    "stack-overflow": "SIGSEGV",
}
# What it says where it does not begin with a kind, and the kind it puts into its summary.
SENTENCES = {
    "attempting free on address": "bad-free",
    "attempting double-free": "double-free",
    "requested allocation size": "allocation-size-too-big",
    "allocator is out of memory": "out-of-memory",
    "specified RSS limit exceeded": "out-of-memory",
    "memory ranges overlap": "memcpy-param-overlap",
    "attempting to call malloc_usable_size": "bad-malloc_usable_size",
    "attempting to call __sanitizer_get_allocated_size": "bad-__sanitizer_get_allocated_size",
    "Use After Free": "heap-use-after-free",
    "Double Free": "double-free",
    "Invalid (Wild) Free": "bad-free",
    "Buffer Overflow": "heap-buffer-overflow",
    "Buffer Underflow": "heap-buffer-underflow",
}
HEAD = re.compile(
    r"(?:ERROR|WARNING): (HWAddress|Address)Sanitizer:? (?!CHECK|failed to)([^\s:][^\n]{0,400})"
)
DIED = re.compile(
    r"(\w{1,20})Sanitizer: (SEGV|FPE|ILL|BUS|ABRT|TRAP|stack-overflow) on (?:unknown )?address(?: (0x[0-9a-fA-F]{1,16}))?"
)
GWP = re.compile(
    r"\b(Use After Free|Double Free|Invalid \(Wild\) Free|Buffer Overflow|Buffer Underflow)(?: at 0x[0-9a-fA-F]+| \(0x| occurred)?,? ?(?=\(|by thread|when)"
)
SUMMARY = re.compile(r"SUMMARY: (?:HW)?AddressSanitizer: (?!\d)([\w-]+)(?: (\S[^\n]{0,600}))?")
KIND = re.compile(r"^[A-Za-z][\w-]*")
ADDRESS = re.compile(
    r"\bon (?:unknown )?address (0x[0-9a-fA-F]{1,16})|\bon (0x[0-9a-fA-F]{1,16})|: (0x[0-9a-fA-F]{1,16}) in thread"
)
PC = re.compile(r"\bpc (0x[0-9a-fA-F]{1,16})")
SP = re.compile(r"\bsp (0x[0-9a-fA-F]{1,16})")
ASKED = re.compile(
    r"(?:allocation size|trying to allocate|failed to allocate) (0x[0-9a-fA-F]{1,16}|\d{1,20})"
)
ACCESS = re.compile(r"\b(READ|WRITE|ACCESS) of size (\d{1,12})?")
SIGNALLED = re.compile(r"signal is caused by an? (READ|WRITE) memory access")
HIGH = re.compile(r"Hint: this fault was caused by a dereference of a high value address")
JUMP = re.compile(
    r"Hint: (?:PC|pc) (?:is at a non-executable region|points to the zero page)|Hint: .{0,20}wild jump"
)
REGION = re.compile(
    r"(\d{1,12} bytes? (?:inside(?: of)?|after|before|to the (?:right|left) of) (?:a )?(\d{1,15})-byte region)"
)
VARIABLE = re.compile(
    r"[\])] '([^']{1,200})'(?: \(line \d+\))? <== (Memory access at offset -?\d+ \w+ this variable)"
)
THREAD = re.compile(r"\bthread (T\d{1,6})|\b(T\d{1,6})\)\s*$")
FREED = re.compile(r"\bfreed by(?: thread)?|\bpreviously freed\b|\bfreed here:|\bdeallocated by")
ALLOCATED = re.compile(r"\ballocated by(?: thread)?|\ballocated here:|\bwas allocated\b")
ASIDE = re.compile(
    r"\bThread T\d+ .{0,80}created by|is located in stack of thread|initialized? here:|\bregistered at:|is located "
)
BROKEN = re.compile(r"AddressSanitizer:? CHECK failed: (\S+?):(\d{1,6}) (.{1,300})")
ASIDES = (
    (re.compile(r"ASan runtime does not come first in initial library list"), "sanitizer-setup"),
    (
        re.compile(r"Your application is linked against incompatible ASan runtimes?"),
        "sanitizer-setup",
    ),
    (
        re.compile(r"Shadow memory range interleaves with an existing memory mapping"),
        "sanitizer-setup",
    ),
    (
        re.compile(r"WARNING: AddressSanitizer failed to allocate (0x[0-9a-f]+)"),
        "failed-allocation-returned-null",
    ),
)
ALONE = re.compile(
    r"^\W{0,8}((?:[\w.+-]*/)+[\w.+-]+\.(?:c|cc|cpp|cxx|cu|h|hpp|hh|inc|inl|mm?)):(\d{1,7})(?::\d{1,5})?\W{0,3}$"
)
NAMED = re.compile(r"^[\w:~<>,*&() \[\].]{2,300}$")
SOON = 6  # lines after the head in which the access and the hints stand

Role = Literal["fault", "freed", "allocated"]


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the errors, the signals, the stacks and the bounds that were broken."""
    yield from _reports(evidence)
    yield from _asides(evidence)
    yield from _stacks(evidence)


@dataclass(frozen=True, slots=True)
class _Report:
    """The head of a report, in its own words."""

    n: int
    tool: str
    kind: str
    rest: str


def _head(n: int, line: str) -> _Report | None:
    if died := DIED.search(line):
        tool = TOOLS.get(died[1])
        return _Report(n, tool, died[2], line[died.start() :]) if tool else None
    if head := HEAD.search(line):
        words = head[2]
        named = KIND.match(words)
        kind = next((k for s, k in SENTENCES.items() if s in words), named and named[0])
        return _Report(n, "asan", kind, words) if kind else None
    if "GWP-ASan" not in line and (gwp := GWP.search(line)):
        return _Report(n, "asan", SENTENCES[gwp[1]], line)
    return None


def _reports(evidence: Evidence) -> Iterator[Fact]:
    gwp = any("GWP-ASan" in line for line in evidence.lines)
    headed = set()
    accessed: Access = "unknown"
    for n, line in enumerate(evidence.lines):
        if "Sanitizer" in line and (summary := SUMMARY.search(line)):
            if summary[1] not in headed:
                headed.add(summary[1])
                yield from _summed_up(evidence, n, summary, accessed)
        elif ("Sanitizer" in line or gwp) and (report := _head(n, line)):
            headed.add(report.kind)
            yield from _report(evidence, report)
        elif found := ACCESS.search(line):
            accessed = _access(found[1])


def _access(word: str) -> Access:
    return "read" if word == "READ" else "write" if word == "WRITE" else "unknown"


def _report(evidence: Evidence, report: _Report) -> Iterator[Fact]:
    n = report.n
    after = evidence.lines[n : n + SOON]
    touched = next((m for m in map(ACCESS.search, after) if m), None)
    signalled = next((m for m in map(SIGNALLED.search, after) if m), None)
    access = _access((touched or signalled or ["", ""])[1])
    address = ADDRESS.search(report.rest)
    where = int(next(filter(None, address.groups())), 16) if address else None
    asked = ASKED.search(report.rest)
    span = Span(
        evidence=evidence.name,
        first=n,
        last=n,
        words=report.kind * (report.kind in evidence.lines[n]),
    )
    yield Checker(
        span=span,
        tool=report.tool,
        kind=report.kind,
        access=access,
        size=_size(touched, asked),
        address=where,
        place=_place(evidence, n),
    )
    if report.kind in DEADLY:
        yield Death(span=span, signal=DEADLY[report.kind])
    if report.kind in ("SEGV", "BUS"):
        yield _fault(span, report.rest, after, where, access)


def _size(touched: re.Match[str] | None, asked: re.Match[str] | None) -> int | None:
    if touched and touched[2]:
        return int(touched[2])
    return int(asked[1], 0) if asked and not asked[1].startswith("0" * 2) else None


def _fault(
    span: Span, rest: str, after: tuple[str, ...], where: int | None, access: Access
) -> Fault:
    pc, sp = PC.search(rest), SP.search(rest)
    jumped = any(JUMP.search(line) for line in after)
    high = where is None or any(HIGH.search(line) for line in after)
    return Fault(
        span=span,
        address=None if high else where,
        access="execute" if jumped else access,
        canonical=not high,
        at=int(pc[1], 16) if pc else None,
        stack=int(sp[1], 16) if sp else None,
    )


def _place(evidence: Evidence, n: int) -> str | None:
    """Where it was, as the summary after line ``n`` says, or as the first frame says."""
    for line in evidence.lines[n + 1 : n + 2000]:
        if "SUMMARY: " in line and (found := SUMMARY.search(line)):
            return _where(found[2])
        if "ERROR: " in line and HEAD.search(line):
            return None
    return None


def _where(words: str | None) -> str | None:
    path = words.partition(" in ")[0].strip() if words else ""
    return path or None


def _summed_up(
    evidence: Evidence, n: int, summary: re.Match[str], access: Access
) -> Iterator[Fact]:
    """What a summary says whose report was cut away."""
    span = Span(evidence=evidence.name, first=n, last=n, words=summary[1])
    kind = summary[1]
    yield Checker(span=span, tool="asan", kind=kind, access=access, place=_where(summary[2]))
    if kind in DEADLY:
        yield Death(span=span, signal=DEADLY[kind])


def _last_word(words: str) -> Frame | None:
    """The frame that a summary names: the path first, then the function."""
    path, _, function = words.partition(" in ")
    return frame(f"0x0 in {function.strip()} {path.strip()}") if path.strip() else None


def _asides(evidence: Evidence) -> Iterator[Fact]:
    for n, line in enumerate(evidence.lines):
        if found := REGION.search(line):
            yield _notice(evidence, n, "beyond-region", found[1])
        elif found := VARIABLE.search(line):
            yield _notice(evidence, n, "beyond-variable", found[2], found[1])
        elif "Sanitizer" in line or "ASan" in line or "Shadow memory" in line:
            yield from _of_itself(evidence, n, line)


def _of_itself(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    """What the sanitizer says about itself."""
    for pattern, topic in ASIDES:
        if found := pattern.search(line):
            yield _notice(evidence, n, topic, found[0])
    span = Span(evidence=evidence.name, first=n, last=n)
    if "ERROR: AddressSanitizer failed to allocate" in line and (asked := ASKED.search(line)):
        yield Allocation(span=span, device="host", asked_bytes=int(asked[1], 0), allocator="asan")
    if broken := BROKEN.search(line):
        yield Check(
            span=span,
            framework="AddressSanitizer",
            expression=broken[3].strip().strip('"'),
            file=broken[1],
            line=int(broken[2]),
        )


def _notice(
    evidence: Evidence, n: int, topic: str, words: str, subject: str | None = None
) -> Notice:
    span = Span(evidence=evidence.name, first=n, last=n, words=words)
    return Notice(span=span, topic=topic, text=words, subject=subject)


@dataclass(slots=True)
class _Reading:
    """Whose frames come next, while the lines go by."""

    headed: bool = False
    role: Role | None = "fault"
    thread: str | None = None
    orphan: Run | None = None

    def hear(self, line: str) -> None:
        """Take note of a line that is no frame."""
        if ASIDE.search(line):
            self.role = None
        if ACCESS.search(line) or (
            "Sanitizer" in line and (HEAD.search(line) or DIED.search(line))
        ):
            self.headed, self.role = True, "fault"
        elif FREED.search(line):
            self.headed, self.role = True, "freed"
        elif ALLOCATED.search(line) and "Direct leak" not in line and "Indirect leak" not in line:
            self.headed, self.role = True, "allocated"
        elif "leak of " in line or "runtime error: " in line:
            self.headed, self.role = True, None  # another sanitizer's stack follows
        if found := THREAD.search(line):
            self.thread = found[1] or found[2]


def _stacks(evidence: Evidence) -> Iterator[Fact]:
    found = runs(evidence.lines)
    reading = _Reading()
    for n, line in enumerate(evidence.lines):
        if run := found.get(n):
            if reading.headed and reading.role:
                yield _stack(evidence, run, reading.role, reading.thread, run.last)
                reading.role = None
            elif not reading.headed and not reading.orphan:
                reading.orphan = run
        elif not numbered(line):
            reading.hear(line)
            if not reading.headed and (summary := SUMMARY.search(line)):
                yield from _tail(evidence, n, reading, summary)
            if not found and reading.headed and (alone := ALONE.search(line)):
                yield _condensed(evidence, n, alone)


def _tail(evidence: Evidence, n: int, reading: _Reading, summary: re.Match[str]) -> Iterator[Fact]:
    """The stack of a report whose head was cut away: what stands above, if it is what is meant."""
    reading.headed, reading.role = True, None
    one = _last_word(summary[2] or "")
    run = reading.orphan
    if one and run and any((f.file, f.line) == (one.file, one.line) for f in run.frames):
        yield _stack(evidence, run, "fault", None, n)
    elif one:
        yield _stack(evidence, Run(first=n, last=n, frames=(one,)), "fault", None, n)


def _stack(evidence: Evidence, run: Run, role: Role, thread: str | None, last: int) -> Stack:
    return Stack(
        span=Span(evidence=evidence.name, first=run.first, last=last),
        thread=thread,
        crashed=role == "fault",
        frames=run.frames,
        role=role,
    )


def _condensed(evidence: Evidence, n: int, alone: re.Match[str]) -> Stack:
    """A place on a line of its own, in a report that somebody shortened by hand."""
    above = evidence.lines[n - 1].strip() if n else ""
    function = above if NAMED.match(above) and not REGION.search(above) else None
    return Stack(
        span=Span(evidence=evidence.name, first=n, last=n),
        thread=None,
        crashed=True,
        frames=(Frame(function=function, file=alone[1], line=int(alone[2])),),
    )
