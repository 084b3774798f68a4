"""What the C++ run time says when an exception leaves a thread, or a virtual call has no body.

Looks like::

    terminate called after throwing an instance of 'std::runtime_error'
      what():  cannot open index
    libc++abi: terminating due to uncaught exception of type std::out_of_range: vector
    pure virtual method called
    terminate called without an active exception
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Span, Uncaught

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

THROWN = re.compile(
    r"terminate called after throwing an instance of\s*[`'‘\"]?(?P<type>[^'’\"\n]{0,400})['’\"]?"
)
WHAT = re.compile(r"what\(\):\s*(?P<what>.*)$")
ABI = re.compile(
    r"terminating (?:due to|with) (?:uncaught|unexpected|forced) (?:(?:foreign )?exception|unwind)"
    r"(?: of type (?P<type>[^\n]{1,400}))?"
)
TYPE_ENDS = re.compile(r"(?<!:): ")
NSEXCEPTION = re.compile(
    r"Terminating app due to uncaught exception '(?P<type>[^']{1,120})', reason: '(?P<what>.*)"
)
MSVC = re.compile(
    r"(?:Unhandled exception|Exception thrown) at [^\n]{1,160}?: Microsoft C\+\+ exception: "
    r"(?P<type>[^\n]{1,200}?) at memory location"
)
# Sentences without an exception that has a name.
NAMELESS = re.compile(
    r"pure virtual (?:method|function)(?: call)?(?: called)?\b"
    r"|Pure virtual function called!"
    r"|deleted virtual method called"
    r"|terminate called without an active exception"
    r"|terminate called recursively"
    r"|terminate_handler unexpectedly (?:threw an exception|returned)"
    r"|unexpected_handler unexpectedly (?:threw an exception|returned)"
    r"|std::terminate\(\) called"
    r"|libc\+\+abi(?:\.dylib)?: terminating\s*$"
)
MARKERS = (
    "terminate called", "terminating", "Terminating app", "ure virtual", "deleted virtual",
    "Microsoft C++ exception", "unexpectedly", "std::terminate",
)  # fmt: skip
NO_EXCEPTION = "without an active exception"
VIRTUAL = "virtual method called"
NEXT_LINES = 6


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the exceptions that nobody caught."""
    for n, line in enumerate(evidence.lines):
        if not any(marker in line for marker in MARKERS):
            continue
        if found := THROWN.search(line):
            yield _thrown(evidence, n, found)
        elif found := (NSEXCEPTION.search(line) or MSVC.search(line)):
            what = found.groupdict().get("what")
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0].rstrip())
            yield Uncaught(span=span, type=found["type"], what=what)
        elif found := ABI.search(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0].rstrip())
            type_, what = _split(found["type"])
            yield Uncaught(span=span, type=type_, what=what)
        elif (found := NAMELESS.search(line)) and not _is_echo(evidence, n):
            words = found[0].rstrip()
            span = Span(evidence=evidence.name, first=n, last=n, words=words)
            yield Uncaught(span=span, type=None, what=words)


def _is_echo(evidence: Evidence, n: int) -> bool:
    """Whether this terminate() only follows from the virtual call of the lines before."""
    before = evidence.lines[max(0, n - 2) : n]
    return NO_EXCEPTION in evidence.lines[n] and any(VIRTUAL in line for line in before)


def _thrown(evidence: Evidence, n: int, found: re.Match[str]) -> Fact:
    """What libstdc++ says: the type, and its words on the next line or close by."""
    type_ = found["type"].strip()
    last, what = n, None
    if inline := WHAT.search(evidence.lines[n]):
        what = inline["what"].strip()
    else:
        for m in range(n + 1, min(n + 1 + NEXT_LINES, len(evidence.lines))):
            if THROWN.search(evidence.lines[m]):
                break
            if told := WHAT.search(evidence.lines[m]):
                last, what = m, told["what"].strip()
                break
    span = Span(evidence=evidence.name, first=n, last=last, words=type_)
    return Uncaught(span=span, type=type_ or None, what=what)


def _split(text: str | None) -> tuple[str | None, str | None]:
    """``std::out_of_range: vector`` in two; libc++ abi writes both on one line."""
    if text is None:
        return None, None
    cut = TYPE_ENDS.search(text)
    if not cut:
        return text.strip().rstrip(":") or None, None
    return text[: cut.start()].strip(), text[cut.end() :].strip() or None
