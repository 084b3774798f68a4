"""compute-sanitizer and its forerunner cuda-memcheck: memory errors inside CUDA kernels.

Looks like::

    ========= COMPUTE-SANITIZER
    ========= Invalid __global__ write of size 4 bytes
    =========     at blur_kernel(float *, int)+0x70 in /home/ann/blur/blur_op.cu:12
    =========     by thread (5,0,0) in block (0,0,0)
    =========     Address 0x7f2c0a is out of bounds
    =========     Host Frame: main in /home/ann/blur/main.cu:44 [0x21] in /home/ann/blur/a.out
    ========= Program hit cudaErrorIllegalAddress (error 700) due to "an illegal memory access"
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Checker, Frame, Span, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Access, Fact

MARKERS = (
    "========= Error",
    "========= Warn",
    "========= Leaked",
    "========= Race",
    "========= Barrier",
    "========= Malloc",
    "========= Uninit",
    "========= Stack",
    "COMPUTE-SANITIZER",
    "CUDA-MEMCHECK",
    "=========     ",
    "========= Invalid __",
)
OURS = re.compile(r"={5,9} (\S[^\n]*)$")
INSIDE = re.compile(r"={5,9} {2,}(\S[^\n]*)$")
SAID = tuple(
    (re.compile(words), kind)
    for words, kind in (
        (r"^Invalid __(\w+)__ (read|write|atomic)(?: of size (\d+))?", ""),
        (
            r"^Uninitialized __(\w+)__ (?:memory )?(read)(?: of size (\d+))?",
            "uninitialized memory read",
        ),
        (r"^(?:Error|Warning|WARN|ERR)?:? ?\(?Race reported between", "data race"),
        (r"^(?:Error: Potential )?(?:WAR|RAW|WAW) hazard detected", "data race"),
        (r"^Barrier error detected", "barrier error"),
        (r"^Malloc/Free error encountered|^Malloc/Free Error", "Invalid free"),
        (r"^Leaked [\d,]+ bytes", "memory leaks"),
        (r"^Out-of-range Shared or Local Address", "Invalid __shared__ access"),
        (r"^Misaligned Shared or Local Address", "misaligned address"),
        (r"^Lane User Stack Overflow|^Stack overflow", "stack-overflow"),
        (r"^Invalid PC|^Illegal Instruction", "Jump to the invalid address"),
    )
)
KERNEL = re.compile(
    r"^at ([^\n]{1,400}?)(?:\+0x[0-9a-f]+)? in (\S[^\n]{0,300}?):(\d{1,7})(?::(\S[^\n]{0,300}))?$|^at ([^\n]{1,400}?)\+0x[0-9a-f]+(?: in ([^\n]{1,300}))?$"
)
HEXED = re.compile(r"^0x[0-9a-fA-F]+$")
HOST = re.compile(
    r"^(?:Saved )?Host Frame: ?([^\n\[]{0,300}?)(?: in ([^\n\[]{1,300}?):(\d{1,7}))? \[0x[0-9a-f]+\](?: in (\S+))?"
)
SOON = 4
MOST_ERRORS = 20


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the errors, each with the frames of the kernel and of the host that launched it."""
    told = 0
    for n, line in enumerate(evidence.lines):
        found = OURS.search(line) if "=====" in line else None
        error = _error(found[1]) if found else None
        if found and error and told < MOST_ERRORS:
            told += 1
            yield from _report(evidence, n, error)


def _error(words: str) -> tuple[re.Match[str], str] | None:
    for pattern, kind in SAID:
        if found := pattern.search(words):
            return found, kind or f"Invalid __{found[1]}__ {found[2]}"
    return None


def _report(evidence: Evidence, n: int, error: tuple[re.Match[str], str]) -> Iterator[Fact]:
    words, kind = error
    has_more = words.re.groups >= 3
    frames, last = _frames(evidence, n)
    place = next((f"{f.file}:{f.line}" for f in frames if f.file and f.line), None)
    span = Span(evidence=evidence.name, first=n, last=n, words=words[0])
    yield Checker(
        span=span,
        tool="compute-sanitizer",
        kind=kind,
        access=_access(words[2]) if has_more else "unknown",
        size=int(words[3]) if has_more and words[3] else None,
        place=place or next((f.function for f in frames), None),
    )
    if frames:
        span = Span(evidence=evidence.name, first=n, last=last)
        yield Stack(span=span, thread=None, crashed=True, frames=frames)


def _access(word: str) -> Access:
    return "read" if word == "read" else "write"


def _frames(evidence: Evidence, n: int) -> tuple[tuple[Frame, ...], int]:
    """The frames below an error, and the last line of them."""
    frames: list[Frame] = []
    last = n
    for m in range(n + 1, min(n + 200, len(evidence.lines))):
        inside = INSIDE.search(evidence.lines[m])
        if not inside:
            break
        if one := _kernel(inside[1]) or _host(inside[1]):
            frames.append(one)
            last = m
    return tuple(frames), last


def _kernel(words: str) -> Frame | None:
    found = KERNEL.match(words)
    if not found:
        return None
    named = found[1] or found[5]
    function = found[4] if HEXED.match(named) else named
    return Frame(
        function=function, file=found[2] or found[6], line=int(found[3]) if found[3] else None
    )


def _host(words: str) -> Frame | None:
    found = HOST.match(words)
    if not found:
        return None
    line = int(found[3]) if found[3] else None
    return Frame(function=found[1].strip() or None, file=found[2], line=line, library=found[4])
