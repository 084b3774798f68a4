"""What Python's faulthandler prints when the process dies, hangs, or is asked.

Looks like::

    Fatal Python error: Segmentation fault

    Current thread 0x00007f1a8e2c3740 [MainThread] (most recent call first):
      Garbage-collecting
      File "/home/ann/train.py", line 31 in step
      File "/home/ann/train.py", line 40 in <module>
      ...

    Current thread's C stack trace (most recent call first):
      Binary file "/usr/bin/python3.14", at _Py_DumpStack+0x31 [0x5a2c4f]

    Extension modules: numpy._core._multiarray_umath, fastmerge._kernel (total: 2)

    Windows fatal exception: access violation
    Timeout (0:01:00)!
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sigwhy.machine.ntstatus import status_named
from sigwhy.machine.signals import signal_named
from sigwhy.model.fact import Death, Exit, Frame, Notice, Span, Stack, Timeout
from sigwhy.model.shape import waits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

MARKERS = (
    "Fatal Python error: ", "Windows fatal exception", "Timeout (", "most recent call first",
    "Extension modules: ", '", line ', "no Python frame", "Garbage-collecting", 'Binary file "',
)  # fmt: skip

DIED = re.compile(
    r"Fatal Python error: (?P<means>Segmentation fault|Aborted|Bus error|Illegal instruction"
    r"|Floating[ -]point exception|Bad system call|Trace/breakpoint trap)"
)
WINDOWS = re.compile(
    r"Windows fatal exception: (?:code (?P<code>0x[0-9a-fA-F]{1,8})|(?P<means>[a-z][a-z ]{1,30}[a-z]))"
)
TIMEOUT = re.compile(r"Timeout \((?P<h>\d{1,5}):(?P<m>\d{1,2}):(?P<s>\d{1,2}(?:\.\d{1,9})?)\)!")
HEAD = re.compile(
    r"(?:(?P<current>Current )?[Tt]hread (?P<thread>0x[0-9a-fA-F]{1,16})(?: \[(?P<name>[^\]\n]{0,80})\])?"
    r"|(?P<only>Stack|Traceback)) \(most recent call first\)"
)
FRAME = re.compile(
    r"File \"(?P<file>[^\"\n]{1,500})\", line (?P<line>\d{1,9}|\?\?\?) in (?P<function>[^\s,]{1,200})"
)
CURRENT = re.compile(r"Current thread")
C_HEAD = re.compile(r"Current thread's C stack trace \(most recent call first\)")
C_FRAME = re.compile(
    r"Binary file \"(?P<library>[^\"\n]{1,500})\"(?:, at (?P<symbol>[^\s+\[]{0,300})[+-]0x(?P<offset>[0-9a-fA-F]{1,16}))? \[0x"
)
EXTENSIONS = re.compile(r"Extension modules: (?P<names>\w[\w., -]{0,8000})")
NO_FRAME = re.compile(r"<no Python frame>")
COLLECTING = re.compile(r"^\s*Garbage-collecting\s*$")
LIBC = re.compile(r"(?:^|/)(?:libc[.-]|libpthread[.-]|libsystem_\w+\.|ld-musl)")
DUMPERS = re.compile(r"^_?Py_(?:DumpStack|FatalError\w*|DumpTraceback\w*)|^faulthandler")

WINDOWS_NAMES = {
    "access violation": 0xC0000005,
    "page error": 0xC0000006,
    "stack overflow": 0xC00000FD,
    "float divide by zero": 0xC000008E,
    "float overflow": 0xC0000091,
    "int divide by zero": 0xC0000094,
    "integer overflow": 0xC0000095,
}
SEVERE = 0xC
WIDEST_GAP = 40  # foreign lines between two frames of one stack
MOST_FRAMES = 2000


@dataclass(slots=True)
class _Block:
    """The stack that is being read."""

    thread: str | None = None
    crashed: bool = False
    native: bool = False
    rows: list[tuple[int, Frame]] = field(default_factory=list)


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield how it died, every stack, and which extension modules were loaded."""
    watched = False
    for n, line in enumerate(evidence.lines):
        for fact in _said(evidence, n, line):
            watched = watched or isinstance(fact, Timeout)
            yield fact
    stacks = [s for b in _blocks(evidence) if (s := _stack(evidence, b, watched=watched))]
    yield from stacks
    if watched:
        yield from _all_wait(evidence, stacks)
    else:
        yield from _foreign_thread(evidence, stacks)


def _span(evidence: Evidence, n: int, words: str) -> Span:
    return Span(evidence=evidence.name, first=n, last=n, words=words.strip())


