"""Lists of ``backtrace_symbols()``: what glibc, and many programs of their own, print when they die.

Looks like::

    ======= Backtrace: =========
    /lib/x86_64-linux-gnu/libc.so.6(+0x777e5)[0x7f92]
    ./resize(load_row+0x18) [0x55fb73714218]
    ======= Memory map: ========
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from sigwhy.machine.place import SYMBOLISED, symbolised
from sigwhy.model.frames import Head, Row, stacks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact, Frame

BACKTRACE = re.compile(r"^\s*=+ Backtrace: =+")
# Programs number their frames, or name themselves, in front of it.
LEAD = re.compile(
    r"^\s*(?:\(\d{1,4}\)|#?\d{1,4}[:.)]|\[bt\]:?|\[trace\]:?|\[bt\] \(\d{1,4}\)|-+|at|[*>])?\s*$"
)
# Another reader knows these blocks better.
FOREIGN = re.compile(r"BEGIN MANGLED STACK TRACE|==== backtrace \(tid|Process received signal")
FOREIGN_ENDS = re.compile(r"END MANGLED STACK TRACE|^=+\s*$|End of error message")
MARKERS = (")[0x", ") [0x", "[0x", "Backtrace: ====")
FAR = 4
LIBC = re.compile(r"/lib(?:c|pthread)(?:-[\d.]+)?\.so")


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the stacks that programs printed themselves."""
    for stack in stacks(evidence.name, _marks(evidence)):
        yield replace(stack, frames=_without_handler(stack.frames))


def _without_handler(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames under the handler that printed them.

    The trampoline by which a handler returns has no name in a stripped C library. A list that
    begins in the C library itself is glibc's own and has no handler on top.
    """
    nameless = [bool(LIBC.search(f.library or "")) and not f.function for f in frames[:4]]
    if len(frames) > 4 and not nameless[0] and any(nameless):
        return frames[nameless.index(True) + 1 :]
    return frames


def _marks(evidence: Evidence) -> Iterator[Head | Row]:
    foreign, before = False, None
    for n, line in enumerate(evidence.lines):
        if BACKTRACE.match(line):
            before = n
            yield Head(line=n, crashed=True)
        elif FOREIGN.search(line):
            foreign = True
        elif foreign and FOREIGN_ENDS.search(line):
            foreign = False
        if foreign or "[0x" not in line:
            continue
        found = SYMBOLISED.search(line)
        frame = symbolised(line)
        if not (found and frame and LEAD.match(line[: found.start()])):
            continue
        if before is not None and n - before > FAR:
            yield Head(line=n)
        before = n
        yield Row(first=n, last=n, number=None, frame=frame)
