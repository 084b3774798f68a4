"""A child that died, as its parent says it: data loaders, pools, test workers, notebook kernels.

Looks like::

    RuntimeError: DataLoader worker (pid 314) is killed by signal: Killed.
    RuntimeError: DataLoader worker (pid(s) 314, 315) exited unexpectedly
    concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly
    joblib.externals.loky.process_executor.TerminatedWorkerError: ... The exit codes of the workers are {SIGKILL(-9)}
    worker 'gw0' crashed while running 'tests/test_a.py::test_b'
    The Kernel crashed while executing code in the current cell or a previous cell.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sigwhy.machine import signals, tongues
from sigwhy.model.fact import Death, Exit, Notice, Span, Timeout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

LOADER = re.compile(
    r"DataLoader worker \(pid(?:\(s\))? (?P<pid>\d{1,10})[\d, ]{0,200}\) is killed by signal: (?P<word>[^\n.]{1,60}?)\s{0,3}(?:\.|$)"
)
BUS = re.compile(r"[Uu]nexpected bus error encountered in worker")
UNKNOWN = re.compile(r"Unknown signal:? (?P<number>\d{1,2})")
CODES = re.compile(r"exit codes? of the workers? (?:are|is) \{(?P<codes>[^\n}]{1,400})\}")
CODE = re.compile(r"(?P<name>SIG[A-Z]{2,6}|EXIT)\((?P<number>-?\d{1,10})\)")
FOREIGN: Final = {word: signal for signal, words in tongues.WORDS.items() for word in words}
# Who lost a child, and his words. None of them says why it died.
LOST: Final = tuple(
    (who, re.compile(words))
    for who, words in (
        ("PyTorch DataLoader", r"DataLoader worker \(pid(?:\(s\))? [\d, ]{1,300}\) exited unexpectedly|Pin memory thread exited unexpectedly"),
        ("PyTorch DataLoader", r"DataLoader timed out after \d{1,9} seconds"),
        ("process pool", r"BrokenProcessPool|process in the process pool was terminated abruptly"),
        ("joblib", r"TerminatedWorkerError|worker process managed by the executor was unexpectedly terminated|BrokenProcessPool: A task has failed to un-serialize"),
        ("pytest-xdist", r"\[gw\d{1,4}\] node down: Not properly terminated|worker '?gw\d{1,4}'? crashed while running|replacing crashed worker gw\d{1,4}"),
        ("Jupyter", r"The [Kk]ernel crashed while executing code|[Kk]ernel (?:has )?(?:died|Died)\b|[Dd]ead kernel|kernel appears to have died|KernelRestarter: restarting kernel|DeadKernelError|Canceled future for execute_request|Kernel Restarting|AsyncIOLoopKernelRestarter|kernel [\w-]{1,60} restarted"),
        ("Colab", r"session crashed for an unknown reason"),
        ("Spyder", r"An error occurred while starting the kernel|Restarting kernel\.\.\."),
        ("gunicorn", r"Worker exiting \(pid: \d{1,10}\)|Worker failed to boot"),
        ("Celery", r"WorkerLostError|Worker exited prematurely"),
        ("RQ", r"[Ww]ork-horse (?:process )?(?:was )?terminated unexpectedly"),
        ("uWSGI", r"DAMN ! worker \d{1,6}"),
        ("Dask", r"KilledWorker|distributed\.nanny[^\n]{0,40}(?:Restarting worker|[Ww]orker process \d{1,10}(?: was killed)?)|workers died while (?:running|trying to run) it"),
        ("Ray", r"WorkerCrashedError|ActorDiedError|RayActorError|[Ww]orker died unexpectedly|Worker unexpectedly exits|raylet[^\n]{0,40} (?:died|crashed)"),
        ("torchrun", r"ChildFailedError|torch\.distributed\.elastic\S{0,60} failed|ProcessExitedException|ProcessRaisedException"),
        ("Spark", r"Python worker exited unexpectedly|ExecutorLostFailure|Python worker failed to connect back"),
        ("Databricks", r"Python kernel is unresponsive|Fatal error: The Python kernel"),
        ("multiprocess", r"One of the subprocesses has abruptly died during map operation"),
        ("forkserver", r"EOFError: unexpected EOF[^\n]{0,20}forkserver|Process forkserver"),
        ("vLLM", r"EngineDeadError|EngineCore (?:encountered an issue|died unexpectedly)|Engine core proc \S{1,40} died unexpectedly|background loop has errored"),
    )
)  # fmt: skip
WAITED = re.compile(r"DataLoader timed out after (?P<seconds>\d{1,9}) seconds")
MARKERS = (
    "DataLoader", "orker", "rocess", "ernel", "session crashed", "node down", "Work-horse", "work-horse", "Pin memory", "execute_request",
    "ExecutorLost", "raylet", "ActorDied", "RayActor", "Engine", "ChildFailed", "elastic", "background loop", "forkserver",
)  # fmt: skip


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the children that died, and of what where the parent knows."""
    for n, line in enumerate(evidence.lines):
        if not any(marker in line for marker in MARKERS):
            continue
        yield from _loader(evidence.name, n, line)
        if found := CODES.search(line):
            yield from _codes(evidence.name, n, found)
        for who, way in LOST:
            if found := way.search(line):
                span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
                yield Notice(span=span, topic="worker-lost", text=found[0], subject=who)
                break
        if found := WAITED.search(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
            yield Timeout(span=span, seconds=float(found["seconds"]))


def _loader(name: str, n: int, line: str) -> Iterator[Fact]:
    """A worker of a PyTorch DataLoader, with the signal."""
    if found := LOADER.search(line):
        word = found["word"].strip()
        if unknown := UNKNOWN.match(word):
            word = unknown["number"]
        if signal := signals.signal_named(word) or FOREIGN.get(word):
            span = Span(evidence=name, first=n, last=n, words=found[0].strip())
            yield Death(
                span=span, signal=signal, pid=int(found["pid"]), command="DataLoader worker"
            )
            yield Notice(
                span=span, topic="worker-lost", text=span.words, subject="PyTorch DataLoader"
            )
    elif found := BUS.search(line):
        span = Span(evidence=name, first=n, last=n, words=found[0])
        yield Death(span=span, signal="SIGBUS", command="DataLoader worker")


def _codes(name: str, n: int, found: re.Match[str]) -> Iterator[Fact]:
    """What joblib tells of its dead workers: ``{SIGKILL(-9), SIGSEGV(-11)}``."""
    told = set()
    for code in CODE.finditer(found["codes"]):
        span = Span(evidence=name, first=n, last=n, words=code[0])
        if code[0] in told:
            continue
        told.add(code[0])
        if code["name"] == "EXIT":
            yield Exit(span=span, status=int(code["number"]))
        else:
            yield Death(span=span, signal=code["name"], command="joblib worker")
