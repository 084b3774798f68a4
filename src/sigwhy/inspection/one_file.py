"""One file: read, made a subject, looked at by every check that is wanted."""

from __future__ import annotations

import mmap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.checks import Looked, looked, possible
from sigwhy.inspection import shelf
from sigwhy.inspection.plan import Result
from sigwhy.inspection.suppressed import kept
from sigwhy.model.around import Around
from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.inspection.plan import Plan
    from sigwhy.model.problem import Problem

# A file that shrinks while it is mapped kills the reader (SIGBUS), so only those are mapped that are
# too big to be read.
MAPPED_FROM = 64 << 20
SOURCES = {"py", "cc"}
CACHED = SOURCES  # looking at the others is faster than hashing them
# Of these the subject reads what it needs itself: a library may have 700 MB, a machine is no file.
PLACES = {"so", "env", "host"}


def inspected(plan: Plan) -> Result:
    """Look at one file. Never raises for what is in it."""
    if plan.kind in PLACES:
        return _looked_at(plan, b"")
    try:
        data = _content(Path(plan.path))
    except OSError as error:
        why = error.strerror or str(error)
        return Result(path=plan.path, unread=f"{plan.path} cannot be read: {why}")
    if plan.cache is None or plan.kind not in CACHED:
        return _looked_at(plan, data)
    place, name = Path(plan.cache), shelf.key(plan, bytes(data))
    if not (result := shelf.fetch(place, name, plan.path)):
        result = _looked_at(plan, data)
        if not result.notes and not result.unread:
            shelf.keep(place, name, result)
    return result


def _content(path: Path) -> bytes | mmap.mmap:
    with path.open("rb") as stream:
        if path.stat().st_size < MAPPED_FROM:
            return stream.read()
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)


def _looked_at(plan: Plan, data: bytes | mmap.mmap) -> Result:
    try:
        found, text = (
            _source(plan, bytes(data)) if plan.kind in SOURCES else (_other(plan, data), "")
        )
    except UsageError as error:
        return Result(path=plan.path, unread=str(error))
    problems = _here(kept(found.problems, text), plan.path)
    return Result(path=plan.path, problems=tuple(problems), notes=found.notes)


def _source(plan: Plan, data: bytes) -> tuple[Looked, str]:
    """A source; it is parsed only where a word stands in it that some check waits for."""
    rough = data.decode("utf-8", "replace")
    if not (wanted := possible(plan.kind, rough, plan.wanted)):
        return Looked(), rough
    if plan.kind == "cc":
        from sigwhy.subjects.cpp_source import CppSource

        return looked(CppSource.of(data, plan.path), plan.kind, wanted=wanted), rough
    from sigwhy.subjects.python_source import PythonSource

    source = PythonSource.of(data, plan.path, targets=plan.targets)
    return looked(source, plan.kind, wanted=wanted), source.text


def _other(plan: Plan, data: bytes | mmap.mmap) -> Looked:
    """What has no lines."""
    subject = _place(plan) if plan.kind in PLACES else _model(plan, data)
    return looked(subject, plan.kind, wanted=plan.wanted)


def _model(plan: Plan, data: bytes | mmap.mmap) -> object:
    from sigwhy.subjects.tflite_model import TfliteModel

    return TfliteModel.of(
        memoryview(data),
        targets=plan.targets,
        memory_limit=plan.memory_limit,
        verbose=plan.verbose,
    )


def _place(plan: Plan) -> object:
    if plan.kind == "env":
        from sigwhy.subjects.python_environment import environment

        return environment(Path(plan.path))
    if plan.kind == "host":
        from sigwhy.subjects.host import Host

        return Host.of(plan.around or Around())
    from sigwhy.subjects.shared_object import SharedObject

    return SharedObject.of(Path(plan.path), plan.around)


def _here(problems: Iterator[Problem], path: str) -> Iterator[Problem]:
    return (replace(problem, path=path) for problem in problems)
