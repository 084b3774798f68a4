"""The crash report of macOS as text: what Console, ``.crash`` files and "Send to Apple" show.

Looks like::

    Process:               Python [8123]
    Code Type:             X86-64 (Translated)
    Exception Type:        EXC_BAD_ACCESS (SIGSEGV)
    Exception Codes:       KERN_INVALID_ADDRESS at 0x0000000000000008
    Thread 3 Crashed:
    0   libomp.dylib      0x0000000105cdb0a4 __kmp_suspend_64<false, true> + 44
    1   fast_kernel.so    0x0000000105d0b0a4 merge_sorted(long*, long) + 12 (merge.cc:4)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.demangle import demangled
from sigwhy.machine.place import count, file_and_line, number
from sigwhy.model.fact import Death, Fault, Frame, MemoryKill, Notice, Platform, Span
from sigwhy.model.frames import Head, Row, stacks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Access, Fact

PROCESS = re.compile(r"^\s*Process:\s+(?P<name>\S[^\n\[]{0,100}?)\s*\[(?P<pid>\d{1,9})\]")
TYPE = re.compile(r"\b(?P<name>EXC_[A-Z_]{3,20})\s*\((?P<signal>SIG[A-Z]{2,8})\)")
CODES = re.compile(
    r"\b(?P<code>KERN_\w{3,40}|EXC_I386_GPFLT|EXC_ARM_DA_ALIGN|EXC_I386_DIV|UNKNOWN_0x\w{1,8})"
    r"(?: \([^)\n]{0,60}\))?(?: at (?P<address>0x[0-9a-fA-F]{1,16}))?"
)
CODES_LINE = re.compile(r"^\s*Exception (?:Codes|Subtype|Code):")
TERMINATION = re.compile(
    r"^\s*Termination Reason:\s+(?:Namespace )?(?P<space>[A-Z]{3,16}),? (?:Code |\[)?(?P<code>0x[0-9a-fA-F]{1,16}|\d{1,12})"
)
CODE_TYPE = re.compile(r"^\s*Code Type:\s+(?P<machine>[A-Z][\w-]{2,20})(?: \((?P<how>\w{3,20})\))?")
FORKED = re.compile(r"crashed on child side of fork pre-exec")
PAST_END = re.compile(r"pagein error: [^\n]{1,60}past EOF")
ABORTED = re.compile(r"^\s*abort\(\) called\s*$")
THREAD = re.compile(r"^\s*Thread (?P<number>\d{1,6})(?P<crashed> Crashed)?:(?! Dispatch queue: $)")
THREAD_NAME = re.compile(r"^\s*Thread \d{1,6} name:")
OVER = re.compile(
    r"^\s*(?:Thread \d{1,6} crashed with|Binary Images:|Logical CPU:|External Modification)"
)
FRAME = re.compile(
    r"^\s*(?P<number>\d{1,5})\s+(?P<image>\S[^\n]{0,120}?)\s+0x(?P<pc>[0-9a-fA-F]{6,16}) (?P<rest>\S[^\n]*)$"
)
PLUS = re.compile(r" \+ (?P<offset>\d{1,12})(?: \((?P<place>[^()\n]{1,300}:\d{1,8})\))?\s*$")
BASE = re.compile(r"^(?:0x[0-9a-fA-F]{4,16}|\?\?\?|<[^>]{1,80}>)$")
HOW = re.compile(
    r"(?:no mapping|invalid protections) for user (?:data|instruction) (?P<how>read|write|access|fetch)"
    r"|Data Abort\) byte (?P<byte>read|write)"
)
MARKERS = (
    "pagein error",
    "Exception Type:", "EXC_", "Termination Reason", "Thread 0 Crashed", " Crashed:", "Crashed::",
    "Code Type:", "crashed on child side", ".dylib  ", ".dylib\t", "KERN_",
)  # fmt: skip
MACHINES = {"X86-64": "x86_64", "ARM-64": "arm64", "X86": "i386"}
CODE_NAMES = {
    "KERN_INVALID_ADDRESS": "SEGV_MAPERR",
    "KERN_PROTECTION_FAILURE": "SEGV_ACCERR",
    "EXC_ARM_DA_ALIGN": "BUS_ADRALN",
    "KERN_MEMORY_ERROR": "BUS_OBJERR",
    "EXC_I386_DIV": "FPE_INTDIV",
}
ACCESSES: dict[str, Access] = {"read": "read", "write": "write", "fetch": "execute"}
NEAR = 4


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the death, the fault, the machine and the stacks."""
    process: re.Match[str] | None = None
    access = _access(evidence)
    for n, line in enumerate(evidence.lines):
        process = PROCESS.match(line) or process
        if found := TYPE.search(line):
            yield from _died(evidence, n, found, process)
        if CODES_LINE.match(line) and (found := CODES.search(line)):
            yield from _fault(evidence, n, found, access)
        yield from _words(evidence, n, line)
    yield from stacks(evidence.name, _marks(evidence), first_crashed=False)


