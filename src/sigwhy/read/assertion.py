"""Conditions that programs check themselves: C's assert in all its dialects, Rust, Go, LLVM.

Looks like::

    heapd: heap.c:7: depth: Assertion `n < 3' failed.
    Assertion failed: (n < 3), function depth, file heap.c, line 7.
    /usr/include/c++/12/bits/stl_vector.h:1123: T& std::vector<T>::operator[](): Assertion '__n < this->size()' failed.
    MPSNDArray.mm:788: failed assertion `Error: buffer is not large enough'
    thread 'main' panicked at src/table.rs:9:5:
    LLVM ERROR: out of memory
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.place import count, file_and_line, number
from sigwhy.model.fact import Check, Death, Fault, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

QUOTES = "`'‘’\"´“”"
# glibc, musl, bionic, libstdc++: what stands before "Assertion" is split from the right.
GNU = re.compile(rf"\b[Aa]ssertion [{QUOTES}](?P<what>[^\n]{{1,2000}}?)[{QUOTES}] failed")
FATAL_GLIBC = re.compile(
    r"Fatal glibc error: (?P<file>[^\s:]{1,200}):(?P<line>\d{1,8}) \((?P<function>\w{1,200})\): "
    r"assertion failed: (?P<what>[^\n]{1,400})"
)
BSD = re.compile(
    r"Assertion failed: \(?(?P<what>[^\n]{1,2000}?)\)?, (?:function (?P<function>[^\n]{1,400}?), )?"
    r"file (?P<file>[^\n]{1,400}?), line (?P<line>\d{1,8})"
)
MUSL = re.compile(
    r"Assertion failed: (?P<what>[^\n]{1,2000}?) \((?P<file>[^\s:()]{1,300}): (?P<function>[^\n:]{1,300}): (?P<line>\d{1,8})\)"
)
BIONIC = re.compile(
    r"(?:^|(?<=\s))(?P<file>[^\s:]{1,300}):(?P<line>\d{1,8}): (?P<function>[^\n]{1,300}?): assertion \"(?P<what>[^\n]{1,1000}?)\" failed"
)
METAL = re.compile(
    rf"(?<=\d): failed assertion [{QUOTES}](?P<what>[^\n]{{1,1000}}?)[{QUOTES}]?\s*$"
)
APPLE_FILE = re.compile(r"(?P<file>[^\s'\"`]{1,300}\.(?:mm?|cpp|h))$")
RUST = re.compile(
    r"thread '(?P<thread>[^'\n]{0,100})'(?: \(\d{1,12}\))? panicked at (?:[`'](?P<old>[^\n]{0,1000})[`'], )?"
    r"(?P<place>[^\s,]{1,300}:\d{1,8}:\d{1,8})"
)
GO_PANIC = re.compile(r"^(?:panic|fatal error): (?P<what>[^\n]{1,400})$")
GO_SIGNAL = re.compile(
    r"\[signal (?P<signal>SIG\w{2,10})[^\]\n]{0,60}? addr=(?P<address>0x[0-9a-fA-F]{1,16}) pc=0x[0-9a-fA-F]+\]"
)
GO_PROOF = re.compile(
    r"^goroutine \d{1,9} \[|^\[signal SIG|^runtime stack:|^runtime\.(?:throw|gopanic)"
)
LLVM = re.compile(r"LLVM ERROR: (?P<what>[^\n]{1,400})")
UNREACHED = re.compile(r"UNREACHABLE executed(?: at (?P<place>[^\s!]{1,300}:\d{1,8}))?!?")
MSVC = re.compile(r"^\s*(?:Expression|Ausdruck): (?P<what>\S[^\n]{0,400})$")
MSVC_FILE = re.compile(r"^\s*File: (?P<file>\S[^\n]{0,300})$")
MSVC_LINE = re.compile(r"^\s*Line: (?P<line>\d{1,8})\s*$")
MSVC_HEAD = re.compile(r"(?:Debug )?Assertion [Ff]ailed!")
QT = re.compile(
    r"\bASSERT(?: failure in (?P<function>[^\n:]{1,200}))?: \"(?P<what>[^\"\n]{1,600})\"(?:, | in )file (?P<file>[^\n,]{1,300}), line (?P<line>\d{1,8})"
)
GLIB = re.compile(
    r"ERROR:(?P<file>[^\s:]{1,300}):(?P<line>\d{1,8}):(?P<function>[^\s:]{1,200}): (?:assertion failed|code should not be reached)(?:[^(\n]{0,20}\((?P<what>[^\n]{1,400})\))?"
)
MARKERS = (
    "ssertion", "panicked at", "panic: ", "fatal error: ", "LLVM ERROR", "UNREACHABLE executed",
    "ASSERT", "[signal SIG", "code should not be reached",
)  # fmt: skip
PLAIN = (
    (FATAL_GLIBC, "assert"),
    (MUSL, "assert"),
    (BSD, "assert"),
    (BIONIC, "assert"),
    (QT, "qt"),
    (GLIB, "glib"),
)
# The text that an assert is made of, as a debugger shows it among the arguments.
TEMPLATE = re.compile(r"[Aa]ssertion .?%s")
LIBSTDCXX = re.compile(r"/c\+\+/[\d.]+/|/bits/|libstdc")
CUDA = re.compile(r"block: \[\d")
APPLE = (("MPS", "MPS"), ("MTL", "Metal"), ("Metal", "Metal"))
NEAR = 12
LONGEST_PLACE = 4000


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the conditions that did not hold."""
    for n, line in enumerate(evidence.lines):
        if not any(marker in line for marker in MARKERS) or CUDA.search(line):
            continue
        if TEMPLATE.search(line):
            continue
        if (fact := _plain(evidence, n, line) or _tongue(evidence, n, line)) is not None:
            yield fact
        else:
            yield from _go(evidence, n, line)


