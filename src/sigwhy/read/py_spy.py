"""What ``py-spy dump`` prints about a process that hangs or spins.

Looks like::

    Process 8123: python train.py
    Python v3.11.7 (/usr/bin/python3.11)

    Thread 8123 (idle): "MainThread"
        wait (threading.py:327)
        join (multiprocessing/pool.py:666)
    Thread 0x7F1A8E2C3740 (active+gil): "worker"
        settle (train.py:12)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sigwhy.model.fact import Frame, Notice, Span, Stack, Version

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

MARKERS = ("(idle)", "(active", "Python v2", "Python v3")

HEAD = re.compile(
    r"Thread (?P<thread>0x[0-9A-Fa-f]{1,16}|\d{1,9}(?:/0x[0-9A-Fa-f]{1,16})?) "
    r"\((?P<state>idle|active)(?:\+gil)?\)(?:: \"(?P<name>[^\"\n]{0,120})\")?"
)
FRAME = re.compile(
    r"^\s{2,}(?P<function>[^\s(][^\n(]{0,300}) \((?P<file>[^()\n]{1,300}?)(?::(?P<line>\d{1,9}))?\)\s*$"
)
VERSION = re.compile(r"^\s*Python v(?P<version>\d\.\d{1,2}\.\d{1,2}\S{0,20}) \(")
LIBRARY = re.compile(r"\.(?:so|dylib|dll)\b|^(?:libc|libpthread|ld)-")


@dataclass(slots=True)
class _Thread:
    """The thread that is being read."""

    head: int
    thread: str
    idle: bool
    rows: list[tuple[int, Frame]] = field(default_factory=list)


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the stack of each thread, and whether all of them are idle."""
    for n, line in enumerate(evidence.lines):
        if found := VERSION.match(line):
            yield Version(
                span=Span(evidence=evidence.name, first=n, last=n, words=found[0].strip(" (")),
                package="python",
                version=found["version"],
            )
    threads = [thread for thread in _threads(evidence) if thread.rows]
    for thread in threads:
        yield Stack(
            span=Span(evidence=evidence.name, first=thread.rows[0][0], last=thread.rows[-1][0]),
            thread=thread.thread,
            crashed=False,
            frames=tuple(frame for _, frame in thread.rows),
            language=thread.rows[0][1].language,
            role="waiting",
        )
    yield from _all_idle(evidence, threads)


def _threads(evidence: Evidence) -> Iterator[_Thread]:
    thread: _Thread | None = None
    for n, line in enumerate(evidence.lines):
        if found := HEAD.search(line):
            if thread:
                yield thread
            name = found["name"] or found["thread"]
            thread = _Thread(head=n, thread=name, idle=found["state"] == "idle")
        elif thread and (found := FRAME.match(line)):
            thread.rows.append((n, _frame(found)))
    if thread:
        yield thread


def _frame(found: re.Match[str]) -> Frame:
    native = bool(LIBRARY.search(found["file"]))
    return Frame(
        function=found["function"],
        file=None if native else found["file"],
        line=int(found["line"]) if found["line"] else None,
        library=found["file"] if native else None,
        language="native" if native else "python",
    )


def _all_idle(evidence: Evidence, threads: Sequence[_Thread]) -> Iterator[Fact]:
    if threads and all(thread.idle for thread in threads):
        yield Notice(
            span=Span(evidence=evidence.name, first=threads[0].head, last=threads[-1].rows[-1][0]),
            topic="all-threads-wait",
            text="every thread is idle",
            mechanism="deadlock",
        )
