"""The stacks as they are shown: all threads, the one that died first, the culprit marked.

Stacks of an Incident are merged of native and Python calls; those of a text are shown as they stood.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from sigwhy.model.blame import file_name, is_installed, owner, short_path
from sigwhy.model.fact import Stack
from sigwhy.report.harmless import one_line
from sigwhy.report.place import brief, frame_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sigwhy.autopsy.merged import Call
    from sigwhy.model.cause import Culprit
    from sigwhy.model.fact import Frame
    from sigwhy.model.incident import Incident, Module
    from sigwhy.model.incident import Thread as Standing
    from sigwhy.model.report import Report

MOST_THREADS = 64
MOST_CALLS = 400
MOST_LOCALS = 12
LONGEST_VALUE = 120
MOST_OWNERS = 2
ROLES = {
    "fault": "Stack",
    "freed": "Where the memory was given back",
    "allocated": "Where the memory came from",
    "previous": "The other party",
    "leaked": "Where the lost memory came from",
    "waiting": "Stack of a thread that waits",
}
INTERPRETER = "the interpreter"
# What is shown where there is little room.
INNERMOST_NATIVE, INNERMOST_YOURS = 2, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One call on one line, in full and in brief; ``times`` it stood there in a row."""

    words: str
    brief: str
    language: str
    machinery: bool = False
    telling: bool = False
    yours: bool = False
    culprit: bool = False
    times: int = 1
    locals: tuple[tuple[str, str], ...] = ()
    wheel: str = ""
    of: str = ""  # whose code it is, where many are passed over: "numpy", "the interpreter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Calls that are passed over: how many, and whose they are."""

    calls: tuple[Shown, ...]

    @property
    def words(self) -> str:
        """``23 frames of the interpreter``."""
        count = sum(call.times for call in self.calls)
        owners = dict.fromkeys(call.of for call in self.calls)
        named = "" not in owners and len(owners) <= MOST_OWNERS
        whose = f" of {' and '.join(owners)}" if named else ""
        return f"{count} frame{'s' if count > 1 else ''}{whose}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A stack with its title, innermost call first; ``count`` is how long it really is."""

    title: str
    crashed: bool
    calls: tuple[Shown, ...]
    count: int
    merged: bool = False


def threads(report: Report) -> tuple[Thread, ...]:
    """All stacks, the one that died first."""
    seen = {evidence_name(n) for n in range(1, len(report.incidents) + 1)}
    of_texts = (s for s in report.case.all(Stack) if s.frames and s.span.evidence not in seen)
    found = [*_of_incidents(report), *(_of_text(stack) for stack in of_texts)]
    return tuple(sorted(found, key=lambda thread: not thread.crashed)[:MOST_THREADS])


def evidence_name(number: int) -> str:
    """The name under which the n-th Incident of a case is quoted."""
    return "incident" if number == 1 else f"incident {number}"


def folded(
    calls: Sequence[Shown], shows: Callable[[Shown], bool], *, least: int = 1
) -> list[Shown | Gap]:
    """The calls that are to be shown; runs of at least ``least`` others become gaps."""
    rows: list[Shown | Gap] = []
    for shown, run in groupby(calls, shows):
        some = tuple(run)
        if shown or len(some) < least:
            rows += some
        else:
            rows.append(Gap(calls=some))
    return rows


def gist(calls: Sequence[Shown]) -> list[Shown | Gap]:
    """Where it died, your own lines, and who is to blame; the rest as gaps."""
    telling = [c for c in calls if c.telling and c.language == "native"][:INNERMOST_NATIVE]
    yours = [c for c in calls if c.yours]
    python = [c for c in calls if c.language == "python"][:1]
    wanted = {id(c) for c in (*calls[:1], *telling, *yours[:INNERMOST_YOURS], *yours[-1:], *python)}
    return folded(calls, lambda call: call.culprit or id(call) in wanted)


