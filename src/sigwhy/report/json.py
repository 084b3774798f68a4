"""The contract for other tools. Every field may be null, and fields may be added, never renamed.

The structs below are the contract: the document is made of them, and so is its JSON Schema.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import msgspec

from sigwhy.autopsy.merged import merged
from sigwhy.autopsy.wheels import by_library
from sigwhy.model import cause as model  # noqa: TC001 -- msgspec reads annotations at run time
from sigwhy.model.fact import Death, Exit, Fault, Guilty, Op, Stack
from sigwhy.model.signature import signature
from sigwhy.report.json_operation import NUMBERS, Operation, as_text, of_memory, of_text
from sigwhy.report.story import tell
from sigwhy.report.threads import evidence_name, is_guilty

if TYPE_CHECKING:
    from sigwhy.autopsy.merged import Call
    from sigwhy.model import fact
    from sigwhy.model.case import Case
    from sigwhy.model.incident import Incident, Module
    from sigwhy.model.incident import Thread as Standing
    from sigwhy.model.report import Report

SCHEMA = 1
MOST_FINDINGS = 8
MOST_CLUES = 40
MOST_STACKS = 64
MOST_FRAMES = 256
MOST_SAMPLES = 2000


class Culprit(msgspec.Struct, frozen=True, kw_only=True):
    """What is to blame, as exactly as the evidence allows."""

    kind: model.Kind | None = None
    name: str | None = None
    argument: str | None = None
    value: str | None = None
    node: str | None = None
    library: str | None = None
    file: str | None = None
    line: int | None = None
    function: str | None = None


class Clue(msgspec.Struct, frozen=True, kw_only=True):
    """One observation: its worth in decibans, and the words that say it."""

    says: str | None = None
    weight: int | None = None
    quote: str | None = None
    evidence: str | None = None
    line: int | None = None


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What happened, why, and what to do about it."""

    mechanism: str | None = None
    cause: str | None = None
    probability: float | None = None
    summary: str | None = None
    fix: str | None = None
    culprit: Culprit | None = None


class Finding(Verdict, frozen=True, kw_only=True):
    """A cause that it may be, with all that was said for and against it."""

    clues: list[Clue] | None = None


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How the process ended."""

    signal: str | None = None
    code: str | None = None
    address: int | None = None
    exit_status: int | None = None
    pid: int | None = None
    tid: int | None = None
    command: list[str] | None = None
    at: str | None = None


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """One call on a stack."""

    language: str | None = None
    function: str | None = None
    file: str | None = None
    line: int | None = None
    library: str | None = None
    offset: int | None = None
    distribution: str | None = None
    version: str | None = None
    culprit: bool | None = None
    locals: dict[str, str] | None = None


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one thread, innermost first."""

    tid: int | None = None
    name: str | None = None
    crashed: bool | None = None
    frames: list[Frame] | None = None


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """Memory at one moment: of the process, of its tree, of its control group."""

    seconds: float | None = None
    resident_bytes: int | None = None
    tree_bytes: int | None = None
    group_bytes: int | None = None


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Memory over the run, its limits, and what the kernel counted."""

    samples: list[Sample] | None = None
    group_limit_bytes: int | None = None
    machine_bytes: int | None = None
    peak_bytes: int | None = None
    oom_kills_before: int | None = None
    oom_kills_after: int | None = None


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """What the process ran in."""

    machine: str | None = None
    python: str | None = None
    packages: dict[str, str] | None = None
    variables: dict[str, str] | None = None
    limits: dict[str, str] | None = None
    seen_by: str | None = None
    not_seen: list[str] | None = None


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is known about one death."""

    schema: int | None = SCHEMA
    headline: str | None = None
    verdict: Verdict | None = None
    findings: list[Finding] | None = None
    mechanism: str | None = None
    death: Ending | None = None
    stacks: list[Thread] | None = None
    op: Operation | None = None
    memory: Memory | None = None
    environment: Environment | None = None
    signature: str | None = None
    incident: str | None = None
    missing: list[str] | None = None
    notes: list[str] | None = None


def render(report: Report) -> str:
    """Write a report as one line of JSON."""
    return msgspec.json.encode(document(report)).decode()


def schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What sigwhy knows about one death",
        **msgspec.json.schema(Document),
    }


