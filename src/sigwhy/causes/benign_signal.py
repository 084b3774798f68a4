"""A signal that means no harm ended it, because nobody handled it.

What happens: SIGPIPE (the reader of a pipe went away, as in `python x.py | head`), SIGALRM (an alarm
clock ran down), SIGUSR1, SIGUSR2, SIGPROF or SIGIO. Their default action is to end the process.

How to tell: the shell says "Broken pipe", "Alarm clock", "User defined signal 1"; the status is 141
(SIGPIPE), 142 (SIGALRM), 138 or 140. Nothing is damaged.

Fix: handle or ignore the signal. Python ignores SIGPIPE unless somebody set it to SIG_DFL; a batch
system that warns with SIGUSR1 before the end wants a handler that saves a checkpoint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Death, PythonError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="benign-signal",
    title="a signal that means no harm was not handled",
    fix="Handle or ignore the signal (`signal.signal`).",
)
MEANINGS = {
    "SIGPIPE": "the reader of a pipe or socket went away",
    "SIGALRM": "an alarm clock ran down",
    "SIGVTALRM": "a timer ran down",
    "SIGPROF": "the timer of a profiler ran down",
    "SIGUSR1": "somebody sent a sign of his own",
    "SIGUSR2": "somebody sent a sign of his own",
    "SIGIO": "data came in",
    "SIGPWR": "the power may fail",
}
CRASHES = {"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGSYS", "SIGTRAP", "SIGKILL"}


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a signal without harm, and against it."""
    for death in case.all(Death):
        if meaning := MEANINGS.get(death.signal):
            yield Clue(
                Weight.PROOF,
                death,
                f"{death.signal}: {meaning}",
                culprit=Culprit(kind="api", name=death.signal),
                fix=f"Handle or ignore {death.signal} (`signal.signal(signal.{death.signal}, …)`).",
            )
        elif death.signal in CRASHES:
            yield Clue(Weight.AGAINST, death, f"{death.signal} is not one of them")
    for error in case.all(PythonError):
        if error.type == "BrokenPipeError":
            yield Clue(Weight.FAIR, error, "the reader of a pipe went away")