def _of_incidents(report: Report) -> Iterator[Thread]:
    from sigwhy.autopsy.merged import merged
    from sigwhy.autopsy.wheels import by_library

    for incident in report.incidents:
        modules = by_library(incident.modules)
        for thread in incident.threads:
            calls = merged(thread)
            if calls:
                yield Thread(
                    title=_title_of(incident, thread),
                    crashed=thread.crashed,
                    calls=_shown(calls, modules, report.culprit if thread.crashed else None),
                    count=len(calls),
                    merged=True,
                )


def _title_of(incident: Incident, thread: Standing) -> str:
    name = f" ({thread.name})" if thread.name else ""
    died = ""
    if thread.crashed:
        died = ", the one that died" if incident.signal else ", the one that was looked at"
    holds = ", holds the GIL" if thread.holds_gil and not thread.crashed else ""
    return one_line(f"Thread {thread.tid}{name}{died}{holds}", most=160)


def _shown(
    calls: Sequence[Call], modules: Callable[[str | None], Module | None], culprit: Culprit | None
) -> tuple[Shown, ...]:
    guilty = next((c for c in calls if culprit and is_guilty(c.frame, culprit)), None)
    rows: list[Shown] = []
    for words, run in groupby(calls[:MOST_CALLS], lambda call: _words(call.frame)):
        same = list(run)
        first = same[0]
        module = modules(first.module)
        rows.append(
            Shown(
                words=words,
                brief=brief(first.frame),
                language=first.frame.language,
                machinery=first.machinery,
                telling=not first.carries,
                yours=_is_yours(first),
                culprit=guilty in same if guilty else False,
                times=len(same),
                locals=_locals(first),
                wheel=_wheel(module),
                of=_whose(first, module),
            )
        )
    return tuple(rows)


def is_guilty(frame: Frame, culprit: Culprit) -> bool:
    """Whether a frame is the one that the verdict blames."""
    if frame.language == "python":
        return bool(culprit.file and culprit.line) and (
            (frame.line == culprit.line)
            and bool(frame.file and frame.file.endswith(culprit.file or ""))
        )
    if culprit.function and frame.function == culprit.function:
        return True
    return bool(culprit.file and culprit.line) and (
        (frame.file, frame.line) == (culprit.file, culprit.line)
    )


def _words(frame: Frame) -> str:
    """A call with its file as one finds it, and its library by its name alone."""
    library = file_name(frame.library) if frame.library else None
    file = short_path(frame.file) if frame.file else None
    return frame_words(replace(frame, library=library, file=file))


def _is_yours(call: Call) -> bool:
    return call.frame.language == "python" and not call.carries and not is_installed(call.frame)


def _locals(call: Call) -> tuple[tuple[str, str], ...]:
    told = list(call.locals.items())[:MOST_LOCALS]
    return tuple((one_line(k, most=40), one_line(v, most=LONGEST_VALUE)) for k, v in told)


def _wheel(module: Module | None) -> str:
    if module is None or not module.distribution:
        return ""
    return one_line(f"{module.distribution} {module.version or ''}".strip(), most=80)


def _whose(call: Call, module: Module | None) -> str:
    if call.machinery:
        return INTERPRETER
    if module and module.distribution:
        return one_line(module.distribution, most=40)
    return one_line(owner(call.frame).name or "", most=40)


def _of_text(stack: Stack) -> Thread:
    thread = f" of thread {stack.thread}" if stack.thread else ""
    died = ", the one that died" if stack.crashed and stack.role == "fault" else ""
    return Thread(
        title=one_line(f"{ROLES[stack.role]}{thread}{died}", most=160),
        crashed=stack.crashed,
        calls=tuple(_as_it_stood(stack.frames)),
        count=len(stack.frames),
    )


def _as_it_stood(frames: Iterable[Frame]) -> Iterator[Shown]:
    for words, run in groupby(frames, frame_words):
        same = list(run)
        yield Shown(words=words, brief=brief(same[0]), language=same[0].language, times=len(same))
