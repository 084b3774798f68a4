"""The first sentence: who died of what, where, and what the machine did."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import (
    Allocation,
    Death,
    Exit,
    LoadFailure,
    MemoryKill,
    PythonError,
    Ran,
    Stack,
    Timeout,
)
from sigwhy.model.mechanism import Sure
from sigwhy.report.harmless import one_line
from sigwhy.report.place import scene
from sigwhy.report.size import size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.report import Report

# A word that begins a plain sentence and may be capitalised; the rest may be names (libomp, numpy).
STARTERS = re.compile(
    r"(?:a|all|an|another|any|at|both|by|code|data|each|every|files|four|from|functions|in|it|its|libraries|many"
    r"|memory|more|most|no|nobody|none|nothing|of|on|one|several|some|somebody|something|that|the|there|these"
    r"|this|those|threads|three|too|two|what|when|where|which|you|your)\b"
)
SCRIPT = re.compile(r"(?:^|[\s/\\'\"])([\w.+-]{1,60}\.py)(?=$|[\s'\":;,)])")
MODULE = re.compile(r"\bpython[\w.]{0,8}\s(?:-\w\s){0,4}-m\s([\w.]{1,60})")
PROGRAM = re.compile(r"^(?:\w+=\S*\s+)*(?:[^\s/\\]*[/\\])*([^\s/\\]{1,60})")
PYTHON = re.compile(r"\b(?:python|pytest|jupyter|torchrun)[\d.]*\b|\.py\b")

BY = {
    "kernel": "by the kernel",
    "cgroup": "by the kernel",
    "slurm": "by Slurm",
    "kubernetes": "by Kubernetes",
    "ray": "by Ray",
    "android": "by Android",
}
NOBODY = "the process"
TOLD_BY_THE_END = frozenset({"no-crash", "killed"})
STANDSTILLS = frozenset({"deadlock", "endless-loop"})
SENT = frozenset({"SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"})


def headline(report: Report) -> str:
    """One sentence without a full stop; ``undecided`` stands in front where the cause is open."""
    case = report.case
    told = one_line(_told(report), most=240)
    if report.verdict:
        return told or one_line(report.verdict.cause.title)
    lines = [line.strip() for e in case.evidence for line in e.lines if line.strip()]
    if len(lines) == 1 and (report.seen is None or report.seen.sure == Sure.BARE):
        return f"undecided. The text holds one line: “{one_line(lines[0], most=120)}”"
    if not lines:
        return "undecided. The text is empty"
    return f"undecided: {told}" if told else "undecided. The text does not tell of a death"


def sentence(words: str) -> str:
    """The same words with a capital, where that is no name, and a full stop."""
    if STARTERS.match(words):
        words = words[0].upper() + words[1:]
    return words if words.endswith((".", "!", "?", "…")) else words + "."


def _told(report: Report) -> str:
    end = next(_ends(report), "")
    said = _said(report)
    where = scene(report)
    first = " ".join(word for word in (end or said, where) if word)
    if end:
        return f"{first}: {said}" if said else first
    if not said:
        return ""
    who = _who(report.case)
    return first if who == NOBODY else f"{who}: {first}"


def _ends(report: Report) -> Iterator[str]:
    """How it ended, the telling ways first."""
    case = report.case
    who = _who(case)
    for kill in case.all(MemoryKill):
        limit = f" (limit {size(kill.limit_bytes)})" if kill.limit_bytes else ""
        yield f"{who} was killed {BY.get(kill.by, 'by ' + kill.by)} for using too much memory{limit}"
    if death := _death(report):
        verb = "was killed with" if death.signal in SENT else "died of"
        yield f"{who} {verb} {death.signal}"
    for error in case.all(PythonError):
        yield f"{who} ended with the Python exception {error.type.split('.')[-1]}"
    for done in case.all(Exit):
        if done.status:
            name = f" ({done.means})" if done.means else ""
            yield f"{who} ended with exit status {done.status}{name}"
    for wait in case.all(Timeout):
        span = f" for {wait.seconds:g} s" if wait.seconds else ""
        yield f"{who} did not move{span}"


def _death(report: Report) -> Death | None:
    """The death that matters: of a crash rather than of the clearing up after it."""
    if report.seen and isinstance(report.seen.fact, Death):
        return report.seen.fact
    deaths = sorted(report.case.all(Death), key=lambda d: d.signal in SENT)
    return next(iter(deaths), None)


def _said(report: Report) -> str:
    """What the machine did, where that is more than the end says by itself."""
    seen, case = report.seen, report.case
    if seen is None:
        return ""
    if seen.mechanism.id in TOLD_BY_THE_END or case.first(MemoryKill):
        return ""
    if seen.mechanism.id in STANDSTILLS and case.first(Timeout):
        return ""
    title = seen.mechanism.title
    said = title[0].lower() + title[1:]
    if seen.sure >= Sure.SAID and isinstance(seen.fact, LoadFailure) and seen.fact.library:
        said += f" ({seen.fact.library})"
    if isinstance(seen.fact, Allocation) and seen.fact.asked_bytes:
        said += f" ({size(seen.fact.asked_bytes)} were asked for)"
    return said


def _who(case: Case) -> str:
    """Who died, by the shortest name that the user knows: the script, else the program."""
    told = (
        *(d.command for d in case.all(Death)),
        *(e.command for e in case.all(Exit)),
        *(k.victim for k in case.all(MemoryKill)),
        *_scripts(case),
        *(r.command for r in case.all(Ran) if r.language == "shell" and PYTHON.search(r.command)),
    )
    for command in told:
        name = _program(command[:2000]) if command else None
        if name and not name.startswith("<"):
            return name
    return NOBODY


def _scripts(case: Case) -> Iterator[str]:
    """The file whose own lines are the outermost on the stack of the thread that died."""
    for stack in case.all(Stack):
        if stack.crashed and stack.frames and stack.frames[-1].function == "<module>":
            yield stack.frames[-1].file or ""


def _program(command: str) -> str | None:
    for form in (SCRIPT, MODULE, PROGRAM):
        if found := form.search(command):
            return found[1]
    return None
