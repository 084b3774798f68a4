"""Mistakes that can be seen before anything crashes: one file for each.

The first word of a file's name says what it looks at: ``py_``, ``cc_``, ``so_``, ``env_``, ``tflite_``, ``model_``, ``host_``.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from sigwhy.model.check import Check
    from sigwhy.model.problem import Problem

MOST = 100  # problems of one check in one file: a hostile model must not fill the disk with words


class CheckFile(Protocol):
    """What every module of this package offers."""

    CHECK: Check

    def look(self, subject: object) -> Iterator[Problem]:
        """Yield the places where the mistake was made."""
        ...


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found, and a word about each check that broke."""

    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()


@cache
def checks() -> dict[str, CheckFile]:
    """Every check, by the name of its file."""
    return {name: _loaded(name) for name in names()}


@cache
def names(kind: str = "") -> tuple[str, ...]:
    """The names of the files, or of those that look at one kind of subject."""
    found = (info.name for info in pkgutil.iter_modules(__path__))
    return tuple(name for name in found if name.split("_")[0] == kind or not kind)


def possible(kind: str, text: str, wanted: Container[str]) -> frozenset[str]:
    """The ids of the wanted checks whose words stand in a text."""
    files = (_loaded(name).CHECK for name in names(kind))
    return frozenset(
        check.id
        for check in files
        if check.id in wanted and (not check.words or any(word in text for word in check.words))
    )


def looked(subject: object, kind: str, *, wanted: Container[str] | None = None) -> Looked:
    """Let every check of a kind look at one subject; ``wanted`` are the ids of those that may."""
    problems: dict[Problem, None] = {}
    notes = []
    for name in names(kind):
        if wanted is not None and name.replace("_", "-") not in wanted:
            continue
        try:
            problems.update(dict.fromkeys(_some(_loaded(name).look(subject))))
        except Exception as error:  # noqa: BLE001 -- one broken check must not silence the others
            notes.append(f"the check {name} broke ({error!r}); please report it")
    return Looked(tuple(problems), tuple(notes))


def _some(found: Iterator[Problem]) -> Iterator[Problem]:
    for _ in range(MOST):
        if (problem := next(found, None)) is None:
            return
        yield problem


def _loaded(name: str) -> CheckFile:
    return cast("CheckFile", importlib.import_module(f"{__name__}.{name}"))
