"""The process was forked after something in it had started threads.

What happens: fork() copies the memory but only the one thread that calls it. Locks that other threads
held stay locked in the child for ever, thread pools have no threads, GPU contexts and Objective-C
classes are half made. The child hangs, or dies when it touches them.

How to tell: CUDA, Objective-C or JAX say it in words; a child of multiprocessing or of a DataLoader
hangs or dies while its parent works; absl's mutex finds its queue in disorder. In a child that hangs, the
lock itself says it: the thread that holds it does not exist in this process.

Fix: multiprocessing.set_start_method("spawn") or "forkserver", or fork before the first use of
TensorFlow, CUDA, gRPC or threads.

Folklore: a parent that has only imported TensorFlow may fork. The first op starts the thread pools:
after it, children hang in the first big operation, every time. gRPC's line "skipping fork() handlers"
is a warning; most programs which print it go on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Death, Notice, Stack, Timeout
from sigwhy.model.shape import placed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="fork-unsafe",
    title="the process was forked after threads had been started",
    fix=(
        'Use multiprocessing.set_start_method("spawn") (or "forkserver"), or fork before the first '
        "use of the library."
    ),
    usually={"SIGABRT": "check-failed"},
)
TOPICS = {
    "fork-refused": (Weight.PROOF, "refused to work in a forked child"),
    "fork-broke": (Weight.PROOF, "found itself in a forked child"),
    "absl-mutex-broke": (Weight.STRONG, "found a lock in disorder, as a fork leaves it"),
    "context-of-parent": (Weight.STRONG, "was to be used with a context that only the parent has"),
    "cuda-not-initialised": (Weight.FAIR, "could not be initialised, as in a forked child"),
}
LEFT = {
    "lock-of-the-parent": "a lock is held by a thread that only the parent has",
    "alone-after-fork": "it waits for another thread, and the fork copied none",
}
OBJECTIVE_C = (
    "Use the spawn start method; OBJC_DISABLE_INITIALIZE_FORK_SAFETY=YES only takes the check away."
)
FORKERS = {"popen_fork.py": "_launch", "process.py": "_bootstrap", "fork.py": "fork"}


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a fork at the wrong time, and against it."""
    for notice in case.all(Notice):
        if notice.topic in TOPICS:
            weight, says = TOPICS[notice.topic]
            who = notice.subject or "a library"
            fix = OBJECTIVE_C if who.startswith("Objective-C") else None
            yield Clue(weight, notice, f"{who} {says}", Culprit(kind="library", name=who), fix)
        elif notice.topic in LEFT:
            yield Clue(Weight.PROOF, notice, LEFT[notice.topic], _forking(notice))
    yield from _warned(case)


def _forking(notice: Notice) -> Culprit | None:
    """The line that forked: not its function is to blame, but the fork."""
    if not notice.subject:
        return None
    at = placed(notice.subject)
    return replace(at, name="fork") if at.file else at


def _warned(case: Case) -> Iterator[Clue]:
    """A warning says that it may happen; together with a child that hangs it is likely."""
    warned = next((n for n in case.all(Notice) if n.topic == "fork-warned"), None)
    if not warned:
        return
    who = warned.subject
    culprit = Culprit(kind="library", name=who) if who else None
    says = f"{who or 'Python'} warned that the process has threads and was forked"
    forked = next((s for s in case.all(Stack) if _is_forked(s)), None)
    hangs = case.first(Timeout) or next(
        (n for n in case.all(Notice) if n.topic == "all-threads-wait"), None
    )
    weight = Weight.FAIR if forked or hangs or case.first(Death) else Weight.SLIGHT
    yield Clue(weight, warned, says, culprit)
    if forked and (hangs or case.first(Death)):
        yield Clue(Weight.FAIR, forked, "this process is a forked child of multiprocessing")


def _is_forked(stack: Stack) -> bool:
    return any(
        (frame.file or "").replace("\\", "/").endswith(f"multiprocessing/{file}")
        and frame.function == function
        for frame in stack.frames
        for file, function in FORKERS.items()
    )
