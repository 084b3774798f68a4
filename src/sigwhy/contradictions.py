"""Where the evidence contradicts itself: it is said, and nobody has to find out.

Two records may be of two deaths, a log may be of another run, a core of another program. Nothing is
left out for that; the report says what does not fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.fact import Death, Version

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.case import Case
    from sigwhy.model.incident import Incident

# Signals that end a process in the course of another death, or that are sent to ask it to end.
ASIDE = frozenset({"SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGPIPE", "SIGCHLD"})
NO_RIGHTS = "---"


def contradictions(case: Case, incidents: Sequence[Incident]) -> Iterator[str]:
    """Each contradiction as a sentence."""
    told = [death for death in case.all(Death) if not _is_seen(death, len(incidents))]
    yield from _signals(told, incidents)
    for incident in incidents:
        yield from _within(incident)
    yield from _processes(told, incidents)
    yield from _pythons(case, incidents)


def _is_seen(death: Death, count: int) -> bool:
    """Whether it was seen from outside; all others were told by texts."""
    names = ("incident", *(f"incident {n}" for n in range(2, count + 1)))
    return death.span.evidence in names


def _signals(deaths: Sequence[Death], incidents: Sequence[Incident]) -> Iterator[str]:
    seen = {s.name for i in incidents for s in (i.signal, i.earlier) if s}
    seen |= {process.signal for i in incidents for process in i.processes if process.signal}
    told = {death.signal for death in deaths} - ASIDE
    if seen - ASIDE and told and not seen & told:
        yield (
            f"contradiction: the text tells of {_and(told)}, and {_and(seen - ASIDE)} was seen;"
            " they may be of two deaths"
        )


def _within(incident: Incident) -> Iterator[str]:
    signal, status = incident.signal, incident.exit_status
    if signal is None:
        return
    if signal.code == "SEGV_MAPERR" and signal.address is not None:
        address = signal.address
        here = next((m for m in incident.mappings if m.start <= address < m.end), None)
        if here and not here.rights.startswith(NO_RIGHTS):
            yield (
                f"contradiction: the kernel found nothing mapped at {address:#x}, and when it was"
                f" looked at {here.path or 'anonymous memory'} was there: another thread has mapped it"
                " meanwhile, or it is the end of a file"
            )
    if status is not None and status < 0 and -status != signal.number and not incident.masked:
        yield (
            f"contradiction: it was seen to get {signal.name}, and ended by signal {-status};"
            " the second came after what is explained here"
        )


def _processes(deaths: Sequence[Death], incidents: Sequence[Incident]) -> Iterator[str]:
    pids = {i.pid for i in incidents if i.pid is not None}
    tree = {process.pid for i in incidents for process in i.processes} | pids
    tids = {thread.tid for i in incidents for thread in i.threads}
    told = {death.pid for death in deaths if death.pid is not None}
    if pids and told and not told & (tree | tids):
        yield (
            f"contradiction: the text tells of process {_and(told)}, the record is of process"
            f" {_and(pids)}; in a container numbers differ, else they are two deaths"
        )
    related = [{p.pid for p in i.processes} for i in incidents]
    if len(pids) > 1 and not any(pids <= family for family in related):
        yield (
            f"contradiction: the records are of processes {_and(pids)}, and none tells that they"
            " belong together; each is explained as if it were one death"
        )


def _pythons(case: Case, incidents: Sequence[Incident]) -> Iterator[str]:
    seen = {_minor(i.python_version) for i in incidents if i.python_version}
    told = {_minor(v.version) for v in case.all(Version) if v.package.lower() == "python"}
    if seen and told and not seen & told:
        yield (
            f"contradiction: the text is of Python {_and(told)}, the record of Python {_and(seen)}"
        )


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _and(some: set[str] | set[int]) -> str:
    return " and ".join(map(str, sorted(some)[:4]))
