"""What there is to tell about a crash, in sentences. Every form of the report says these words.

Nothing is told that was not found: where a fact is absent its half of the sentence is absent too.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from sigwhy.model.cause import Weight
from sigwhy.model.fact import Check, Death, HeapDamage, Log, PythonError, PythonFatal, Uncaught
from sigwhy.model.mechanism import Sure
from sigwhy.model.report import Missing
from sigwhy.report.given import given
from sigwhy.report.harmless import harmless, one_line, short
from sigwhy.report.headline import headline, sentence
from sigwhy.report.place import blame, places
from sigwhy.report.quote import lines
from sigwhy.report.repro import chosen
from sigwhy.report.threads import gist, threads
from sigwhy.report.timeline import sparkline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.cause import Finding
    from sigwhy.model.fact import Fact
    from sigwhy.model.incident import Incident
    from sigwhy.model.report import Report
    from sigwhy.report.given import Given
    from sigwhy.report.quote import Line
    from sigwhy.report.threads import Gap, Shown

MOST_POINTS = 8
MOST_LIKELY = 5
HARDLY_EVER = 0.005
# How sure a verdict is, in words: the first row whose number is reached.
DOUBTS = (
    (0.99, "Hardly any"),
    (0.95, "Little"),
    (0.85, "Some"),
    (0.0, "Real"),
)
LEANS = "It may be, the likeliest first:"
SILENT = "Nothing read so far speaks for a cause. The commonest causes of such a death are:"
# What a pipe brings of a process that died without a word.
EMPTY = (
    "A shell writes “Segmentation fault” to the terminal, not into a pipe or a file."
    " Let Python itself say it, with -X faulthandler, or paste what the terminal shows."
)
# What a signal means, for those who have never met it.
MEANS = {
    "SIGSEGV": "Memory was touched that the process may not touch.",
    "SIGABRT": "The process stopped itself: something in it called abort().",
    "SIGBUS": "Memory was touched that could not be provided.",
    "SIGFPE": "An integer was divided by zero, or the quotient did not fit.",
    "SIGILL": "The CPU was given an instruction that it does not know.",
    "SIGKILL": "Somebody outside ended the process, most often the kernel for lack of memory.",
    "SIGTRAP": "The process ran into a trap that somebody had set in its code.",
    "SIGTERM": "Somebody outside asked the process to end.",
    "SIGSYS": "The process made a system call that a policy forbids.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One clue as it is told: what it says, what that is worth, and the words that say it."""

    says: str
    weight: int
    source: str
    first: int
    lines: tuple[Line, ...]
    words: str

    @property
    def kind(self) -> str:
        """A fact decides, or nearly so; a hint only leans."""
        return "fact" if abs(self.weight) >= Weight.STRONG else "hint"

    @property
    def place(self) -> str:
        """Where the words stand: ``train.log:12``."""
        return f"{self.source}:{self.first}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Likely:
    """A cause that it may be, of a case that is undecided, and what was read that says so."""

    id: str
    title: str
    percent: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """The whole of what is told, harmless and short enough to read."""

    decided: bool
    headline: str
    why: str
    where: tuple[str, ...]
    blame: str | None
    fix: str | None
    speaks_for: tuple[Point, ...]
    speaks_against: tuple[Point, ...]
    untold: int
    doubt: str
    ranking: str
    likely: tuple[Likely, ...]
    next: tuple[Missing, ...]
    notes: tuple[str, ...]
    stack: tuple[Shown | Gap, ...] = ()
    given: Given | None = None
    memory: str | None = None
    more: tuple[Missing, ...] = ()


def tell(report: Report) -> Story:
    """Put a report into words."""
    verdict = report.verdict
    points = _points(report)
    speaks_for = [p for p in points if p.weight > 0]
    speaks_against = [p for p in points if p.weight <= 0]
    told = (tuple(speaks_for[:MOST_POINTS]), tuple(speaks_against[:MOST_POINTS]))
    return Story(
        decided=verdict is not None,
        headline=headline(report),
        why=_why(report, verdict) if verdict else _what_is_unknown(report),
        where=places(report),
        blame=_blame(report),
        fix=sentence(one_line(verdict.fix, most=600)) if verdict else None,
        speaks_for=told[0],
        speaks_against=told[1],
        untold=len(points) - len(told[0]) - len(told[1]),
        doubt=_doubt(report, verdict) if verdict else "",
        ranking=LEANS if any(f.best for f in report.findings) else SILENT,
        likely=() if verdict else _likely(report),
        next=_next(report),
        notes=tuple(one_line(note) for note in report.notes),
        stack=_stack(report),
        given=given(report),
        memory=sparkline(report),
        more=tuple(_more(report)),
    )


def _stack(report: Report) -> tuple[Shown | Gap, ...]:
    """The gist of the stack that was seen where it died; what a text held is quoted as it stands."""
    died = next((t for t in threads(report) if t.merged and t.crashed), None)
    return tuple(gist(died.calls)) if died else ()


def _point(case: Case, says: str, weight: int, fact: Fact) -> Point:
    shown = lines(case, fact.span)
    return Point(
        says=one_line(says),
        weight=weight,
        source=one_line(fact.span.evidence, most=80),
        first=next(line.number for line in shown if line.hit),
        lines=shown,
        words=harmless(fact.span.words).strip(),
    )


