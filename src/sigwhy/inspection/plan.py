"""What is wanted of one file, and what came of it. Both travel to other processes and into the cache."""

from __future__ import annotations

from dataclasses import dataclass

from sigwhy.model.around import Around  # noqa: TC001 -- msgspec reads annotations at run time
from sigwhy.model.problem import Problem  # noqa: TC001 -- msgspec reads annotations at run time
from sigwhy.model.target import Target  # noqa: TC001 -- msgspec reads annotations at run time


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One file, and what it is looked at for."""

    path: str
    kind: str
    wanted: frozenset[str]
    targets: tuple[Target, ...] = ()
    memory_limit: int | None = None
    verbose: bool = False
    around: Around | None = None
    cache: str | None = None  # the folder where results are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of it. ``unread`` says why a file could not be looked at."""

    path: str
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    unread: str | None = None
