"""Nothing is wrong: what was printed is noise, or the program ended as it should.

What happens: a tool reports what the interpreter keeps on purpose, or a banner sounds like an
error, and the process ends with status 0.

How to tell: LeakSanitizer shows only PyMem and PyObject allocations, which CPython keeps until
exit; or the status is 0 and no signal was seen.

Fix: nothing to mend. For LeakSanitizer use `PYTHONMALLOC=malloc` and a suppression file, so that
real leaks stand out.

Folklore: every "leak" of PyObject_Malloc at exit is a bug. CPython never frees some objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.allocators import is_interpreter
from sigwhy.model.cause import Cause, Clue, Weight
from sigwhy.model.fact import (
    Checker,
    Death,
    Exit,
    Log,
    Notice,
    Op,
    Platform,
    PythonError,
    PythonFatal,
    Ran,
    Stack,
    Version,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Fact

CAUSE = Cause(
    id="none",
    title="nothing is wrong",
    fix="Nothing to mend; suppress the tool's words about the interpreter's own memory.",
)
QUIET = (Log, Op, Platform, Ran, Version)


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for no fault at all, and against it."""
    stacks = [stack for stack in case.all(Stack) if stack.role == "leaked"]
    if stacks and all(is_interpreter(frame) for stack in stacks for frame in stack.frames):
        yield Clue(
            Weight.PROOF, stacks[0], "only the interpreter's own allocations are said to leak"
        )
    quiet = all(_is_quiet(fact) for fact in case.facts)
    for ended in case.all(Exit):
        yield _of(ended, quiet=quiet)
    for death in case.all(Death):
        yield Clue(Weight.EXCLUDES, death, f"it died of {death.signal}")
    for found in case.all(Checker):
        if "leak" not in found.kind:
            yield Clue(Weight.EXCLUDES, found, f"{found.tool} found {found.kind}")
    for fatal in (*case.all(PythonFatal), *case.all(PythonError)):
        yield Clue(Weight.AGAINST, fatal, "Python reports an error")


def _is_quiet(fact: Fact) -> bool:
    """Whether a fact tells of no failure."""
    if isinstance(fact, Notice):
        return fact.mechanism is None
    return isinstance(fact, QUIET) or (isinstance(fact, Exit) and fact.status == 0)


def _of(ended: Exit, *, quiet: bool) -> Clue:
    """What a status says: 0 is all right, a number with a name is a crash."""
    if ended.status == 0:
        weight = Weight.PROOF if quiet else Weight.SLIGHT
        return Clue(weight, ended, "it ended with status 0")
    if ended.means:
        return Clue(Weight.EXCLUDES, ended, f"it ended with {ended.means}")
    return Clue(Weight.AGAINST, ended, f"it ended with status {ended.status}")
