"""What ``pystack remote`` and ``pystack core`` print: threads with the innermost frame last.

Looks like::

    The process died due a segmentation fault accessing address: 0x75bcd15
    The process died due receiving signal SIGABRT sent by pid 812
    Traceback for thread 570 (python3) [Has the GIL] (most recent call last):
        (Python) File "/home/ann/train.py", line 31, in step
            merge(rows)
        (C) File "./kernel.c", line 10, in merge_rows (/opt/libmerge.so)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sigwhy.model.fact import Death, Fault, Frame, Notice, Span, Stack
from sigwhy.model.shape import waits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

MARKERS = ("Traceback for thread ", "(Python) File ", "(C) File ", "The process died due ")

DIED = re.compile(
    r"The process died due (?:a segmentation fault accessing address: (?P<address>0x[0-9a-f]{1,16})"
    r"|receiving signal (?P<signal>SIG[A-Z]{2,8})(?: sent by pid (?P<pid>\d{1,9}))?)"
)
HEAD = re.compile(
    r"Traceback for thread (?P<tid>\d{1,9}) (?:\((?P<name>[^)\n]{0,80})\) )?\[(?P<state>[^\]\n]{0,80})\]"
)
FRAME = re.compile(
    r"\((?P<language>Python|C)\) File \"(?P<file>[^\"\n]{1,500})\", line (?P<line>\d{1,9}), in "
    r"(?P<function>[^\s(]{1,300})(?:[^\n]{0,600} \((?P<library>[^()\s]{1,300})\))?"
)
HOLDS = "Has the GIL"


@dataclass(slots=True)
class _Thread:
    """The thread that is being read."""

    tid: str | None = None
    holds: bool = False
    rows: list[tuple[int, Frame]] = field(default_factory=list)


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield how the process died, and the stack of each thread with its innermost frame first."""
    died = False
    for n, line in enumerate(evidence.lines):
        if found := DIED.search(line):
            died = True
            yield from _death(Span(evidence=evidence.name, first=n, last=n, words=found[0]), found)
    threads = [thread for thread in _threads(evidence) if thread.rows]
    stacks = [_stack(evidence, thread, died=died, alone=len(threads) == 1) for thread in threads]
    yield from stacks
    if stacks and not died:
        yield from _all_wait(evidence, stacks)


def _death(span: Span, found: re.Match[str]) -> Iterator[Fact]:
    yield Death(span=span, signal=found["signal"] or "SIGSEGV")
    if found["address"]:
        yield Fault(span=span, address=int(found["address"], 16))


def _threads(evidence: Evidence) -> Iterator[_Thread]:
    thread = _Thread()
    for n, line in enumerate(evidence.lines):
        if found := HEAD.search(line):
            yield thread
            thread = _Thread(tid=found["tid"], holds=HOLDS in found["state"])
        elif found := FRAME.search(line):
            thread.rows.append((n, _frame(found)))
    yield thread


def _frame(found: re.Match[str]) -> Frame:
    native = found["language"] == "C"
    unknown = found["file"] in {"???", "?"}
    return Frame(
        function=found["function"],
        file=None if unknown else found["file"],
        line=int(found["line"]) or None,
        library=found["library"] if native else None,
        language="native" if native else "python",
    )


def _stack(evidence: Evidence, thread: _Thread, *, died: bool, alone: bool) -> Stack:
    frames = tuple(frame for _, frame in reversed(thread.rows))
    crashed = died and (thread.holds or alone)
    return Stack(
        span=Span(evidence=evidence.name, first=thread.rows[0][0], last=thread.rows[-1][0]),
        thread=thread.tid,
        crashed=crashed,
        frames=frames,
        language=frames[0].language,
        role="fault" if died else "waiting",
    )


def _all_wait(evidence: Evidence, stacks: Sequence[Stack]) -> Iterator[Fact]:
    if all(waits(stack.frames[0]) for stack in stacks):
        yield Notice(
            span=Span(
                evidence=evidence.name, first=stacks[0].span.first, last=stacks[-1].span.last
            ),
            topic="all-threads-wait",
            text="every thread waits",
            mechanism="deadlock",
        )
