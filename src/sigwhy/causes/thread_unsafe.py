"""One object was used by several threads at the same time.

What happens: code that is not made for it changes the same memory from two threads. Most of the time
nothing shows. When it does, it is a crash somewhere else, a value from nowhere, or an error such as
"Already borrowed". Without the GIL (free-threaded Python) more of it shows.

How to tell: ThreadSanitizer names both places. A run time that counts its borrowers refuses the
second one. The crash comes and goes, and is gone with one thread.

Fix: one object for each thread (interpreter, session, tokenizer, connection), or one lock around
every use of the shared one.

Folklore: the GIL does not make native objects safe. Extensions release it during long calls, and
that is when the second thread comes in.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Checker, Entered, Notice, Stack
from sigwhy.model.shape import blame, name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Frame

CAUSE = Cause(
    id="thread-unsafe",
    title="one object was used by several threads at the same time",
    fix="Give each thread its own object, or put one lock around every use of the shared one.",
)
RACES = {
    "data race": (Weight.PROOF, "ThreadSanitizer saw two threads touch the same memory"),
    "race on": (Weight.PROOF, "ThreadSanitizer saw two threads race"),
    "destroy of a locked mutex": (Weight.PROOF, "a lock was destroyed while it was held"),
    "unlock of an unlocked mutex": (Weight.PROOF, "a lock was released that was not held"),
    "double lock of a mutex": (Weight.PROOF, "a lock was taken twice"),
    "heap-use-after-free": (Weight.FAIR, "memory was freed while another thread used it"),
}
# HDF5 and what stands on it; a frame of it is on the stack of many a dask worker.
SINGLE = re.compile(r"\bH5[A-Z]{1,2}_{1,2}\w|libhdf5|netCDF4")
NEAR = 4
MOST_THREADS = 10_000
TOPICS = {
    "already-borrowed": (Weight.PROOF, "one object was in use when a second thread came"),
    "wrong-thread": (Weight.PROOF, "an object was used outside of the thread that it belongs to"),
    "changed-while-read": (Weight.FAIR, "a container changed while it was being read"),
    "mutex-broken": (Weight.FAIR, "a lock was found in disorder"),
}
# On top of a race lie the functions that only carry it: copying, counting references, atomics.
CARRIERS = re.compile(
    r"^(?:_?_?(?:interceptor_)?mem(?:cpy|move|set|cmp)\w*|str\w+|operator (?:new|delete)\w*|free|malloc"
    r"|_?Py_(?:INCREF|DECREF|XDECREF|NewRef)|std::.*|__tsan\w*|pthread_\w+)$"
)


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for an object shared between threads, and against it."""
    yield from _watched(case)
    for notice in case.all(Notice):
        if notice.topic in TOPICS:
            weight, says = TOPICS[notice.topic]
            who = Culprit(kind="library", name=notice.subject) if notice.subject else None
            yield Clue(weight, notice, says, who)
    for stack in case.all(Stack):
        seen = stack.crashed and stack.role == "fault" and stack.language == "native"
        if seen and not case.first(Entered):  # there the number is that of the process
            yield from _not_made_for_threads(stack)


def _watched(case: Case) -> Iterator[Clue]:
    for checker in (c for c in case.all(Checker) if c.tool in ("tsan", "helgrind", "drd")):
        for kind, (weight, says) in RACES.items():
            if kind in checker.kind:
                yield Clue(weight, checker, says, _racer(case, checker))


def _not_made_for_threads(stack: Stack) -> Iterator[Clue]:
    """A library that only a build of its own makes safe, in a thread that is not the first."""
    number = stack.thread or ""
    if not number.isdigit() or int(number) < 2 or int(number) > MOST_THREADS:
        return
    for frame in stack.frames[:NEAR]:
        if SINGLE.search(f"{frame.function or ''} {frame.library or ''}"):
            says = f"it died inside HDF5, which is not safe for threads, in thread {number}"
            whom = Culprit(
                kind="library", name="HDF5", function=frame.function, library=frame.library
            )
            yield Clue(Weight.STRONG, stack, says, whom)
            yield Clue(
                Weight.STRONG, stack, "such a thread exists only where several work at once", whom
            )
            return


def _racer(case: Case, checker: Checker) -> Culprit | None:
    """The innermost function of the race that tells something, the last accessor's first."""
    stacks = sorted(
        (s for s in case.all(Stack) if s.role in {"fault", "previous"}),
        key=lambda stack: stack.role != "fault",
    )
    frames = [frame for stack in stacks for frame in stack.frames if _tells(frame)]
    if frames:
        return blame(frames[0])
    return Culprit(kind="api", name=checker.place) if checker.place else None


def _tells(frame: Frame) -> bool:
    """A symbol that was not found, printed as <null>, and a carrier tell nothing."""
    named = name(frame)
    return bool(named) and not named.startswith("<null>") and not CARRIERS.match(named)
