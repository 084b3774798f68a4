"""The program waits for itself, and nothing will ever end that.

What happens: each thread waits for something that only another waiting thread could give: a lock held
by one that is joined, a queue which nobody fills, a process which died, a collective operation that one
rank never reached. No processor time is used and nothing is printed.

How to tell: all threads stand in wait, join, acquire, get or recv, the same in two looks a minute apart.
`sigwhy attach PID` and `sigwhy run --hang` say which thread waits for which; a loop that never ends shows
as one thread that computes and never leaves a few bytes of code. A time-out of NCCL, Gloo or XLA names the operation.

Fix: break the circle: time-outs on get and join, locks always taken in the same order, the sentinel put
into the queue also after an error, the same number of steps on every rank.

Folklore: a watchdog's "Timeout!" does not prove a deadlock. It also fires when the program was only
slower than somebody expected: look whether a thread was computing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.blame import telling
from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Checker, Notice, Stack, Stuck, Timeout
from sigwhy.model.shape import blame, placed, waits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Frame

CAUSE = Cause(
    id="deadlock-own",
    title="the program waits for itself",
    fix=(
        "Break the circle: time-outs on get() and join(), one order for locks, a sentinel into the "
        "queue also after an error, the same steps on every rank."
    ),
)
COLLECTIVE = (
    "Make every rank run the same collectives in the same order, and find the rank which did not "
    "arrive: py-spy dump on each, or TORCH_DISTRIBUTED_DEBUG=DETAIL."
)
LOOP = "Look why the loop never ends: print or log what its condition compares, and bound it."
PROVED = {
    "waits-in-a-circle": (Weight.PROOF, "threads wait for each other in a circle"),
    "holder-is-gone": (Weight.PROOF, "the thread that held a lock ended without giving it back"),
    "nobody-lets-go": (
        Weight.PROOF,
        "each thread waits for something that only another waiting thread could give",
    ),
    "python-waits-for-itself": (Weight.STRONG, "all threads of Python wait for each other"),
}
LIBRARIES = (
    "threading.py",
    "queue.py",
    "multiprocessing",
    "concurrent",
    "selectors.py",
    "asyncio",
    "subprocess.py",
)


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a program that waits for itself, and against it."""
    watched = case.first(Timeout)
    if watched:
        yield Clue(Weight.FAIR, watched, "a watchdog saw no progress")
    for stuck in case.all(Stuck):
        if stuck.spinning:
            weight = Weight.SLIGHT if _turns_in_native(case) else Weight.STRONG
            yield Clue(weight, stuck, "a thread turns in a loop", _waiter(case), LOOP)
        else:
            yield Clue(Weight.FAIR, stuck, "nothing in it moved")
    for notice in case.all(Notice):
        yield from _noticed(case, notice)
    for checker in case.all(Checker):
        if "lock-order-inversion" in checker.kind:
            yield Clue(Weight.PROOF, checker, "two threads take the same locks in opposite order")
    if watched:
        yield from _busy(case)


def _noticed(case: Case, notice: Notice) -> Iterator[Clue]:
    if notice.topic == "all-threads-wait":
        # Idle servers look the same: it takes a watchdog, or a second look, to be sure.
        yield Clue(Weight.STRONG, notice, notice.text, _waiter(case))
        if not case.first(Timeout):
            yield Clue(Weight.FAIR, notice, "somebody looked at it because it hung")
    elif notice.topic in PROVED:
        culprit = placed(notice.subject) if notice.subject else None
        weight, says = PROVED[notice.topic]
        yield Clue(weight, notice, says, culprit)
    elif notice.topic == "worker-died-of-signal":
        yield Clue(Weight.SLIGHT, notice, "it waits for an answer which cannot come")
    elif notice.topic in ("gil-kept-while-waiting", "lock-of-the-parent", "alone-after-fork"):
        yield Clue(Weight.AGAINST, notice, "the circle is closed by a library or a fork")
    elif notice.topic == "deadlock-found":
        who = Culprit(kind="api", name=notice.subject) if notice.subject else None
        yield Clue(Weight.PROOF, notice, f"a deadlock was found: {notice.text[:80]}", who)
    elif notice.topic == "collective-timeout":
        who = Culprit(kind="library", name=notice.subject or "collective operation")
        says = "an operation of all ranks ran into its time limit: one never came"
        yield Clue(Weight.PROOF, notice, says, who, COLLECTIVE)


def _busy(case: Case) -> Iterator[Clue]:
    """A thread that computes speaks against it: the program may only have been slow."""
    for stack in case.all(Stack):
        if stack.role == "waiting" and stack.frames and not waits(stack.frames[0]):
            says = f"{stack.frames[0].function} may have been computing"
            yield Clue(Weight.DOUBT, stack, says)
            return


def _turns_in_native(case: Case) -> bool:
    """Whether native code of somebody is what turns; then that is to blame, not the program."""
    native = (s for s in case.all(Stack) if s.crashed and s.language == "native")
    return any(next(telling(stack.frames), None) for stack in native)


def _waiter(case: Case) -> Culprit | None:
    """The innermost frame of the main thread, or of another, that is not of a library."""
    stacks = [s for s in case.all(Stack) if s.role == "waiting" and s.frames]
    stacks.sort(key=lambda s: not any(f.function == "<module>" for f in s.frames))
    own = (frame for stack in stacks for frame in stack.frames if _is_own(frame))
    return next((blame(frame) for frame in own), None)


def _is_own(frame: Frame) -> bool:
    return (
        frame.language == "python"
        and bool(frame.file)
        and not any(part in (frame.file or "") for part in LIBRARIES)
    )