def document(report: Report) -> Document:
    """The report as the contract has it."""
    story = tell(report)
    return Document(
        headline=story.headline,
        verdict=_verdict(report, story.headline) if report.verdict else None,
        findings=[_finding(report, found) for found in report.findings[:MOST_FINDINGS]],
        mechanism=_mechanism(report),
        death=_ending(report),
        stacks=_stacks(report),
        op=_operation(report),
        memory=_memory(report),
        environment=_environment(report),
        signature=signature(report),
        incident=as_text(_kept_in(report)),
        missing=[missing.command for missing in report.missing],
        notes=list(story.notes),
    )


def _mechanism(report: Report) -> str | None:
    shown = report.seen.mechanism if report.seen else report.usual
    return shown.id if shown else None


def _verdict(report: Report, summary: str) -> Verdict | None:
    found = report.verdict
    if found is None:
        return None
    return Verdict(
        mechanism=_mechanism(report),
        cause=found.cause.id,
        probability=round(found.probability, 4),
        summary=summary,
        fix=as_text(found.fix),
        culprit=_culprit(report.culprit),
    )


def _finding(report: Report, found: model.Finding) -> Finding:
    named = (clue.culprit for clue in found.clues if clue.weight > 0 and clue.culprit)
    culprit = report.culprit if found is report.verdict else next(named, None)
    return Finding(
        mechanism=_mechanism(report),
        cause=found.cause.id,
        probability=round(found.probability, 4),
        summary=found.cause.title,
        fix=as_text(found.fix),
        culprit=_culprit(culprit),
        clues=[_clue(report.case, clue) for clue in found.clues[:MOST_CLUES]],
    )


def _clue(case: Case, clue: model.Clue) -> Clue:
    quote = case.quote(clue.fact.span)
    return Clue(
        says=as_text(clue.says),
        weight=int(clue.weight),
        quote=as_text(quote.text),
        evidence=as_text(quote.evidence),
        line=quote.first,
    )


def _culprit(culprit: model.Culprit | None) -> Culprit | None:
    if culprit is None:
        return None
    return Culprit(
        kind=culprit.kind,
        name=as_text(culprit.name),
        argument=as_text(culprit.argument),
        value=as_text(culprit.value),
        node=as_text(culprit.node),
        library=as_text(culprit.library),
        file=as_text(culprit.file),
        line=_whole(culprit.line),
        function=as_text(culprit.function),
    )


def _ending(report: Report) -> Ending | None:
    """How it ended: as it was seen from outside, else as texts tell it."""
    told = _ending_told(report.case)
    first = report.incidents[0] if report.incidents else None
    if first is None:
        return told
    signal = first.signal
    seen = Ending(
        signal=as_text(signal.name) if signal else None,
        code=as_text(signal.code) if signal else None,
        address=_whole(signal.address) if signal else None,
        exit_status=_as_shells_say(first.exit_status),
        pid=_whole(first.pid),
        tid=_whole(first.tid),
        command=[as_text(word) or "" for word in first.command] or None,
        at=as_text(first.at) or None,
    )
    return seen if told is None else _filled_up(seen, told)


def _as_shells_say(status: int | None) -> int | None:
    """After a death by signal N a shell has 128 + N in ``$?``."""
    return _whole(128 - status if status is not None and status < 0 else status)


def _filled_up(seen: Ending, told: Ending) -> Ending:
    """What was seen, and where nothing was, what was told."""
    absent = [name for name in Ending.__struct_fields__ if getattr(seen, name) is None]
    if seen.signal:  # a status beside the signal would be somebody else's
        absent = [name for name in absent if name not in ("exit_status", "address")]
    return msgspec.structs.replace(seen, **{name: getattr(told, name) for name in absent})


def _ending_told(case: Case) -> Ending | None:
    death, left, fault = case.first(Death), case.first(Exit), case.first(Fault)
    if not (death or left or fault):
        return None
    told = (death.command if death else None, left.command if left else None)
    command = next((line for line in told if line), None)
    return Ending(
        signal=as_text(death.signal) if death else None,
        code=as_text(death.code) if death else None,
        address=_whole(fault.address) if fault else None,
        exit_status=_whole(left.status) if left else None,
        pid=_whole(death.pid) if death else None,
        tid=_whole(death.tid) if death else None,
        command=_command(command) if command else None,
    )


def _command(line: str) -> list[str]:
    """The words of a command line, as a shell would part them; torn quotes part at blanks."""
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    return [as_text(word) or "" for word in words]


