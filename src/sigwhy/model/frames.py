"""How lines of a stack, met one by one and with anything between them, become stacks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from sigwhy.model.fact import Frame, Span, Stack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Above this frame stands the handler that printed the stack, below it what really happened.
# glibc's names for it: since 2.27 a stack printed in the process shows ``killpg+0x40``, which is
# the nearest name before the return trampoline.
RETURN_FROM_HANDLER = re.compile(
    r"^(?:<signal handler called>|_*restore_rt|killpg(?:\(\))?|_sigtramp|__kernel_rt_sigreturn)$"
)
MOST_FRAMES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A line that says whose stack comes next."""

    line: int
    thread: str | None = None
    crashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line, or a few lines, that hold one frame; ``number`` is its place where that is said."""

    first: int
    last: int
    number: int | None
    frame: Frame


@dataclass(slots=True)
class _Growing:
    """The stack that is being read."""

    head: Head | None = None
    rows: list[Row] = field(default_factory=list)

    def ends_before(self, row: Row, repeats: Literal["end", "go on"]) -> bool:
        """Whether this row begins another stack: the numbers fall, or begin anew."""
        if not self.rows:
            return False
        last = self.rows[-1].number
        if row.number is None or last is None:
            return row.number != last
        return row.number < last or (repeats == "end" and row.number == last == 0)


def stacks(
    name: str,
    marks: Iterable[Head | Row],
    *,
    first_crashed: bool = True,
    repeats: Literal["end", "go on"] = "end",
) -> Iterator[Stack]:
    """Yield the stacks of the evidence ``name``, each from its first row to its last.

    A stack without a head that begins the text is the crashed one, unless ``first_crashed`` is
    False. ``repeats`` says what a second frame 0 means: another stack, or one more frame.
    """
    growing = _Growing(Head(line=0, crashed=first_crashed))
    for mark in marks:
        if isinstance(mark, Head):
            yield from _grown(name, growing)
            growing = _Growing(mark)
            continue
        if growing.ends_before(mark, repeats):
            yield from _grown(name, growing)
            growing = _Growing()
        growing.rows.append(mark)
    yield from _grown(name, growing)


def _grown(name: str, growing: _Growing) -> Iterator[Stack]:
    if not growing.rows:
        return
    rows, head = growing.rows, growing.head or Head(line=0)
    yield Stack(
        span=Span(evidence=name, first=rows[0].first, last=rows[-1].last),
        thread=head.thread,
        crashed=head.crashed,
        frames=_without_handler(tuple(row.frame for row in rows[:MOST_FRAMES])),
    )


def _without_handler(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames of the fault, without those of a handler that ran on top of it."""
    for n in reversed(range(len(frames) - 1)):
        if RETURN_FROM_HANDLER.match(frames[n].function or ""):
            return frames[n + 1 :]
    return frames
