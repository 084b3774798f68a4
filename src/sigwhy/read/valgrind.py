"""Valgrind: Memcheck, Helgrind and DRD; with or without the number of the process before each line.

Looks like::

    ==11891== Invalid write of size 4
    ==11891==    at 0x10A967: blur::BlurOp::Compute(blur::Context*) (blur_op.cc:15)
    ==11891==    by 0x48E1B0: ffi_call (in /usr/lib/x86_64-linux-gnu/libffi.so.8)
    ==11891==  Address 0x4d6ed20 is 0 bytes after a block of size 48 alloc'd
    ==11891==    at 0x484320F: operator new[](unsigned long) (in vgpreload_memcheck-amd64-linux.so)
    ==11891== Process terminating with default action of signal 11 (SIGSEGV)
    vex amd64->IR: unhandled instruction bytes: 0x62 0xF1 0x7C 0x48 0x28 0x7 0x62 0xF1 0x7C 0x48
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from sigwhy.model.fact import Checker, Death, Fault, Frame, Notice, Span, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Access, Fact

# Its sentences: the words, the tool, the kind. The first that fits wins.
SENTENCES = tuple(
    (re.compile(words), tool, kind)
    for words, tool, kind in (
        (r"\bInvalid read of size (\d{1,9})", "memcheck", "Invalid read"),
        (r"\bInvalid write of size (\d{1,9})", "memcheck", "Invalid write"),
        (
            r"\bJump to the invalid address stated on the next line",
            "memcheck",
            "Jump to the invalid address",
        ),
        (r"\bInvalid free\(\)", "memcheck", "Invalid free"),
        (r"\bMismatched (?:free\(\)|new|delete)", "memcheck", "Mismatched free"),
        (
            r"\bConditional jump or move depends on uninitialised value",
            "memcheck",
            "Conditional jump depends on uninitialised value",
        ),
        (
            r"\bUse of uninitialised value of size (\d{1,9})",
            "memcheck",
            "Use of uninitialised value",
        ),
        (
            r"\bSyscall param \S{1,80} (?:points to|contains) uninitialised byte",
            "memcheck",
            "Syscall param points to uninitialised bytes",
        ),
        (
            r"\bSyscall param \S{1,80} points to unaddressable byte",
            "memcheck",
            "Syscall param points to unaddressable bytes",
        ),
        (r"\bSource and destination overlap in \w+", "memcheck", "Source and destination overlap"),
        (r"\bArgument '\w+' of function \w+ has a fishy", "memcheck", "fishy argument"),
        (r"\brealloc\(\) with size 0", "memcheck", "realloc() with size 0"),
        (
            r"([\d,]{1,20}) (?:\([\d,]+ direct, [\d,]+ indirect\) )?bytes in [\d,]+ blocks are definitely lost",
            "memcheck",
            "memory leaks",
        ),
        (r"\bPossible data race during (?:read|write) of size (\d{1,9})", "helgrind", "data race"),
        (
            r"\bConflicting (?:load|store) by thread \d+ at 0x[0-9a-fA-F]+ size (\d{1,9})",
            "drd",
            "data race",
        ),
        (r"\bThread #\d+: lock order \"?.{0,80} violated", "helgrind", "lock-order-inversion"),
        (
            r"\bThread #\d+: Exiting thread still holds \d+ lock",
            "helgrind",
            "thread exits with a lock",
        ),
        (
            r"\bThread #\d+ unlocked (?:a not-locked|lock at|an invalid)",
            "helgrind",
            "unlock of an unlocked mutex",
        ),
        (r"\bThread #\d+: pthread_cond_\w+.{0,60}", "helgrind", "misuse of a condition variable"),
        (
            r"\bMutex (?:not locked|already locked|is (?:still )?locked|type changed)",
            "drd",
            "misuse of a mutex",
        ),
    )
)
MARKERS = (
    "Mismatched",
    "Mutex",
    "locked",
    "realloc() with size",
    "Thread #",
    "Invalid read of size",
    "Invalid write of size",
    "Invalid free()",
    "Mismatched free()",
    "Mismatched new",
    "uninitialised",
    "Jump to the invalid address",
    "unaddressable byte",
    "Source and destination overlap in",
    "has a fishy",
    "are definitely lost",
    "Possible data race during",
    "Conflicting load by thread",
    "Conflicting store by thread",
    "still holds",
    "lock order",
    "Process terminating with default action of signal",
    "unhandled instruction bytes",
    "disInstr(arm",
    " a block of size ",
    "is not stack'd, malloc'd or",
    "Memcheck, a memory error detector",
    "valgrind: ",
    "Valgrind's memory management: out of memory",
)
FRAME = re.compile(r"(?:^|[\s=])(at|by) 0x([0-9A-Fa-f]{1,16}): (\S[^\n]*)$")
PLACE = re.compile(r" \((?:in |within )?([^()]+?)(?::(\d{1,7}))?\)\s*$")
BLOCK = re.compile(
    r"\bAddress 0x([0-9A-Fa-f]{1,16}) is ([\d,]{1,15} bytes (?:inside|after|before) a block of size [\d,]{1,15}) (alloc'd|free'd|in arena|client-defined)"
)
NOT_OURS = re.compile(
    r"\bAddress 0x([0-9A-Fa-f]{1,16}) is not stack'd, malloc'd or \(?recently\)? free'd"
)
ON_STACK = re.compile(
    r"\bAddress 0x([0-9A-Fa-f]{1,16}) is on thread \d+'s stack|\bAddress 0x([0-9A-Fa-f]{1,16}) is \d+ bytes inside data symbol"
)
TOUCHED = re.compile(r"\b(read|write|load|store) (?:of size|by thread)")
DIED = re.compile(r"Process terminating with default action of signal \d+ \((SIG[A-Z0-9]+)\)")
UNMAPPED = re.compile(
    r"(Access not within mapped region|Bad permissions for mapped region|Non-existent physical address) at address 0x([0-9A-Fa-f]{1,16})"
)
GENERAL = re.compile(r"^\W*(?:\d+\W*)?General Protection Fault\s*$")
ALLOCATED = re.compile(
    r"Block was alloc'd at|was created by a (?:heap|stack) allocation|Allocation context"
)
PREVIOUS = re.compile(
    r"conflicts with a previous (?:read|write)|Required order was established|Other segment start"
)
ASIDE = re.compile(
    r"Thread #\d+ was created|Thread-Announcement|followed by a later acquisition|Lock at 0x\S+ was first observed|HEAP SUMMARY|Other segment end|^\W*\d*\W*Thread \d+:?\s*$"
)
OVERFLOWED = re.compile(r"Stack overflow in thread #?\d+|Can't extend stack")
LIMITS = (
    re.compile(r"unhandled instruction bytes"),
    re.compile(r"unhandled instruction 0x[0-9A-Fa-f]+|disInstr\(arm\w*\): unhandled instruction"),
    re.compile(r"valgrind: Unrecognised instruction at address"),
    re.compile(r"Valgrind's memory management: out of memory"),
    re.compile(r"valgrind: mmap\(0x\S+ \d+\) failed in UME"),
    re.compile(r"valgrind: the 'impossible' happened"),
    re.compile(r"valgrind: m_\w+\.c:\d+ \(\w+\): Assertion"),
    re.compile(r"valgrind:  Fatal error at startup: a function redirection"),
)
OF_PYTHON = re.compile(
    r"^_?Py|^address_in_range|\b(?:\w+object\.[ch]|object\.h|obmalloc\.c|gcmodule\.c|ceval\w*\.[ch]|marshal\.c)$"
)
FIRST_PAGES = 64 * 1024
HALF, UPPER = 47, (1 << 17) - 1  # an x86-64 address is all zeros or all ones from this bit on
SOON = 40  # lines after an error within which its address is told
MOST_ERRORS = 20

Role = Literal["fault", "freed", "allocated", "previous", "leaked"]


@dataclass(slots=True)
class _Reading:
    """Whose frames come next, and those that have come."""

    role: Role | None = None
    rows: list[tuple[int, Frame]] = field(default_factory=list)
    errors: int = 0
    limited: bool = False


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the errors, the blocks they were near, the stacks, and what Valgrind could not do."""
    reading = _Reading()
    for n, line in enumerate(evidence.lines):
        if one := _frame(line):
            if one[0] == "at" and reading.rows:
                yield from _stack(evidence, reading)
            reading.rows.append((n, one[1]))
            continue
        if not reading.errors and reading.rows and (BLOCK.search(line) or NOT_OURS.search(line)):
            yield from _headless(evidence, n, reading)
        yield from _stack(evidence, reading)
        yield from _heard(evidence, n, reading)
    yield from _stack(evidence, reading)