def _span(evidence: Evidence, n: int, words: str) -> Span:
    return Span(evidence=evidence.name, first=n, last=n, words=words.strip())


def _access(evidence: Evidence) -> Access:
    """Whether it read or wrote: the state of the CPU, at the end of a report, knows it."""
    found = next((f for line in evidence.lines if (f := HOW.search(line))), None)
    return ACCESSES.get(found["how"] or found["byte"], "unknown") if found else "unknown"


def _died(
    evidence: Evidence, n: int, found: re.Match[str], process: re.Match[str] | None
) -> Iterator[Fact]:
    """The signal, with the kind of the exception from one of the next lines."""
    code = None
    for line in evidence.lines[n : n + NEAR]:
        if CODES_LINE.match(line) and (told := CODES.search(line)):
            code = CODE_NAMES.get(told["code"])
            break
    yield Death(
        span=_span(evidence, n, found[0]),
        signal=found["signal"],
        code=code,
        pid=count(process["pid"]) if process else None,
        command=process["name"] if process else None,
    )
    yield Platform(span=_span(evidence, n, found[0]), system="macos")


def _fault(evidence: Evidence, n: int, found: re.Match[str], access: Access) -> Iterator[Fact]:
    if found["code"] == "EXC_I386_DIV":
        return
    told = found["code"] != "EXC_I386_GPFLT" and found["address"] is not None
    yield Fault(
        span=_span(evidence, n, found[0]),
        address=number(found["address"]) if told else None,
        access=access,
        present=True if found["code"] == "KERN_PROTECTION_FAILURE" else None,
        canonical=found["code"] != "EXC_I386_GPFLT",
    )


def _words(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    if found := CODE_TYPE.match(line):
        yield Platform(
            span=_span(evidence, n, found[0]),
            system="macos",
            machine=MACHINES.get(found["machine"]),
            detail=(found["how"] or "").lower() or None,
        )
    elif found := TERMINATION.match(line):
        span = _span(evidence, n, found[0])
        if found["space"] == "JETSAM":
            yield MemoryKill(span=span, by="kernel")
        elif found["space"] != "SIGNAL":
            topic = f"macos-termination-{found['space'].lower()}"
            yield Notice(span=span, topic=topic, text=line.strip())
    elif found := FORKED.search(line):
        yield Notice(span=_span(evidence, n, found[0]), topic="fork-without-exec", text=found[0])
    elif found := PAST_END.search(line):
        span = _span(evidence, n, found[0])
        yield Notice(span=span, topic="page-past-end", text=found[0], mechanism="bus-error")
    elif found := ABORTED.match(line):
        yield Notice(span=_span(evidence, n, found[0]), topic="abort-message", text=line.strip())


def _marks(evidence: Evidence) -> Iterator[Head | Row]:
    for n, line in enumerate(evidence.lines):
        if OVER.match(line):
            yield Head(line=n)
        elif not THREAD_NAME.match(line) and (found := THREAD.match(line)):
            yield Head(line=n, thread=found["number"], crashed=bool(found["crashed"]))
        elif found := FRAME.match(line):
            yield Row(first=n, last=n, number=int(found["number"]), frame=_frame(found))


def _frame(found: re.Match[str]) -> Frame:
    """``SYMBOL + D``, or the image's base address where there is no symbol."""
    rest, offset, file, line = found["rest"].strip(), None, None, None
    if plus := PLUS.search(rest):
        rest, offset = rest[: plus.start()], count(plus["offset"])
        file, line = file_and_line(plus["place"] or "")
    named = not BASE.match(rest)
    return Frame(
        function=demangled(rest) if named else None,
        library=found["image"].strip(),
        offset=None if named else offset,
        file=file,
        line=line,
    )
