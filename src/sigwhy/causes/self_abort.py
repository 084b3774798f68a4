"""The program called abort() itself.

What happens: os.abort(), abort() in C, or a signal that the program sent to itself ends it with SIGABRT.
No check failed and no allocator complained: somebody wrote that line.

How to tell: abort stands in the stack directly below the program's own code, or os_abort does; nothing
was printed that says why.

Fix: look at the line that calls it. What it answers to is the real question.

Folklore: SIGABRT alone does not mean that the program wanted it. Failed checks, uncaught C++
exceptions and damaged heaps end in abort() too, and all of them print something first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import (
    Check,
    Checker,
    Death,
    Gpu,
    HeapDamage,
    Log,
    Notice,
    PythonFatal,
    Ran,
    Stack,
    StackSmashed,
    Uncaught,
)
from sigwhy.model.shape import aborter, blame, name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Fact

CAUSE = Cause(
    id="self-abort",
    title="the program called abort() itself",
    fix="Look at the line that calls abort(): what it answers to is the real question.",
)
OS_ABORT = re.compile(r"^os_abort(?:_impl)?$")
CALLS = re.compile(
    r"\bos\.abort\s*\(|\bsignal\.raise_signal\s*\(\s*signal\.SIGABRT|\bos\.kill\s*\(\s*os\.getpid\(\)\s*,\s*(?:signal\.SIGABRT|6)\b"
)
EXPLAINED: tuple[type[Fact], ...] = (
    Check,
    Checker,
    Gpu,
    HeapDamage,
    PythonFatal,
    StackSmashed,
    Uncaught,
)
CARRIED = re.compile(r"site-packages|dist-packages|^/usr/lib|^/lib|libc\.so")


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a program that aborted on purpose, and against it."""
    died = next((d for d in case.all(Death) if d.signal == "SIGABRT"), None)
    for ran in case.all(Ran):
        if found := CALLS.search(ran.command):
            says = f"{found[0].rstrip('( ')} was called in what was run"
            culprit = Culprit(kind="api", name=found[0].split("(")[0].strip())
            yield Clue(Weight.PROOF if died else Weight.FAIR, ran, says, culprit)
    for stack in case.all(Stack):
        if stack.crashed and stack.role == "fault" and stack.language == "native":
            yield from _aborted(stack)
    reason = next((fact for kind in EXPLAINED for fact in case.all(kind)), None) or _said(case)
    if reason:
        yield Clue(Weight.EXCLUDES, reason, "it was said why it aborted: a check or a tool did it")


def _aborted(stack: Stack) -> Iterator[Clue]:
    if any(OS_ABORT.match(name(frame)) for frame in stack.frames):
        culprit = Culprit(kind="api", name="os.abort", function="os_abort")
        yield Clue(Weight.PROOF, stack, "os.abort() stands in the stack", culprit)
        return
    frame = aborter(stack.frames)
    if not frame:
        return
    foreign = CARRIED.search(frame.library or frame.file or "")
    yield Clue(
        Weight.FAIR if foreign or not frame.file else Weight.PROOF,
        stack,
        f"{name(frame)} called abort() with no check in between",
        blame(frame),
    )


def _said(case: Case) -> Fact | None:
    fatal = next((log for log in case.all(Log) if log.level == "fatal"), None)
    return fatal or next(
        (n for n in case.all(Notice) if n.mechanism in {"check-failed", "uncaught-exception"}), None
    )