def _said(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    if (found := DIED.search(line)) and (signal := signal_named(found["means"])):
        yield Death(span=_span(evidence, n, found[0]), signal=signal)
    elif found := WINDOWS.search(line):
        yield from _windows(_span(evidence, n, found[0]), found)
    elif found := TIMEOUT.search(line):
        seconds = int(found["h"]) * 3600 + int(found["m"]) * 60 + float(found["s"])
        yield Timeout(span=_span(evidence, n, found[0]), seconds=seconds)
    elif found := EXTENSIONS.search(line):
        span = _span(evidence, n, found["names"])
        yield Notice(span=span, topic="extension-modules", text=span.words, subject=span.words)
    elif found := NO_FRAME.search(line):
        yield Notice(span=_span(evidence, n, found[0]), topic="no-python-frame", text=found[0])
    elif found := COLLECTING.search(line):
        span = _span(evidence, n, found[0])
        yield Notice(span=span, topic="garbage-collecting", text=span.words)


def _windows(span: Span, found: re.Match[str]) -> Iterator[Fact]:
    status = int(found["code"], 16) if found["code"] else WINDOWS_NAMES.get(found["means"])
    if status is None:
        return
    if status >> 28 == SEVERE:
        yield Exit(span=span, status=status, means=status_named(status))
    else:
        # 0xE06D7363 is a C++ exception, 0x8001010D one of COM: most are caught a moment later.
        yield Notice(span=span, topic="first-chance-exception", text=span.words)


def _blocks(evidence: Evidence) -> Iterator[_Block]:
    """The stacks: from a head, or from a frame that has none, as long as frames follow."""
    block, last = _Block(crashed=True), 0
    for n, line in enumerate(evidence.lines):
        if head := _head(line):
            yield block
            block, last = head, n
        elif frame := _frame(line, native=block.native):
            if block.rows and n - last > WIDEST_GAP:
                yield block
                block = _Block(native=block.native)
            block.rows.append((n, frame))
            last = n
    yield block


def _head(line: str) -> _Block | None:
    if found := HEAD.search(line):
        return _Block(
            thread=found["name"] or found["thread"],
            crashed=bool(found["current"] or found["only"]),
        )
    if C_HEAD.search(line):
        return _Block(crashed=True, native=True)
    if DIED.search(line) or TIMEOUT.search(line) or WINDOWS.search(line):
        return _Block(crashed=not TIMEOUT.search(line))
    return None


def _frame(line: str, *, native: bool) -> Frame | None:
    if found := FRAME.search(line):
        number = int(found["line"]) if found["line"].isdigit() else None
        name = found["function"]
        return (
            None
            if native
            else Frame(function=name, file=found["file"], line=number, language="python")
        )
    if found := C_FRAME.search(line):
        symbol, offset = found["symbol"] or None, found["offset"]
        return Frame(
            function=symbol,
            library=found["library"],
            offset=int(offset, 16) if offset and not symbol else None,
        )
    return None


def _stack(evidence: Evidence, block: _Block, *, watched: bool) -> Stack | None:
    if not block.rows:
        return None
    native = block.native or block.rows[0][1].language == "native"
    frames = tuple(frame for _, frame in block.rows[:MOST_FRAMES])
    stack = Stack(
        span=Span(evidence=evidence.name, first=block.rows[0][0], last=block.rows[-1][0]),
        thread=block.thread,
        crashed=block.crashed,
        frames=_below_the_handler(frames) if native else frames,
        language="native" if native else "python",
    )
    return replace(stack, crashed=False, role="waiting") if watched else stack


def _below_the_handler(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Without the frames that printed the stack: the C library's first one called the handler."""
    if not DUMPERS.match(frames[0].function or ""):
        return frames
    for n, frame in enumerate(frames[:-1]):
        if LIBC.search(frame.library or ""):
            return frames[n + 1 :]
    return frames


def _all_wait(evidence: Evidence, stacks: list[Stack]) -> Iterator[Fact]:
    if stacks and all(waits(stack.frames[0]) for stack in stacks):
        first, last = stacks[0].span.first, stacks[-1].span.last
        yield Notice(
            span=Span(evidence=evidence.name, first=first, last=last),
            topic="all-threads-wait",
            text="every thread waits",
            mechanism="deadlock",
        )


def _foreign_thread(evidence: Evidence, stacks: list[Stack]) -> Iterator[Fact]:
    """None of Python's threads is the one that died: C or C++ code started that one."""
    died = next((n for n, line in enumerate(evidence.lines) if DIED.search(line)), None)
    known = [stack for stack in stacks if stack.thread]
    if died is None or not known or any(stack.crashed for stack in stacks):
        return
    if any(CURRENT.search(line) for line in evidence.lines):
        return
    yield Notice(
        span=Span(evidence=evidence.name, first=died, last=known[-1].span.last),
        topic="foreign-thread",
        text="none of Python's threads is the one that died",
    )
