"""What OpenMP runtimes say of each other, and their frames where a debugger printed them bare.

Looks like::

    OMP: Error #15: Initializing libiomp5.so, but found libomp.so.5 already initialized.
    OMP: Hint This means that multiple copies of the OpenMP runtime have been linked into the program.
    OMP: Error #34: System unable to allocate necessary resources for OMP thread:
    Found Intel OpenMP ('libiomp') and LLVM OpenMP ('libomp') loaded at
    libomp.dylib`__kmp_suspend_64<false, true> + 44
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Limit, Notice, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

CHECK = "check-failed"

# (words that must stand in the line, pattern with the subject if any, topic, mechanism)
SENTENCES = tuple(
    (hint, re.compile(pattern), topic, mechanism)
    for hint, pattern, topic, mechanism in (
        ("but found", r"Initializing (?P<subject>\S{1,200}), but found \S{1,200} already initialized", "openmp-twice", CHECK),
        ("Initializing lib", r"Error #15: Initializing (?P<subject>lib[^\s,]{1,100})", "openmp-twice", CHECK),
        ("multiple copies of the OpenMP", r"multiple copies of the OpenMP runtime have been linked", "openmp-twice", CHECK),
        ("only a single OpenMP runtime", r"only a single OpenMP runtime is linked into the process", "openmp-twice", CHECK),
        ("KMP_DUPLICATE_LIB_OK=TRUE to allow", r"KMP_DUPLICATE_LIB_OK=TRUE to allow the program to continue", "openmp-twice", CHECK),
        ("loaded at", r"Found (?P<subject>(?:Intel|LLVM|GNU|Microsoft)[^\n]{0,30}OpenMP) \('\w{1,20}'\) and [^\n]{1,40} loaded at", "openmp-both", None),
        ("known to be incompatible", r"Both libraries are known to be incompatible", "openmp-both", None),
        ("is incompatible with libgomp", r"MKL_THREADING_LAYER=\w{1,12} is incompatible with (?P<subject>libgomp[\w.+-]{0,60})", "openmp-layer", CHECK),
        ("OMP: Error #13", r"OMP: Error #13: Assertion failure at (?P<subject>\w{1,60}\.\w{1,4})", "openmp-assert", CHECK),
        ("OMP: Error #179", r"OMP: Error #179: Function (?P<subject>[^\n]{1,80}?) failed", "openmp-system-call", CHECK),
        ("OMP: Warning #190", r"OMP: Warning #190: Forking a process", "openmp-forked", None),
    )
)  # fmt: skip
NO_THREAD = re.compile(
    r"OMP: Error #3[45]: System unable to allocate necessary resources for (?:OMP thread|the monitor thread)"
    r"|libgomp: Thread creation failed: [^\n]{1,80}"
    r"|libgomp: could not create thread pool"
)
# A frame as lldb writes it, without its number; only the first of a run is the innermost.
BARE_FRAME = re.compile(
    r"^\s*(?P<subject>lib(?:iomp5?|omp|gomp)[\w.+-]{0,40})`_{0,2}(?:kmp|GOMP|omp|gomp)_\w{1,80}"
)
FRAME = re.compile(r"^\s*\S{1,200}`\S")
MARKERS = (
    *sorted({row[0] for row in SENTENCES} - {"but found", "loaded at"}),
    "already initialized",
    "OpenMP ('",
    "OMP: Error",
    "libgomp: ",
    "`__kmp",
    "`kmp_",
    "`GOMP_",
    "`gomp_",
)  # fmt: skip


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield what OpenMP runtimes said, and where they died."""
    for n, line in enumerate(evidence.lines):
        for hint, pattern, topic, mechanism in SENTENCES:
            if hint in line and (found := pattern.search(line)):
                yield _notice(evidence, n, found, topic, mechanism)
                break
        if found := NO_THREAD.search(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
            yield Limit(span=span, resource="threads", who="OpenMP")
        if found := BARE_FRAME.search(line):
            inner = n == 0 or not FRAME.search(evidence.lines[n - 1])
            if inner:
                yield _notice(evidence, n, found, "openmp-frame", None)


def _notice(
    evidence: Evidence, n: int, found: re.Match[str], topic: str, mechanism: str | None
) -> Fact:
    return Notice(
        span=Span(evidence=evidence.name, first=n, last=n, words=found[0]),
        topic=topic,
        text=found[0],
        subject=found.groupdict().get("subject"),
        mechanism=mechanism,
    )
