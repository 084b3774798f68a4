"""From evidence to verdict: the whole way in one place.

What knows crashes is loaded when there is one: ``sigwhy run`` must start at once.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.case import Evidence, Gathered
    from sigwhy.model.cause import Finding
    from sigwhy.model.fact import Fact
    from sigwhy.model.incident import Incident
    from sigwhy.model.report import Report

Source: TypeAlias = "str | os.PathLike[str] | IO[bytes]"

ENOUGH = 0.7


def explain(*sources: Source) -> Report:
    """Say why a process died, from anything that was written about it.

    Each source is a text (``str``), a file, folder or pattern (``pathlib.Path``, or a ``str`` that
    names a file), or an open binary stream. Files may be texts, Incidents and core files. Several
    sources are one case. Raises ``UsageError`` where a source cannot be read.
    """
    from sigwhy.evidence import gather
    from sigwhy.model.case import Gathered
    from sigwhy.read import markers

    sorted_out = _sorted_out(sources)
    gathered = Gathered(())
    if texts := sorted_out.texts:
        gathered = gather(*texts, markers=markers(), but=sorted_out.taken)
    return judge(
        Gathered(gathered.evidence, (*gathered.notes, *sorted_out.notes)),
        *sorted_out.incidents,
        kept_in=sorted_out.kept_in,
    )


def judge(gathered: Gathered, *incidents: Incident, kept_in: Sequence[str | None] = ()) -> Report:
    """The report of one case, from texts that were gathered and from Incidents.

    ``kept_in`` names the files of the Incidents, in their order.
    """
    from dataclasses import replace

    from sigwhy.causes import judged
    from sigwhy.contradictions import contradictions
    from sigwhy.culprit import culprit
    from sigwhy.guilt import guilty, trials
    from sigwhy.machine.library import named
    from sigwhy.mechanisms import mechanism, usual
    from sigwhy.missing import missing
    from sigwhy.model.case import Case
    from sigwhy.model.report import Report
    from sigwhy.read import read
    from sigwhy.upstream import known

    notes = list(gathered.notes)
    seen_from_outside = [_autopsy(n, incident, notes) for n, incident in enumerate(incidents, 1)]
    taken = {piece.name for piece in gathered.evidence}
    seen_from_outside = [_named_apart(taken, *seen) for seen in seen_from_outside]
    texts = [
        _named_apart(taken, (evidence,), ())[0][0]
        for incident in incidents
        for evidence in _texts(incident)
    ]
    reading = read((*gathered.evidence, *texts))
    found = [piece for evidence, _ in seen_from_outside for piece in evidence]
    facts = [fact for _, facts in seen_from_outside for fact in facts]
    case = named(Case((*found, *gathered.evidence, *texts), (*facts, *reading.facts)))
    tries = trials(case, incidents)
    accused = (*guilty(case, tries, notes), *known(case, tries))
    case = replace(case, facts=(*case.facts, *accused))
    causes = judged(case)
    verdict = decide(causes.findings)
    seen = mechanism(case)
    return Report(
        case=case,
        seen=seen,
        findings=causes.findings,
        verdict=verdict,
        culprit=culprit(case, verdict),
        missing=() if verdict else missing(case),
        usual=usual(case, verdict.cause) if verdict and not seen else None,
        notes=(*contradictions(case, incidents), *notes, *reading.notes, *causes.notes),
        incidents=incidents,
        kept_in=tuple(kept_in),
    )


def _named_apart(
    taken: set[str], evidence: Sequence[Evidence], facts: Sequence[Fact]
) -> tuple[tuple[Evidence, ...], tuple[Fact, ...]]:
    """The same under names of their own: two Incidents may hold the same source, each other lines of it."""
    from dataclasses import replace

    names: dict[str, str] = {}
    for piece in evidence:
        n, name = 1, piece.name
        while name in taken:
            n += 1
            name = f"{piece.name} ({n})"
        taken.add(name)
        names[piece.name] = name
    return (
        tuple(replace(piece, name=names[piece.name]) for piece in evidence),
        tuple(replace(f, span=replace(f.span, evidence=names[f.span.evidence])) for f in facts),
    )


def _texts(incident: Incident) -> Iterator[Evidence]:
    """What was said, by the process and about it, under the names of those who said it."""
    from dataclasses import replace

    from sigwhy.autopsy import spoken
    from sigwhy.evidence import gather
    from sigwhy.read import markers

    kernel = "\n".join(incident.kernel)
    said = {
        "standard error": incident.stderr,
        "kernel log": kernel,
        spoken.NAME: spoken.words(incident),
    }
    for name, words in said.items():
        # With its line end it is a text, and never the name of a file.
        gathered = gather(f"{words}\n", markers=markers()) if words else None
        for evidence in gathered.evidence if gathered else ():
            yield replace(evidence, name=name)


def decide(found: Sequence[Finding]) -> Finding | None:
    """The likeliest cause, where it is likely enough and something was read that speaks for it."""
    first = next(iter(found), None)
    if first and first.best and first.probability >= ENOUGH:
        return first
    return None


def _autopsy(
    n: int, incident: Incident, notes: list[str]
) -> tuple[tuple[Evidence, ...], tuple[Fact, ...]]:
    from sigwhy.autopsy import autopsy

    found = autopsy(incident, name="incident" if n == 1 else f"incident {n}")
    notes += found.notes
    return found.evidence, found.facts


@dataclass(slots=True)
class _SortedOut:
    """The sources that hold texts, and the Incidents and cores that were found among the rest."""

    texts: list[Source] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    kept_in: list[str] = field(default_factory=list)
    taken: set[Path] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def take(self, path: Path, *, one_of_many: bool) -> None:
        from sigwhy.autopsy.opened import opened
        from sigwhy.model.error import UsageError

        try:
            found = opened(path)
        except UsageError as error:
            if not one_of_many:
                raise
            self.taken.add(path)
            self.notes.append(str(error))
            return
        if found:
            self.taken.add(path)
            self.incidents.append(found)
            self.kept_in.append(str(path))


def _sorted_out(sources: Sequence[Source]) -> _SortedOut:
    from sigwhy.evidence import several

    done = _SortedOut()
    for source in sources:
        paths: list[Path] = []
        many = None
        if isinstance(source, os.PathLike) or (isinstance(source, str) and "\n" not in source):
            many = several(source) if isinstance(source, os.PathLike) else None
            paths = [Path(source)] if many is None else many
        for path in paths:
            done.take(path, one_of_many=many is not None)
        if not paths or not done.taken.issuperset(paths):
            done.texts.append(source)
    return done
