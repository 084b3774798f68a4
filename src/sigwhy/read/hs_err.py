"""The fatal error report of a Java virtual machine, which also dies of native libraries.

Looks like::

    # A fatal error has been detected by the Java Runtime Environment:
    #  SIGSEGV (0xb) at pc=0x00007fd5600d2f94, pid=12542, tid=12543
    # Problematic frame:
    # C  [libtensorflow_jni.so+0x1d2f94]  TF_DeleteTensor+0x124
    siginfo: si_signo: 11 (SIGSEGV), si_code: 1 (SEGV_MAPERR), si_addr: 0x0000000000000008
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.demangle import demangled
from sigwhy.machine.place import count, file_and_line, number
from sigwhy.model.fact import Allocation, Check, Death, Exit, Fault, Frame, Span
from sigwhy.model.frames import Head, Row, stacks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Access, Fact

DIED = re.compile(
    r"^[#*-]?\s*(?P<name>SIG[A-Z]{2,8}|EXCEPTION_[A-Z_]{3,30}) \((?P<number>0x[0-9a-fA-F]{1,8})\) at "
    r"pc=(?P<pc>0x[0-9a-fA-F]{1,16}), pid=(?P<pid>\d{1,9})(?:, tid=(?P<tid>\d{1,20}))?"
)
SIGINFO = re.compile(
    r"si_signo: \d{1,3} \((?P<signal>SIG\w{2,10})\), si_code: -?\d{1,6}(?: \((?P<code>\w{3,20})\))?"
    r"(?:, si_addr: (?P<address>0x[0-9a-fA-F]{1,16}))?"
)
EXCEPTION = re.compile(
    r"EXCEPTION_ACCESS_VIOLATION(?: \(0x[cC]0000005\))?, (?P<access>reading|writing|data execution prevention violation at) address "
    r"(?P<address>0x[0-9a-fA-F]{1,16})"
)
PROBLEMATIC = re.compile(r"^[#*-]?\s*Problematic frame:")
NATIVE_FRAMES = re.compile(r"^Native frames:")
JAVA_FRAMES = re.compile(r"^Java frames:")
FRAME = re.compile(
    r"^(?:[#*-] )?(?P<kind>[CV])\s+\[(?P<library>[^\]\n+]{1,300})(?:\+(?P<offset>0x[0-9a-fA-F]{1,16}))?\]"
    r"(?:\s+(?P<function>\S.{0,2000}?))?\s*$"
)
JAVA = re.compile(
    r"^(?:# )?[jJvA]\s+(?:\d{1,7} )?(?:[cC]\d )?(?P<function>~?[A-Za-z_$][\w.$/:~<>]{1,400})"
)
FUNCTION_PLUS = re.compile(r"\+0x[0-9a-fA-F]{1,16}(?: \([^()\n]{1,300}\))?$")
INTERNAL = re.compile(r"^#\s+Internal Error \((?P<place>[^)\n]{1,200}:\d{1,8})\)")
FAILED = re.compile(
    r"^#\s+(?P<kind>guarantee|assert|fatal error|Error: \w+)(?:\((?P<what>[^\n]{0,300})\) failed)?:? ?(?P<detail>[^\n]{0,300})$"
)
NO_MEMORY = re.compile(
    r"Native memory allocation \(\w{2,12}\) failed to (?:allocate|map|reserve|commit) (?P<bytes>\d{1,18}) bytes"
)
MARKERS = (
    "Java Runtime Environment", "Problematic frame", "si_signo: ", "Native frames:", "at pc=0x",
    "EXCEPTION_ACCESS_VIOLATION", "Native memory allocation", "Internal Error (",
)  # fmt: skip
STATUS = {
    "EXCEPTION_ACCESS_VIOLATION": "STATUS_ACCESS_VIOLATION",
    "EXCEPTION_STACK_OVERFLOW": "STATUS_STACK_OVERFLOW",
    "EXCEPTION_ILLEGAL_INSTRUCTION": "STATUS_ILLEGAL_INSTRUCTION",
    "EXCEPTION_INT_DIVIDE_BY_ZERO": "STATUS_INTEGER_DIVIDE_BY_ZERO",
    "EXCEPTION_IN_PAGE_ERROR": "STATUS_IN_PAGE_ERROR",
}
SIGNALS = {"EXCEPTION_ACCESS_VIOLATION": "SIGSEGV", "EXCEPTION_ILLEGAL_INSTRUCTION": "SIGILL"}
ACCESSES: dict[str, Access] = {"reading": "read", "writing": "write"}


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the death, the fault, what the machine checked, and the native stack."""
    for n, line in enumerate(evidence.lines):
        yield from _died(evidence, n, line)
        yield from _fault(evidence, n, line)
        yield from _refused(evidence, n, line)
    yield from stacks(evidence.name, _marks(evidence), first_crashed=False)


