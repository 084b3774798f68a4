"""What run times say about threads: the GIL not held, locks broken, everybody waiting, the end near.

Looks like::

    FATAL: exception not rethrown
    pybind11::handle::dec_ref() is being called while the GIL is either not held or invalid.
    RuntimeError: Already borrowed
    libc++abi: terminating due to uncaught exception of type std::__1::system_error: mutex lock failed: Invalid argument
    [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=71, OpType=ALLREDUCE) ran for 1800517 ms
    [mutex.cc : 1549] RAW: Potential Mutex deadlock
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
THROWN = "uncaught-exception"
WAITS = "deadlock"

# (words that must stand in the line, pattern with the subject if any, topic, mechanism)
SENTENCES = tuple(
    (hint, re.compile(pattern), topic, mechanism)
    for hint, pattern, topic, mechanism in (
        ("exception not rethrown", r"FATAL: exception not rethrown", "forced-unwind", THROWN),
        ("GIL is either not held", r"(?P<subject>pybind11)::handle::(?:inc|dec)_ref\(\) is being called while the GIL is either not held or invalid", "gil-not-held", None),
        ("PyGILState_Check() failure", r"(?<![\w:])(?P<subject>[\w:]{1,80})\(\) PyGILState_Check\(\) failure", "gil-not-held", None),
        ("PyGILState_Check()", r"Assertion [`']PyGILState_Check\(\)'? failed", "gil-not-held", CHECK),
        ("the GIL", r"(?:called|used|destroyed|decref'?d|deallocated) without (?:holding )?the GIL", "gil-not-held", None),
        ("nanobind", r"(?P<subject>nanobind)[^\n]{0,120}GIL (?:is )?not held", "gil-not-held", None),
        ("Python GIL", r"(?:attempted|trying|tried) to (?:access|use|call)[^\n]{0,40}without[^\n]{0,20}Python GIL", "gil-not-held", None),
        ("Already borrowed", r"(?:RuntimeError: |PanicException: )?Already (?:mutably )?borrowed", "already-borrowed", None),
        ("Already mutably borrowed", r"Already mutably borrowed", "already-borrowed", None),
        ("is unsendable", r"(?<![\w:])(?P<subject>[\w:]{1,80}) is unsendable, but (?:is being|sent to|dropped on)", "wrong-thread", None),
        ("SQLite objects created in a thread", r"(?P<subject>SQLite) objects created in a thread can only be used in that same thread", "wrong-thread", None),
        ("Cannot switch to a different thread", r"(?P<subject>greenlet)?[^\n]{0,40}Cannot switch to a different thread", "wrong-thread", None),
        ("not an element of this graph", r"is not an element of this graph", "other-graph", None),
        ("changed size during iteration", r"(?P<subject>dictionary|[Ss]et|deque)(?: mutated| changed size) during iteration", "changed-while-read", None),
        ("mutated during iteration", r"(?P<subject>dictionary|[Ss]et|deque) mutated during iteration", "changed-while-read", None),
        ("pthread_mutex_", r"pthread_mutex_(?P<subject>(?:un|try)?lock)(?:_full)?(?:\.c)?:(?:\d{1,5}: )?[^\n]{0,60}[Aa]ssertion", "mutex-broken", CHECK),
        ("__pthread_mutex", r"__pthread_mutex_(?P<subject>\w{4,20}): Assertion [`'][^'\n]{1,120}' failed", "mutex-broken", CHECK),
        ("__pthread_tpp_change_priority", r"__pthread_tpp_change_priority: Assertion", "mutex-broken", CHECK),
        ("futex facility", r"The futex facility returned an unexpected error code", "mutex-broken", CHECK),
        ("mutex lock failed", r"mutex lock failed: (?P<subject>Invalid argument|Operation not permitted)", "mutex-gone", THROWN),
        ("boost::lock_error", r"(?P<subject>boost): mutex lock failed in pthread_mutex_lock: Invalid argument|boost::lock_error", "mutex-gone", None),
        ("Resource deadlock avoided", r"(?:mutex lock failed: )?Resource deadlock (?:avoided|would occur)", "deadlock-found", WAITS),
        ("Resource deadlock would occur", r"Resource deadlock would occur", "deadlock-found", WAITS),
        ("otential Mutex deadlock", r"[Pp]otential Mutex deadlock", "deadlock-found", WAITS),
        ("dying due to potential deadlock", r"dying due to potential deadlock", "deadlock-found", WAITS),
        ("deadlock detected by", r"deadlock detected by _ModuleLock\('?(?P<subject>[\w.]{1,120})", "deadlock-found", WAITS),
        ("lock-order-inversion", r"lock-order-inversion \(potential deadlock\)", "deadlock-found", None),
        ("caught collective operation timeout", r"Watchdog caught collective operation timeout: Work(?P<subject>\w{2,20})", "collective-timeout", WAITS),
        ("operations have failed or timed out", r"[Ss]ome (?P<subject>NCCL) operations have failed or timed out", "collective-timeout", WAITS),
        ("operation to complete", r"Timed out waiting \d{1,12}ms for (?:recv|send) operation to complete", "collective-timeout", WAITS),
        ("for send operation", r"Timed out waiting \d{1,12}ms for send operation to complete", "collective-timeout", WAITS),
        ("to join the rendezvous", r"(?:Expected \d{1,6} threads to join the rendezvous|Termination timeout for [^\n]{0,200}to join the rendezvous)", "collective-timeout", WAITS),
        ("Missing ranks", r"Ranks? \d{1,6}[^\n]{0,60}failed to pass monitoredBarrier|Missing ranks: [\d, ]{1,200}", "collective-timeout", WAITS),
        ("monitoredBarrier", r"Rank \d{1,6}[^\n]{0,40}failed to pass monitoredBarrier", "collective-timeout", WAITS),
        ("Failed: Timeout", r"Failed: Timeout >(?P<subject>\d{1,7}(?:\.\d{1,3})?)s", "test-timeout", None),
        ("Failed: Timeout >", r"Failed: Timeout (?:\(>|>)(?P<subject>\d{1,7}(?:\.\d{1,3})?)s?", "test-timeout", None),
        ("driver shutting down", r"(?:(?:CUDA|cuda|HIP)[^\n]{0,200})?driver shutting down", "driver-shutting-down", None),
        ("CUDA_ERROR_DEINITIALIZED", r"(?P<subject>CUDA)_ERROR_DEINITIALIZED", "driver-shutting-down", None),
        ("cudaErrorCudartUnloading", r"cudaErrorCudartUnloading", "driver-shutting-down", None),
        ("Python is likely shutting down", r"sys\.meta_path is None, Python is likely shutting down", "python-ends", None),
        ("new thread at interpreter shutdown", r"can't create new thread at interpreter shutdown", "python-ended", None),
        ("futures after interpreter shutdown", r"cannot schedule new futures after interpreter shutdown", "python-ended", None),
        ("could not acquire lock for", r"could not acquire lock for(?: (?P<subject><[^\n]{1,200}>)(?: at interpreter shutdown, possibly due to daemon threads)?)?", "daemon-at-shutdown", None),
    )
)  # fmt: skip
MARKERS = (
    *dict.fromkeys(hint for hint, *_ in SENTENCES),
    "without holding the GIL",
    "mutated during iteration",
    "operation to complete",
    "Timeout (>",
)


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield what was said about threads, one notice for a line."""
    for n, line in enumerate(evidence.lines):
        if notice := _said(evidence, n, line):
            yield notice


def _said(evidence: Evidence, n: int, line: str) -> Fact | None:
    for hint, pattern, topic, mechanism in SENTENCES:
        found = pattern.search(line) if hint in line else None
        if found:
            return Notice(
                span=Span(evidence=evidence.name, first=n, last=n, words=found[0]),
                topic=topic,
                text=found[0],
                subject=found.groupdict().get("subject"),
                mechanism=mechanism,
            )
    return None