def _stacks(report: Report) -> list[Thread]:
    """One entry for each thread that was seen, and one for each stack of a text."""
    of_incidents = {evidence_name(n) for n in range(1, len(report.incidents) + 1)}
    found = [
        _seen(incident, thread, report)
        for incident in report.incidents
        for thread in sorted(incident.threads, key=lambda t: not t.crashed)
        if thread.native or thread.python
    ]
    texts = (s for s in report.case.all(Stack) if s.span.evidence not in of_incidents)
    return [*found, *map(_thread, texts)][:MOST_STACKS]


def _seen(incident: Incident, thread: Standing, report: Report) -> Thread:
    modules = by_library(incident.modules)
    blamed = report.culprit if thread.crashed else None
    frames, marked = [], False
    for call in merged(thread)[:MOST_FRAMES]:
        guilty = blamed is not None and not marked and is_guilty(call.frame, blamed)
        marked = marked or guilty
        frames.append(_call(call, modules(call.module), guilty=guilty))
    return Thread(
        tid=_whole(thread.tid), name=as_text(thread.name), crashed=thread.crashed, frames=frames
    )


def _call(call: Call, module: Module | None, *, guilty: bool) -> Frame:
    return msgspec.structs.replace(
        _frame(call.frame),
        distribution=as_text(module.distribution) if module else None,
        version=as_text(module.version) if module else None,
        culprit=guilty,
        locals={as_text(k) or "": as_text(v) or "" for k, v in call.locals.items()} or None,
    )


def _frame(frame: fact.Frame) -> Frame:
    return Frame(
        language=frame.language,
        function=as_text(frame.function),
        file=as_text(frame.file),
        line=_whole(frame.line),
        library=as_text(frame.library),
        offset=_whole(frame.offset),
    )


def _thread(stack: Stack) -> Thread:
    name = stack.thread or ""
    return Thread(
        tid=_whole(int(name)) if re.fullmatch(r"[0-9]{1,18}", name) else None,
        name=as_text(stack.thread),
        crashed=stack.crashed,
        frames=[_frame(frame) for frame in stack.frames[:MOST_FRAMES]],
    )


def _memory(report: Report) -> Memory | None:
    """The first timeline that was kept."""
    kept = next((i.memory for i in report.incidents if i.memory), None)
    if kept is None:
        return None
    return Memory(
        samples=[
            Sample(
                seconds=sample.seconds,
                resident_bytes=_whole(sample.resident_bytes),
                tree_bytes=_whole(sample.tree_bytes) or None,
                group_bytes=_whole(sample.group_bytes) or None,
            )
            for sample in kept.samples[:MOST_SAMPLES]
        ],
        group_limit_bytes=_whole(kept.group_limit_bytes),
        machine_bytes=_whole(kept.machine_bytes),
        peak_bytes=_whole(kept.peak_bytes),
        oom_kills_before=_whole(kept.oom_kills_before),
        oom_kills_after=_whole(kept.oom_kills_after),
    )


def _environment(report: Report) -> Environment | None:
    first = report.incidents[0] if report.incidents else None
    if first is None:
        return None
    return Environment(
        machine=as_text(first.machine),
        python=as_text(first.python_version),
        packages=_texts(first.packages),
        variables=_texts(first.environment),
        limits=_texts(first.limits),
        seen_by=first.way,
        not_seen=[as_text(what) or "" for what in first.blind],
    )


def _kept_in(report: Report) -> str | None:
    """The file of the first Incident; a core file is none."""
    both = zip(report.incidents, report.kept_in, strict=False)
    return next((path for incident, path in both if path and incident.way != "core"), None)


def _texts(rows: dict[str, str]) -> dict[str, str]:
    return {as_text(name) or "": as_text(value) or "" for name, value in rows.items()}


def _operation(report: Report) -> Operation | None:
    """The operation as memory showed it, else as a text named it."""
    case = report.case
    memory = (o for incident in report.incidents for o in incident.operations)
    if kept := next((o for o in memory if o.state != "beside" or o.is_hint), None):
        return of_memory(kept, frozenset(g.argument for g in case.all(Guilty) if g.op == kept.op))
    op = next((op for op in case.all(Op) if op.state != "beside"), None)
    return of_text(op) if op else None


def _whole(number: int | None) -> int | None:
    """A number that other readers of JSON can hold."""
    return number if number is not None and number in NUMBERS else None