def _span(evidence: Evidence, n: int, words: str, last: int | None = None) -> Span:
    return Span(
        evidence=evidence.name, first=n, last=n if last is None else last, words=words.strip()
    )


def _plain(evidence: Evidence, n: int, line: str) -> Fact | None:
    """Those that name everything on one line, in an order of their own."""
    for form, framework in PLAIN:
        if found := form.search(line):
            return Check(
                span=_span(evidence, n, found[0]),
                framework=framework,
                expression=(found["what"] or "code should not be reached").strip(),
                file=found["file"],
                line=count(found["line"]),
                function=(found["function"] or "").strip() or None,
            )
    return None


def _tongue(evidence: Evidence, n: int, line: str) -> Fact | None:
    """Those that need more than the one line to be understood."""
    for form, check in TONGUES:
        if found := form.search(line):
            return check(evidence, n, found)
    return None


def _gnu(evidence: Evidence, n: int, found: re.Match[str]) -> Fact:
    """``PROG: FILE:L: FUNC: Assertion`` read from the right; PROG and FUNC may be missing."""
    before = evidence.lines[n][: found.start()][-LONGEST_PLACE:]
    parts = before.strip().rstrip(":").split(": ")
    place = next((p for p in parts if file_and_line(p)[1] is not None), "")
    file, line = file_and_line(place)
    after = parts[parts.index(place) + 1 :] if place else []
    return Check(
        span=_span(evidence, n, before + found[0]),
        framework="libstdc++" if file and LIBSTDCXX.search(file) else "assert",
        expression=found["what"],
        file=file.split(":")[-1] if file and ":/" in file else file,
        line=line,
        function=": ".join(after) or None,
    )


def _metal(evidence: Evidence, n: int, found: re.Match[str]) -> Fact:
    before, line = file_and_line(evidence.lines[n][: found.start()][-LONGEST_PLACE:])
    place = APPLE_FILE.search(before or "")
    return Check(
        span=_span(evidence, n, evidence.lines[n]),
        framework=next((f for word, f in APPLE if word in evidence.lines[n]), "apple"),
        expression=found["what"].strip(),
        file=place["file"] if place else None,
        line=line,
        function=before if before and not place else None,
    )


def _rust(evidence: Evidence, n: int, found: re.Match[str]) -> Fact:
    file, line = file_and_line(found["place"])
    old = found["old"]
    if old is None and n + 1 < len(evidence.lines):
        # Since Rust 1.73 the message stands on the next line.
        old = evidence.lines[n + 1].strip()
    return Check(
        span=_span(evidence, n, found[0]),
        framework="rust",
        expression=old or "panic",
        file=file,
        line=line,
    )


def _unreachable(evidence: Evidence, n: int, found: re.Match[str]) -> Fact:
    file, line = file_and_line(found["place"] or "")
    why = (
        evidence.lines[n - 1].strip()
        if n and not evidence.lines[n][: found.start()].strip()
        else ""
    )
    return Check(
        span=_span(evidence, n, found[0]),
        framework="llvm",
        expression="UNREACHABLE executed",
        detail=why[:400],
        file=file,
        line=line,
    )


def _msvc(evidence: Evidence, n: int, found: re.Match[str]) -> Fact:
    """A dialogue of the Microsoft run time: one thing on each line."""
    rows = evidence.lines[n + 1 : n + NEAR]
    what = next((f["what"].strip() for row in rows if (f := MSVC.match(row))), None)
    file = next((f["file"].strip() for row in rows if (f := MSVC_FILE.match(row))), None)
    line = next((count(f["line"]) for row in rows if (f := MSVC_LINE.match(row))), None)
    return Check(
        span=_span(evidence, n, found[0]),
        framework="msvc",
        expression=what or "Assertion failed",
        file=file,
        line=line,
    )


def _go(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    """Go's last words, where what follows proves that it is Go: C's compilers say it as well."""
    if found := GO_SIGNAL.search(line):
        span = _span(evidence, n, found[0])
        yield Death(span=span, signal=found["signal"])
        yield Fault(span=span, address=number(found["address"]))
    elif found := GO_PANIC.match(line):
        after = range(n + 1, min(n + NEAR, len(evidence.lines)))
        proof = next((m for m in after if GO_PROOF.match(evidence.lines[m])), None)
        if proof is not None and not GO_SIGNAL.search(evidence.lines[proof]):
            what = found["what"].strip()
            span = _span(evidence, n, found[0], proof)
            yield Check(span=span, framework="go", expression=what)


def _llvm(evidence: Evidence, n: int, found: re.Match[str]) -> Fact:
    what = found["what"].strip()
    return Check(span=_span(evidence, n, found[0]), framework="llvm", expression=what)


TONGUES = (
    (GNU, _gnu),
    (METAL, _metal),
    (RUST, _rust),
    (LLVM, _llvm),
    (UNREACHED, _unreachable),
    (MSVC_HEAD, _msvc),
)
