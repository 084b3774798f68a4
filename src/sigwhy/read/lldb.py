"""What lldb prints: the reason of the stop and the frames, also where only frames were pasted.

Looks like::

    * thread #1, queue = 'com.apple.main-thread', stop reason = EXC_BAD_ACCESS (code=1, address=0x8)
      * frame #0: 0x00000001a2c3 libfast.dylib`merge_sorted(left=0x0) + 44 at merge.c:4:12
        frame #1: 0x00000001a2d0 libfast.dylib`merge + 96
    libomp.dylib`__kmp_suspend_64<false, true> + 44
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.place import count, file_and_line, number
from sigwhy.machine.signals import code_named, signal_named
from sigwhy.model.fact import Allocation, Death, Fault, Frame, Platform, Span
from sigwhy.model.frames import Head, Row, stacks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Access, Fact

THREAD = re.compile(r"^(?P<current>[\s*]*)thread #(?P<number>\d{1,6})\b")
REASON = re.compile(r"stop reason = (?P<reason>[^\n]{1,300})")
EXCEPTION = re.compile(
    r"\b(?P<name>EXC_[A-Z_]{3,20})\s*\((?:code=(?P<code>[\w-]{1,40}))?"
    r"(?:, (?:subcode|address)=(?P<address>0x[0-9a-fA-F]{1,16}|0))?"
)
SIGNAL = re.compile(r"signal (?P<signal>SIG\w{2,12})(?::\s*(?P<means>[^()\n]{3,80}))?")
AT_ADDRESS = re.compile(r"\(?fault address[:=]\s*(?P<address>0x[0-9a-fA-F]{1,16})\)?")
FRAME = re.compile(
    r"(?<![\w.#])frame #(?P<number>\d{1,6}): (?:0x[0-9a-fA-F]+\s+)?"
    r"(?P<module>[^`\n]{1,400})`(?P<rest>\S.*)$"
)
# Without its number: a module with the ending of one, a back quote, a symbol.
BARE = re.compile(
    r"^\s*(?:\d{1,4}[:.]?\s+)?(?:0x[0-9a-fA-F]+\s+)?"
    r"(?P<module>[\w.+-]{1,200}\.(?:dylib|so|so\.[\d.]{1,12}|dll)|[\w.+-]{0,200}libsystem_\w+)"
    r"`(?P<rest>\S.*)$"
)
INLINED = " [inlined]"
PLUS = re.compile(r" \+ \d{1,12}(?=$|\s)")
AT = re.compile(r" at (?P<place>[^\s:][^:\n]{0,400}:\d{1,8}(?::\d{1,8})?)\s*$")
VALUES = re.compile(r"\((?=[\w$.]{1,80}=)")
LIMIT_MB = re.compile(r"EXC_RESOURCE\b[^\n]{0,80}?limit=(?P<mb>\d{1,9}) ?MB")
MARKERS = ("stop reason", "frame #", "EXC_", ".dylib`", ".so`", "libsystem_", "thread #")
SIGNALS = {
    "EXC_BAD_ACCESS": "SIGSEGV",
    "EXC_BAD_INSTRUCTION": "SIGILL",
    "EXC_ARITHMETIC": "SIGFPE",
    "EXC_BREAKPOINT": "SIGTRAP",
    "EXC_CRASH": "SIGABRT",
}
# Mach's own names and numbers for the kinds of bad access.
ACCESS = {
    "1": "SEGV_MAPERR",
    "KERN_INVALID_ADDRESS": "SEGV_MAPERR",
    "2": "SEGV_ACCERR",
    "50": "SEGV_ACCERR",
    "KERN_PROTECTION_FAILURE": "SEGV_ACCERR",
    "EXC_I386_GPFLT": "SI_KERNEL",
    "EXC_ARM_DA_ALIGN": "BUS_ADRALN",
    "257": "BUS_ADRALN",
}
NOT_TOLD = "EXC_I386_GPFLT"


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the reasons of stops and the stacks."""
    for n, line in enumerate(evidence.lines):
        if "EXC_" in line:
            yield from _exception(evidence, n)
        elif reason := REASON.search(line):
            yield from _signal(evidence, n, reason["reason"])
    yield from stacks(evidence.name, _marks(evidence))


def _exception(evidence: Evidence, n: int) -> Iterator[Fact]:
    line = evidence.lines[n]
    if limit := LIMIT_MB.search(line):
        span = Span(evidence=evidence.name, first=n, last=n, words=limit[0])
        megabytes = count(limit["mb"]) or 0
        yield Allocation(span=span, device="host", limit_bytes=megabytes * 1024 * 1024)
    found = EXCEPTION.search(line)
    if not found or not (found["code"] or found["address"]) or found["name"] not in SIGNALS:
        return
    span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
    code = ACCESS.get(found["code"] or "") if found["name"] == "EXC_BAD_ACCESS" else None
    signal = "SIGBUS" if (code or "").startswith("BUS") else SIGNALS[found["name"]]
    if found["name"] == "EXC_ARITHMETIC" and found["code"] in ("EXC_I386_DIV", "1"):
        code = "FPE_INTDIV"
    yield Death(span=span, signal=signal, code=code)
    yield Platform(span=span, system="macos")
    if found["name"] == "EXC_BAD_ACCESS":
        told = found["code"] != NOT_TOLD
        address = number(found["address"]) if told else None
        yield Fault(
            span=span,
            address=address,
            canonical=told,
            present=True if code == "SEGV_ACCERR" else None,
            access="unknown",
        )


def _signal(evidence: Evidence, n: int, reason: str) -> Iterator[Fact]:
    found = SIGNAL.search(reason)
    signal = signal_named(found["signal"]) if found else None
    if not found or not signal:
        return
    span = Span(evidence=evidence.name, first=n, last=n, words=found[0].rstrip())
    means = (found["means"] or "").strip()
    yield Death(span=span, signal=signal, code=code_named(signal, means))
    if address := AT_ADDRESS.search(reason):
        access: Access = "unknown"
        yield Fault(span=span, address=number(address["address"]), access=access)


def _marks(evidence: Evidence) -> Iterator[Head | Row]:
    begun = False
    bare = 0
    for n, line in enumerate(evidence.lines):
        if found := THREAD.match(line):
            reason = REASON.search(line)
            stopped = bool(reason) and ("EXC_" in line or "signal" in line)
            yield Head(line=n, thread=found["number"], crashed=stopped or "*" in found["current"])
            begun = True
        if found := FRAME.search(line):
            yield Row(first=n, last=n, number=int(found["number"]), frame=_frame(found))
            begun = True
        elif found := BARE.match(line):
            if bare != n or not begun:
                yield Head(line=n, crashed=not begun)
            bare, begun = n + 1, True
            yield Row(first=n, last=n, number=None, frame=_frame(found))


def _frame(found: re.Match[str]) -> Frame:
    rest = found["rest"].strip()
    file, line = None, None
    if at := AT.search(rest[-500:]):
        file, line = file_and_line(at["place"])
        rest = rest[: rest.rfind(" at ")]
    cut = PLUS.search(rest) or VALUES.search(rest)
    function = (rest[: cut.start()] if cut else rest).strip().removesuffix(INLINED)
    return Frame(function=function, library=found["module"].strip(), file=file, line=line)
