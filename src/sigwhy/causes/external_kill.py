"""A person, a batch system or a time-out ended it.

What happens: somebody sends SIGTERM, SIGKILL or SIGHUP: `scancel`, `kill`, a time limit, a
preempted node, a closed terminal, a web server whose worker took too long. The program has no fault.

How to tell: the batch system says so ("CANCELLED ... DUE TO TIME LIMIT"); the status is 143 (SIGTERM)
or 129 (SIGHUP). After a bare SIGKILL think of memory first: see `memory-demand`.

Fix: ask who sent it: a longer time limit, checkpoints to go on from, `nohup` or `tmux` for a closed
terminal, a longer worker time-out.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Death, Exit, MemoryKill, Notice, PythonError, Sent, Stuck, Waits
from sigwhy.model.shape import placed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Fact

CAUSE = Cause(
    id="external-kill",
    title="a person, a scheduler or a time-out ended it",
    fix="Ask who sent the signal: raise the time limit, save checkpoints, or restart it.",
)
ASKED = {
    "SIGTERM": Weight.PROOF,
    "SIGHUP": Weight.PROOF,
    "SIGINT": Weight.PROOF,
    "SIGQUIT": Weight.PROOF,
}
WORKER = "worker-died-of-signal"
LIBRARY = re.compile(r"[/\\](?:multiprocessing|concurrent|threading\.py|joblib|torch)\b")
OUTSIDE = {
    "input": "for input",
    "socket": "for the other side of a connection",
    "sleep": "until some time had passed",
    "events": "for something to do",
}
REPLACE = (
    "Find who ended the worker (`sigwhy run` shows it where it can be seen; think of memory first), and use "
    "concurrent.futures, which tells its parent when a worker dies; multiprocessing.Pool waits for ever."
)
CRASHES = {"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGSYS", "SIGTRAP"}
FIXES = {
    "time limit": "Ask for more time, and save checkpoints to go on from.",
    "preemption": "Save checkpoints and let the job be requeued, or use a node that is not preempted.",
    "worker timeout": "Raise the time-out of the worker, or make the request shorter.",
}


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for an end from outside, and against it."""
    yield from _told(case)
    yield from _ended(case)
    yield from _waited(case)
    for ended in case.all(Exit):
        if ended.means == "STATUS_CONTROL_C_EXIT":
            yield Clue(Weight.PROOF, ended, "somebody pressed Ctrl-C or closed the window")
    for error in case.all(PythonError):
        if error.type == "KeyboardInterrupt":
            yield Clue(Weight.FAIR, error, "it was interrupted from the keyboard")
    for kill in case.all(MemoryKill):
        yield Clue(Weight.AGAINST, kill, "it was killed for memory")


def _ended(case: Case) -> Iterator[Clue]:
    """Somebody sent a signal; where it hung, that was the consequence and not the reason."""
    hung = _hung(case)
    for death in case.all(Death):
        if hung and death.signal in ASKED:
            yield Clue(Weight.DOUBT, hung, f"{death.signal} came because it hung")
        else:
            yield from _sent(death)
    for sent in case.all(Sent):
        if sent.signal in ASKED and sent.by and not hung:
            who = Culprit(kind="api", name=sent.signal, argument=sent.by)
            yield Clue(Weight.FAIR, sent, f"{sent.by} sent {sent.signal}", who)


def _hung(case: Case) -> Fact | None:
    """What tells that it would never have gone on, whoever ended it then."""
    told = (n for n in case.all(Notice) if n.mechanism == "deadlock" or n.topic == WORKER)
    turns = (stuck for stuck in case.all(Stuck) if stuck.spinning)
    return next(told, None) or next(turns, None)


def _waited(case: Case) -> Iterator[Clue]:
    """It waited for somebody else, or for a worker that was killed."""
    for notice in case.all(Notice):
        if notice.topic == WORKER and notice.mechanism == "killed":
            culprit = replace(_place(case), name=notice.subject) if notice.subject else None
            signal = notice.span.words
            says = f"a worker was ended with {signal}, and its parent waits for the answer"
            yield Clue(Weight.PROOF, notice, says, culprit, REPLACE)
    for wait in case.all(Waits):
        if wait.what in OUTSIDE and case.first(Stuck) and case.first(Death):
            yield Clue(Weight.FAIR, wait, f"it only waited {OUTSIDE[wait.what]}")
            return


def _place(case: Case) -> Culprit:
    """Where the parent waits, in the user's own code if there is some."""
    places = [
        wait.place for wait in case.all(Waits) if wait.place and not LIBRARY.search(wait.place)
    ]
    return placed(places[0]) if places else Culprit(kind="api")


def _told(case: Case) -> Iterator[Clue]:
    """Who says that he ended it."""
    for notice in case.all(Notice):
        if notice.topic == "ended-from-outside":
            plain = notice.subject == "cancelled" and case.first(MemoryKill)
            yield Clue(
                Weight.SLIGHT if plain else Weight.PROOF,
                notice,
                f"it was ended from outside: {notice.subject}",
                culprit=Culprit(kind="limit", name=notice.subject),
                fix=FIXES.get(notice.subject or ""),
            )
        elif notice.topic == "not-out-of-memory" and notice.subject == "kernel":
            yield Clue(Weight.STRONG, notice, "the kernel killed nobody for memory, so it was sent")
        elif notice.topic == "kill-typed":
            yield Clue(Weight.PROOF, notice, f"somebody typed {notice.text}")


def _sent(death: Death) -> Iterator[Clue]:
    """Whether a signal comes from somebody or from a fault."""
    if weight := ASKED.get(death.signal):
        who = Culprit(kind="api", name=death.signal)
        yield Clue(weight, death, f"{death.signal} is sent by somebody, never by a fault", who)
    elif death.signal == "SIGKILL":
        weight = Weight.PROOF if death.code == "SI_USER" else Weight.FAIR
        who = Culprit(kind="api", name="SIGKILL")
        yield Clue(weight, death, "SIGKILL was sent by somebody", who)
    elif death.signal in CRASHES and death.code != "SI_USER":
        yield Clue(Weight.AGAINST, death, f"{death.signal} is a fault of the program")
