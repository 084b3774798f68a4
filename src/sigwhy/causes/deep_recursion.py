"""Functions call each other until the stack is full.

What happens: each call takes a piece of the thread's stack, 8 MB on most systems for the main thread,
0.5 MB on macOS and 1 MB on Windows for others. A recursion without end, or a structure nested too
deep, runs into the guard page below it: SIGSEGV, on Windows "stack overflow".

How to tell: the same few functions fill the stack in a circle; the stack pointer lies at the end of
the stack; Windows and AddressSanitizer say so in words.

Fix: end the recursion, bound the nesting of the input, or turn it into a loop. If the depth is
right, run it in a thread with a bigger stack (threading.stack_size), or raise ulimit -s.

Folklore: sys.setrecursionlimit does not make the stack bigger. It takes away the check that would
have raised RecursionError before the crash. Since Python 3.12 pure Python calls use no C stack.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.blame import carries
from sigwhy.model.cause import Cause, Clue, Weight
from sigwhy.model.fact import (
    Checker,
    Death,
    Exit,
    Notice,
    Place,
    PythonError,
    PythonFatal,
    Ran,
    Stack,
)
from sigwhy.model.shape import blame, cycle, name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Fact
    from sigwhy.model.shape import Cycle

CAUSE = Cause(
    id="deep-recursion",
    title="functions called each other until the stack was full",
    fix=(
        "End or bound the recursion, or make it a loop; a deeper but finite one needs a bigger "
        "stack (threading.stack_size, ulimit -s), not a higher recursion limit."
    ),
    usually={"SIGSEGV": "stack-overflow", "SIGBUS": "stack-overflow"},
)
# Input that is made by repeating an opening bracket some thousand times.
NESTED = re.compile(
    r"""['"]{1,3}[^'"\n]{0,8}[\[({<][^'"\n]{0,12}['"]{1,3}\s?\*\s?(?:\d{4,}|\d[\d_]{4,}|10 ?\*\* ?[4-9]|1e[4-9])"""
)
UNRAISED = re.compile(r"\bsetrecursionlimit\s*\(\s*(?:[1-9]\d{4,}|\d+\s*\*\*|1e[4-9]|int\(1e[4-9])")
MANY = 6  # rounds, in a stack that was cut
CANNOT_RECOVER = "Cannot recover from stack overflow"


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a recursion that is too deep, and against it."""
    words = _overflowed(case)
    if words:
        yield Clue(Weight.PROOF, words, "the stack overflowed, as it was said in words")
    guard = next((p for p in case.all(Place) if p.relation == "guard"), None)
    if guard:
        yield Clue(Weight.FAIR, guard, "the stack ran into its end")
    yield from _unreadable(case)
    for fatal in case.all(PythonFatal):
        if CANNOT_RECOVER in fatal.text:
            yield Clue(Weight.PROOF, fatal, "the interpreter could not recover from its recursion")
    for stack in case.all(Stack):
        if not (stack.crashed and stack.role == "fault"):
            continue
        found = cycle(stack.frames, overflowed=bool(words or guard))
        if found:
            yield _circle(stack, found)
    yield from _limits(case)


def _unreadable(case: Case) -> Iterator[Clue]:
    for notice in case.all(Notice):
        if notice.topic == "stack-unreadable":
            says = (
                "the debugger cannot read the innermost frame: its place on the stack is not there"
            )
            yield Clue(Weight.STRONG, notice, says)
            yield Clue(Weight.FAIR, notice, "only a stack that has run out looks so")


def _overflowed(case: Case) -> Fact | None:
    for left in case.all(Exit):
        if left.means == "STATUS_STACK_OVERFLOW":
            return left
    return next((c for c in case.all(Checker) if "stack-overflow" in c.kind), None)


def _circle(stack: Stack, found: Cycle) -> Clue:
    frame = found.telling
    names = dict.fromkeys(name(f) or f.library or "?" for f in found.frames)
    calls = "call each other" if len(names) > 1 else "calls itself"
    says = f"{' -> '.join(names)} {calls}: {found.times} rounds of it were printed"
    return Clue(
        Weight.PROOF if found.deep or found.times >= MANY else Weight.STRONG,
        stack,
        says,
        None if carries(frame) else blame(frame),  # the interpreter turns as your code does
    )


def _limits(case: Case) -> Iterator[Clue]:
    died = case.first(Death)
    for error in case.all(PythonError):
        if error.type.endswith("RecursionError"):
            weight = Weight.STRONG if died else Weight.FAIR
            yield Clue(weight, error, "Python had met its recursion limit")
    for ran in case.all(Ran):
        if died and died.signal == "SIGSEGV" and NESTED.search(ran.command):
            says = "the input is nested thousands of levels deep"
            yield Clue(Weight.STRONG, ran, says)
            yield Clue(Weight.FAIR, died, "what reads such input calls itself for each level")
        if died and UNRAISED.search(ran.command):
            yield Clue(Weight.FAIR, ran, "the recursion limit, which guards the stack, was raised")