def _frame(line: str) -> tuple[str, Frame] | None:
    found = FRAME.search(line) if " 0x" in line else None
    if not found:
        return None
    place = PLACE.search(found[3])
    function = found[3][: place.start()] if place else found[3].strip()
    is_library = bool(place and not place[2])
    return found[1], Frame(
        function=None if function == "???" else function,
        file=place[1] if place and not is_library else None,
        line=int(place[2]) if place and place[2] else None,
        library=place[1] if place and is_library else None,
        offset=None,
    )


def _stack(evidence: Evidence, reading: _Reading) -> Iterator[Fact]:
    rows, role = reading.rows, reading.role
    if rows and role:
        yield Stack(
            span=Span(evidence=evidence.name, first=rows[0][0], last=rows[-1][0]),
            thread=None,
            crashed=role == "fault",
            frames=tuple(frame for _, frame in rows),
            role=role,
        )
        reading.role = None
    reading.rows = []


def _heard(evidence: Evidence, n: int, reading: _Reading) -> Iterator[Fact]:
    line = evidence.lines[n]
    span = Span(evidence=evidence.name, first=n, last=n)
    if sentence := _sentence(line):
        words, tool, kind = sentence
        reading.role = None
        if reading.errors < MOST_ERRORS and not _is_noise(evidence, n, kind):
            reading.role = "leaked" if kind == "memory leaks" else "fault"
            reading.errors += 1
            yield from _error(evidence, n, words, tool, kind)
    elif died := DIED.search(line):
        reading.role = "fault"
        if not (reading.limited and died[1] == "SIGILL"):  # that one is Valgrind's own
            yield Death(span=span, signal=died[1])
    elif block := BLOCK.search(line):
        reading.role = "freed" if block[3] == "free'd" else "allocated"
        yield Notice(span=span, topic="beyond-region", text=block[2])
    else:
        reading.role = _announced(line, reading.role)
        for fact in _unmapped(evidence, n, span):
            reading.limited |= isinstance(fact, Notice) and fact.topic == "valgrind-limit"
            yield fact


