"""From paths to problems: the whole way in one place."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sigwhy.inspection.found import Found
    from sigwhy.inspection.plan import Plan
    from sigwhy.inspection.settings import Settings
    from sigwhy.model.around import Around
    from sigwhy.model.problem import Problem

MANY = {
    "py",
    "cc",
    "so",
}  # kinds of which there are so many that a second process is worth its start
Where: TypeAlias = "str | os.PathLike[str]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What is asked of a check; what is left out is answered by pyproject.toml."""

    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    target: Sequence[str] = ()
    memory_limit: str | int | None = None
    verbose: bool = False
    env: Where | None = None
    host: bool = False
    target_os: str | None = None
    target_cpu: str | None = None
    jobs: int | None = None
    cache: bool = True


@dataclass(frozen=True, slots=True)
class Inspection:
    """The problems, how many files were looked at, and words about the work itself."""

    problems: tuple[Problem, ...]
    checked: int
    notes: tuple[str, ...] = field(default=())


def check(  # noqa: PLR0913 -- each is a wish of its own, and all have names
    paths: Where | Sequence[Where] = (),
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    target: Sequence[str] = (),
    memory_limit: str | int | None = None,
    env: Where | None = None,
    host: bool = False,
    target_os: str | None = None,
    target_cpu: str | None = None,
) -> list[Problem]:
    """Find what would kill a program, before it runs.

    ``paths`` is a file or folder, or several: Python and C++ sources, models and shared objects.
    ``select`` and ``ignore`` name checks, or their kinds such as ``"py"``; ``target`` names runtimes, such as
    ``"litert==2.3.0"``. ``env`` is the Python environment that libraries must fit; without paths all of
    its own are checked, and with ``host`` this machine. ``target_os`` such as ``"debian11"`` and
    ``target_cpu`` such as ``"haswell"`` say where it will run. Raises ``UsageError`` where a path
    cannot be read.
    """
    several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    wishes = Wishes(
        select=select,
        ignore=ignore,
        target=target,
        memory_limit=memory_limit,
        env=env,
        host=host,
        target_os=target_os,
        target_cpu=target_cpu,
    )
    return list(inspect(several, wishes).problems)


def inspect(
    paths: Sequence[Where],
    wishes: Wishes,
    progress: Callable[[int, int], None] | None = None,
) -> Inspection:
    """The same, with what the command line wants to know besides.

    ``progress`` hears how many files there are, and how many are done.
    """
    from functools import partial
    from pathlib import Path

    from sigwhy.inspection.found import found, of_environment, of_host
    from sigwhy.inspection.side_by_side import results
    from sigwhy.model.error import UsageError

    files = found([Path(path) for path in paths])
    if wishes.env is not None and not paths:
        files += of_environment(Path(wishes.env))
    if wishes.host:
        files += [one for one in of_host(str(wishes.env or own_environment())) if one not in files]
    if not files:
        raise UsageError(f"{_listed(paths)}: nothing there that sigwhy checks, such as .py files")
    plans = _plans(files, wishes)
    heard = partial(progress, len(plans)) if progress else None
    size = sum(file.size for file in files if file.kind in MANY)
    done = results(plans, size=size, jobs=wishes.jobs, progress=heard)
    unread = [result.unread for result in done if result.unread]
    if len(unread) == len(done):
        raise UsageError(unread[0])
    problems = [problem for result in done for problem in result.problems]
    notes = dict.fromkeys([*unread, *(note for result in done for note in result.notes)])
    return Inspection(tuple(sorted(problems, key=_order)), len(done) - len(unread), tuple(notes))


def _plans(files: Sequence[Found], wishes: Wishes) -> list[Plan]:
    """What each file is looked at for: the nearest settings, and what was asked now."""
    from dataclasses import replace

    from sigwhy.checks import names
    from sigwhy.inspection import shelf
    from sigwhy.inspection.plan import Plan
    from sigwhy.inspection.settings import ids, nearest, size
    from sigwhy.model.target import Target

    known = {name.replace("_", "-") for name in names()}
    targets = tuple(Target.of(word) for word in wishes.target)
    limit = wishes.memory_limit
    limit = size(limit) if isinstance(limit, str) else limit
    select, ignore = ids(wishes.select, known, "select"), ids(wishes.ignore, known, "ignore")
    around = _around(wishes)
    kept = shelf.folder() if wishes.cache else None
    if kept:
        shelf.sweep(kept)
    seen: dict[Path, Settings] = {}
    plans = []
    for file in files:
        settings = nearest(file.path.absolute(), known, seen)
        asked = replace(
            settings, select=select or settings.select, ignore=(*settings.ignore, *ignore)
        )
        plans.append(
            Plan(
                path=str(file.path),
                kind=file.kind,
                wanted=asked.wanted(file.path.absolute(), known),
                targets=targets or settings.targets,
                memory_limit=limit or settings.memory_limit,
                verbose=wishes.verbose,
                around=around,
                cache=str(kept) if kept else None,
            )
        )
    return plans


def _around(wishes: Wishes) -> Around:
    """What libraries are looked at against. Raises ``UsageError`` for what nobody knows."""
    from pathlib import Path

    from sigwhy.machine.cpus import features
    from sigwhy.machine.releases import Release
    from sigwhy.model.around import Around
    from sigwhy.subjects.python_environment import environment

    if wishes.env is not None:
        environment(Path(wishes.env))
    if wishes.target_os:
        Release.of(wishes.target_os)
    if wishes.target_cpu:
        features(wishes.target_cpu)
    return Around(
        env=str(wishes.env) if wishes.env is not None else None,
        own=own_environment(),
        target_os=wishes.target_os,
        target_cpu=wishes.target_cpu,
        library_path=tuple(os.environ.get("LD_LIBRARY_PATH", "").split(":")),
    )


def own_environment() -> str:
    """The environment that is active, or the one that this runs in."""
    return os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX") or sys.prefix


def _order(problem: Problem) -> tuple[str, int, int, str]:
    return (problem.path, problem.line or 0, problem.column or 0, problem.id)


def _listed(paths: Sequence[Where]) -> str:
    return ", ".join(str(path) for path in paths[:3]) or "no path was given"
