"""What python-gdb.py prints for ``py-bt``: the Python frames of a stopped process.

Looks like::

    (gdb) py-bt
    Traceback (most recent call first):
      <built-in method acquire of _thread.lock object at remote 0x7f3a8c1d5c30>
      File "/usr/lib/python3.11/threading.py", line 1116, in join
        self._wait_for_tstate_lock()
      File "/home/ann/train.py", line 40, in <module>
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sigwhy.model.fact import Frame, Notice, Span, Stack
from sigwhy.model.shape import waits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

MARKERS = ("Traceback (most recent call first)",)

HEAD = re.compile(r"Traceback \(most recent call first\)")
THREAD = re.compile(r"^\s*Thread (?P<number>\d{1,9}) \(")
FRAME = re.compile(
    r"^\s*(?:#\d{1,6} )?File \"(?P<file>[^\"\n]{1,500})\", line (?P<line>\d{1,9}), in (?P<function>\S{1,200})"
)
BUILT_IN = re.compile(r"^\s*<built-in (?:method|function) (?P<function>\w{1,80})[ >]")
WAITING_FOR_GIL = re.compile(r"^\s*Waiting for the GIL\s*$")
DIED = re.compile(r"(?:received|terminated with) signal SIG")


@dataclass(slots=True)
class _Block:
    """The stack that is being read."""

    thread: str | None
    rows: list[tuple[int, Frame]] = field(default_factory=list)


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the Python stack of each thread that was asked for."""
    died = any(DIED.search(line) for line in evidence.lines)
    for n, line in enumerate(evidence.lines):
        if found := WAITING_FOR_GIL.match(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0].strip())
            yield Notice(span=span, topic="waits-for-gil", text=span.words)
    blocks = [block for block in _blocks(evidence) if block.rows]
    for place, block in enumerate(blocks):
        yield Stack(
            span=Span(evidence=evidence.name, first=block.rows[0][0], last=block.rows[-1][0]),
            thread=block.thread,
            crashed=died and place == 0,
            frames=tuple(frame for _, frame in block.rows),
            language="python",
            role="fault" if died else "waiting",
        )
    if blocks and not died and all(_waits(block) for block in blocks):
        first, last = blocks[0].rows[0][0], blocks[-1].rows[-1][0]
        yield Notice(
            span=Span(evidence=evidence.name, first=first, last=last),
            topic="all-threads-wait",
            text="every thread waits",
            mechanism="deadlock",
        )


def _blocks(evidence: Evidence) -> Iterator[_Block]:
    thread: str | None = None
    block: _Block | None = None
    for n, line in enumerate(evidence.lines):
        if found := THREAD.match(line):
            thread = found["number"]
        if HEAD.search(line) or "(most recent call last)" in line:
            if block:
                yield block
            block = _Block(thread=thread) if HEAD.search(line) else None
        elif block and (frame := _frame(line)):
            block.rows.append((n, frame))
    if block:
        yield block


def _waits(block: _Block) -> bool:
    """By the innermost frame that has a file: a built-in, such as acquire(), stands above it."""
    frames = [frame for _, frame in block.rows[:2]]
    return any(waits(frame) for frame in frames)


def _frame(line: str) -> Frame | None:
    if found := FRAME.match(line):
        number = int(found["line"])
        name = found["function"]
        return Frame(function=name, file=found["file"], line=number, language="python")
    if found := BUILT_IN.match(line):
        return Frame(function=found["function"], language="python")
    return None