def _is_noise(evidence: Evidence, n: int, kind: str) -> bool:
    """Whether it is a read that Python does on purpose: its allocator looks at what it freed."""
    first = _frame(evidence.lines[n + 1]) if n + 1 < len(evidence.lines) else None
    is_python = bool(first and OF_PYTHON.search(f"{first[1].function} {first[1].file}"))
    return is_python and "uninitialised" in kind


def _sentence(line: str) -> tuple[re.Match[str], str, str] | None:
    for pattern, tool, kind in SENTENCES:
        if found := pattern.search(line):
            return found, tool, kind
    return None


def _headless(evidence: Evidence, n: int, reading: _Reading) -> Iterator[Fact]:
    """An error whose first line was cut away: the address says that there was one."""
    block = BLOCK.search(evidence.lines[n])
    kind = "Invalid access"
    if block:
        kind = _of_freed(kind) if block[3] == "free'd" else kind
        span = Span(evidence=evidence.name, first=n, last=n)
        yield Checker(span=span, tool="memcheck", kind=kind, address=int(block[1], 16))
    yield Stack(
        span=Span(evidence=evidence.name, first=reading.rows[0][0], last=n),
        thread=None,
        crashed=True,
        frames=tuple(frame for _, frame in reading.rows),
    )
    reading.errors, reading.rows = 1, []


