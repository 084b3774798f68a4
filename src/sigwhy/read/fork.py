"""What run times say when a process was forked after they had started threads.

Looks like::

    objc[14347]: +[NSNumber initialize] may have been in progress in another thread when fork() was called.
    RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, ...
    I0000 00:00:1706.1 24759 fork_posix.cc:71] Other threads are currently calling into gRPC, skipping fork() handlers
    [mutex.cc : 1338] RAW: Check w->waitp->cond == nullptr failed: Mutex::Fer while waiting on Condition
    DeprecationWarning: This process (pid=15904) is multi-threaded, use of fork() may lead to deadlocks in the child.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Notice, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

CHECK = "check-failed"

# (words that must stand in the line, pattern with the subject if any, topic, who, mechanism).
# "fork-refused" and "fork-broke" name the cause themselves; "fork-warned" is said in healthy
# programs as well and proves nothing.
SENTENCES = tuple(
    (hint, re.compile(pattern), topic, who, mechanism)
    for hint, pattern, topic, who, mechanism in (
        ("when fork() was called", r"\+\[(?P<subject>\w{1,80}) initialize\] may have been in progress in another thread when fork\(\) was called", "fork-broke", "Objective-C", CHECK),
        ("_initializeAfterForkError", r"objc_initializeAfterForkError", "fork-broke", "Objective-C", CHECK),
        ("THE_PROCESS_HAS_FORKED", r"THE_PROCESS_HAS_FORKED_AND_YOU_CANNOT_USE_THIS_COREFOUNDATION_FUNCTIONALITY", "fork-broke", "CoreFoundation", CHECK),
        ("process has forked", r"The process has forked and you cannot use this (?P<subject>CoreFoundation) functionality safely", "fork-broke", "CoreFoundation", CHECK),
        ("side of fork", r"crashed on child side of fork pre-exec", "fork-broke", "macOS", None),
        ("ulti-threaded process forked", r"[Mm]ulti-threaded process forked", "fork-broke", "libdispatch", None),
        ("in forked subprocess", r"Cannot re-initialize (?P<subject>CUDA|XPU|MPS|HIP|MUSA|NPU|\w{2,20}) in forked subprocess", "fork-refused", None, None),
        ("bad_fork", r"_is_in_bad_fork", "fork-refused", "CUDA", None),
        ("bad fork", r"in bad fork|_is_in_bad_fork|Cannot re-initialize \w{2,20} in bad fork", "fork-refused", "CUDA", None),
        ("poison_fork", r"_poison_fork", "fork-refused", "CUDA", None),
        ("Failed setting context", r"Failed setting context: CUDA_ERROR_NOT_INITIALIZED", "context-of-parent", "CUDA", CHECK),
        ("CUDA_ERROR_NOT_INITIALIZED", r"CUDA_ERROR_NOT_INITIALIZED(?:: initialization error)?", "cuda-not-initialised", "CUDA", CHECK),
        ("could not retrieve CUDA device count", r"could not retrieve CUDA device count: CUDA_ERROR_NOT_INITIALIZED", "fork-refused", "CUDA", CHECK),
        ("initialization error", r"(?:CUDA (?:runtime )?[Ee]rror|cuda runtime error)(?: \(3\))?:? ?:? initialization error", "cuda-not-initialised", "CUDA", None),
        ("waitp->cond", r"RAW: Check (?:w->waitp->cond == (?:nullptr|NULL)|waitp->cond == nullptr)[^\n]{0,20}failed", "absl-mutex-broke", "gRPC", CHECK),
        ("Mutex::Fer while", r"Mutex::Fer while waiting on Condition", "absl-mutex-broke", "gRPC", CHECK),
        ("skipping fork() handlers", r"Other threads are currently calling into (?P<subject>gRPC), skipping fork\(\) handlers", "fork-warned", "gRPC", None),
        ("fork_posix.cc", r"fork_posix\.cc:\d{1,5}\] +(?:Fork support (?:is only compatible with|not enabled)|Fork support)[^\n]{0,80}", "fork-warned", "gRPC", None),
        ("ev_epoll1_linux.cc", r"ev_epoll1_linux\.cc:\d{1,5}\] +grpc epoll fd: -?\d{1,9}", "fork-warned", "gRPC", None),
        ("use of fork() may lead to deadlocks", r"use of fork\(\) may lead to deadlocks in the child", "fork-warned", None, None),
        ("Using fork() can cause", r"Using fork\(\) can cause (?P<subject>\w{1,40}) to deadlock", "fork-warned", None, None),
        ("use of forkpty() may lead", r"use of forkpty\(\) may lead to deadlocks in the child", "fork-warned", None, None),
        ("os.fork() was called", r"os\.fork\(\) was called\. os\.fork\(\) is incompatible with multithreaded code, and (?P<subject>JAX) is multithreaded", "fork-warned", "JAX", None),
        ("after forking", r"(?:[Tt]his (?:object|client) (?:cannot|can't|must not) be used|has been used|[Uu]sed) after forking", "fork-refused", None, None),
        ("opened before fork", r"(?P<subject>MongoClient) opened before fork", "fork-warned", "MongoClient", None),
        ("fork() called from a process", r"fork\(\) called from a process already using (?P<subject>GNU OpenMP)", "fork-broke", "GNU OpenMP", None),
        ("A process has executed an operation involving a call", r"A process has executed an operation involving a call(?: to the)?", "fork-warned", "Open MPI", None),
    )
)  # fmt: skip
MARKERS = (
    *dict.fromkeys(hint for hint, *_ in SENTENCES),
    "is_in_bad_fork",
    "waitp->cond",
)


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield every sentence that speaks of a fork, with whom it was that could not stand it."""
    for n, line in enumerate(evidence.lines):
        if notice := _said(evidence, n, line):
            yield notice


def _said(evidence: Evidence, n: int, line: str) -> Fact | None:
    for hint, pattern, topic, who, mechanism in SENTENCES:
        found = pattern.search(line) if hint in line else None
        if found:
            told = found.groupdict().get("subject")
            return Notice(
                span=Span(evidence=evidence.name, first=n, last=n, words=found[0]),
                topic=topic,
                text=found[0],
                subject=f"{who} ({told})" if who and told and told != who else told or who,
                mechanism=mechanism,
            )
    return None