def _span(evidence: Evidence, n: int, words: str) -> Span:
    return Span(evidence=evidence.name, first=n, last=n, words=words.strip())


def _died(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    found = DIED.match(line)
    if not found:
        return
    name, span = found["name"], _span(evidence, n, found[0])
    if name in STATUS:
        yield Exit(span=span, status=number(found["number"]) or 0, means=STATUS[name])
    if signal := SIGNALS.get(name, name if name.startswith("SIG") else None):
        yield Death(span=span, signal=signal, pid=count(found["pid"]), tid=count(found["tid"]))


def _fault(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    if found := SIGINFO.search(line):
        span = _span(evidence, n, found[0])
        yield Death(span=span, signal=found["signal"], code=found["code"])
        if found["address"] and found["signal"] in ("SIGSEGV", "SIGBUS"):
            known = found["code"] != "SI_KERNEL"
            yield Fault(
                span=span, address=number(found["address"]) if known else None, canonical=known
            )
    elif found := EXCEPTION.search(line):
        access = ACCESSES.get(found["access"], "execute")
        yield Fault(
            span=_span(evidence, n, found[0]), address=number(found["address"]), access=access
        )


def _refused(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    if found := NO_MEMORY.search(line):
        yield Allocation(
            span=_span(evidence, n, found[0]), device="host", asked_bytes=count(found["bytes"])
        )
    elif found := INTERNAL.match(line):
        file, at = file_and_line(found["place"])
        told = next((f for row in evidence.lines[n + 1 : n + 3] if (f := FAILED.match(row))), None)
        yield Check(
            span=_span(evidence, n, found[0]),
            framework="java",
            expression=(told["what"] if told else None) or "Internal Error",
            detail=told["detail"] if told else "",
            file=file,
            line=at,
        )


def _marks(evidence: Evidence) -> Iterator[Head | Row]:
    """The native stack; the problematic frame alone where there is none."""
    has_stack = any(NATIVE_FRAMES.match(line) for line in evidence.lines)
    inside, problematic = False, False
    for n, line in enumerate(evidence.lines):
        if NATIVE_FRAMES.match(line):
            inside = True
            yield Head(line=n, crashed=True)
        elif JAVA_FRAMES.match(line) or (inside and not line.strip()):
            inside = False
        elif PROBLEMATIC.match(line):
            problematic = not has_stack
        elif inside or problematic:
            frame = _frame(line)
            if frame and problematic:
                yield Head(line=n, crashed=True)
            if frame:
                yield Row(first=n, last=n, number=None, frame=frame)
            problematic = False


def _frame(line: str) -> Frame | None:
    if found := FRAME.match(line):
        name = FUNCTION_PLUS.sub("", found["function"] or "").strip()
        return Frame(
            function=demangled(name) if name else None,
            library=found["library"],
            offset=None if name else number(found["offset"]),
        )
    found = JAVA.match(line)
    return Frame(function=found["function"]) if found else None