def _announced(line: str, role: Role | None) -> Role | None:
    if ALLOCATED.search(line):
        return "allocated"
    if PREVIOUS.search(line):
        return "previous"
    return None if ASIDE.search(line) else role


def _error(
    evidence: Evidence, n: int, words: re.Match[str], tool: str, kind: str
) -> Iterator[Fact]:
    span = Span(evidence=evidence.name, first=n, last=n, words=words[0])
    size = words[1].replace(",", "") if words.groups() and words[1] else ""
    access = _access(words[0])
    kind, address, told = _nearer(evidence, n, kind)
    yield Checker(
        span=span,
        tool=tool,
        kind=kind,
        access=access,
        size=int(size) if size.isdigit() else None,
        address=address,
    )
    if kind.startswith(("invalid", "Jump")):
        is_canonical = address is None or address >> HALF in (0, UPPER)
        span = Span(evidence=evidence.name, first=told, last=told)
        yield Fault(span=span, address=address, access=access, canonical=is_canonical)


def _access(words: str) -> Access:
    if "Jump" in words:
        return "execute"
    touched = TOUCHED.search(words)
    if not touched:
        return "unknown"
    return "read" if touched[1] in ("read", "load") else "write"


def _nearer(evidence: Evidence, n: int, kind: str) -> tuple[str, int | None, int]:
    """The kind as the words about the address make it exact, the address, and where it stands."""
    for row, line in enumerate(evidence.lines[n + 1 : n + SOON], n + 1):
        if _sentence(line) or DIED.search(line):
            break
        if block := BLOCK.search(line):
            is_freed = block[3] == "free'd" and kind.startswith("Invalid")
            return _of_freed(kind) if is_freed else kind, int(block[1], 16), row
        if ours := NOT_OURS.search(line):
            address = int(ours[1], 16)
            return _of_nobody(kind, address), address, row
        if found := ON_STACK.search(line):
            return kind, int(found[1] or found[2], 16), row
    return kind, None, n


def _of_freed(kind: str) -> str:
    """An error inside a block that had been freed; freeing that again is a double free."""
    return "double-free: Invalid free" if kind == "Invalid free" else f"use-after-free: {kind}"


def _of_nobody(kind: str, address: int) -> str:
    """An access to memory that nobody gave out: no block was overrun."""
    if kind not in ("Invalid read", "Invalid write"):
        return kind
    where = "a null pointer" if address < FIRST_PAGES else "an address that is not ours"
    return f"invalid {kind.split()[1]} through {where}"


def _unmapped(evidence: Evidence, n: int, span: Span) -> Iterator[Fact]:
    """Why it died of a signal, and what is Valgrind's own fault."""
    line = evidence.lines[n]
    if found := UNMAPPED.search(line):
        yield Fault(
            span=span, address=int(found[2], 16), present=found[1].startswith("Bad") or None
        )
    elif GENERAL.search(line):
        yield Fault(span=span, address=None, canonical=False)
    elif overflowed := OVERFLOWED.search(line):
        words = overflowed[0]
        yield Notice(span=span, topic="valgrind-stack", text=words, mechanism="stack-overflow")
    for pattern in LIMITS:
        if found := pattern.search(line):
            unknown = "illegal-instruction" if "nstruction" in found[0] else None
            yield Notice(
                span=span,
                topic="valgrind-limit",
                text=found[0],
                subject="Valgrind",
                mechanism=unknown,
            )