def _points(report: Report) -> list[Point]:
    """What the verdict rests on, else the fact that shows what the machine did."""
    case, seen = report.case, report.seen
    if report.verdict:
        return [_point(case, c.says, int(c.weight), c.fact) for c in report.verdict.clues]
    if seen is None:
        return []
    weight = Weight.SLIGHT if seen.sure == Sure.BARE else Weight.STRONG
    title = seen.mechanism.title
    return [_point(case, title[0].lower() + title[1:], int(weight), seen.fact)]


def _blame(report: Report) -> str | None:
    """Who is to blame, unless the places, or the arguments with the guilty one, have said it."""
    culprit = report.culprit
    if culprit and culprit.kind == "op" and any(i.operations for i in report.incidents):
        return None
    name = blame(culprit) if culprit else None
    return None if name and any(name in place for place in places(report)) else name


def _why(report: Report, verdict: Finding) -> str:
    words = [sentence(one_line(verdict.cause.title))]
    if verdict.best:
        words.append(sentence(one_line(verdict.best.says, most=240)))
    if report.seen is None:
        death = report.case.first(Death)
        words.append(MEANS.get(death.signal, "") if death else "")
    if report.usual:
        words.append(
            f"The text does not show how; with this cause it is usually this: {report.usual.title.lower()}."
        )
    return " ".join(word for word in words if word)


def _what_is_unknown(report: Report) -> str:
    case, seen = report.case, report.seen
    if not any(line.strip() for e in case.evidence for line in e.lines):
        return EMPTY
    if not case.facts:
        return "Nothing in it tells how a process died, in any wording known here."
    death = case.first(Death)
    means = MEANS.get(death.signal, "") if death else ""
    says = means or (sentence(one_line(seen.mechanism.title)) if seen else "")
    place = "" if places(report) else "The text does not say where."
    said = _words_of(seen.fact) if seen else ""
    words = (says, sentence(said) if said else "", place, "Why it came to that stays open.")
    return " ".join(word for word in words if word)


def _words_of(fact: Fact) -> str:
    """What the program itself said, where it said something."""
    match fact:
        case Check(expression=said, detail=detail):
            said = f"{said} ({detail})" if detail else said
        case (
            HeapDamage(text=said) | Log(text=said) | PythonError(text=said) | PythonFatal(text=said)
        ):
            pass
        case Uncaught(type=kind, what=what):
            said = ": ".join(part for part in (kind, what) if part)
        case _:
            said = ""
    return f"It said: {one_line(said, most=200)}" if said else ""


def _doubt(report: Report, verdict: Finding) -> str:
    chance = verdict.probability
    word = next(word for least, word in DOUBTS if chance >= least)
    said = f"{word}: this verdict is {_round(chance)} sure."
    rival = next((f for f in report.findings if f is not verdict and f.best), None)
    if rival and rival.probability >= HARDLY_EVER:
        said += f" Next likeliest, {_round(rival.probability)}: {one_line(rival.cause.title)}."
    return said


def _round(probability: float) -> str:
    """Whole per cents, and never the certainty that nobody has."""
    return f"{min(max(round(100 * probability), 1), 99)} %"


def _likely(report: Report) -> tuple[Likely, ...]:
    """The causes for which something speaks; where there is none, what is common."""
    ranked = [f for f in report.findings if f.best] or report.findings if report.case.facts else ()
    return tuple(
        Likely(
            id=finding.cause.id,
            title=one_line(finding.cause.title),
            percent=_round(finding.probability),
            says=one_line(finding.best.says, most=160) if finding.best else "",
        )
        for finding in ranked[:MOST_LIKELY]
        if finding.probability >= HARDLY_EVER
    )


def _next(report: Report) -> tuple[Missing, ...]:
    known = report.verdict
    manual = (Missing(f"sigwhy cause {known.cause.id}", "its manual page"),) if known else ()
    told = (Missing(one_line(m.command), short(harmless(m.brings), 200)) for m in report.missing)
    return (*told, *manual)


def _more(report: Report) -> Iterator[Missing]:
    """What can be made of the file that was kept."""
    both = zip(report.incidents, report.kept_in, strict=False)
    for incident, file in both:
        if file and incident.threads:
            name = one_line(shlex.quote(file), most=400)
            stem = PurePath(file).stem
            to = one_line(shlex.quote(f"{stem}.html"), most=400)
            yield from _repro(incident, name, f"{stem}.repro.py")
            yield Missing(f"sigwhy explain {name} -o {to}", "all stacks and evidence as a page")
            yield Missing(f"sigwhy explain {name} --format issue", "a text for a bug tracker")
            return


def _repro(incident: Incident, name: str, script: str) -> Iterator[Missing]:
    """The script that dies again, where there is an operation with inputs to write one for."""
    operation = chosen(incident)
    if operation is None or operation.op.startswith("_"):  # made of a whole function; none calls it
        return
    if operation.inputs or operation.attributes or operation.model:
        to = one_line(shlex.quote(script), most=400)
        yield Missing(
            f"sigwhy explain {name} --repro {to}",
            f"a script that runs {one_line(operation.op, most=60)} again",
        )
