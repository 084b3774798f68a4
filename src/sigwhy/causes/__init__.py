"""The knowledge: one file for each thing that kills a process, and the sum of what they say."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

from sigwhy import priors
from sigwhy.model import accused, of_model
from sigwhy.model.cause import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sigwhy.model.case import Case
    from sigwhy.model.cause import Cause, Clue


class CauseFile(Protocol):
    """What every module of this package offers."""

    CAUSE: Cause

    def clues(self, case: Case) -> Iterator[Clue]:
        """Yield what the case says for this cause, and against it."""
        ...


@cache
def causes() -> dict[str, CauseFile]:
    """Every cause, by the name of its file."""
    return {
        info.name: cast("CauseFile", importlib.import_module(f"{__name__}.{info.name}"))
        for info in pkgutil.iter_modules(__path__)
    }


@dataclass(frozen=True, slots=True)
class Judged:
    """Every cause with its probability, the likeliest first, and a word about each that broke."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


def judged(case: Case) -> Judged:
    """Add up what the causes say.

    Decibans add: ten times the logarithm of how likely the cause is before anything was read, plus
    the weight of each clue. One more rival stands in the sum, "something else", for which nothing
    ever speaks.
    """
    heard: dict[Cause, tuple[Clue, ...]] = {}
    notes: list[str] = []
    for name, file in causes().items():
        try:
            own = accused.clues(case, file.CAUSE.id)
            of_a_model = of_model.clues(case, file.CAUSE.id)
            heard[file.CAUSE] = _once_each((*own, *of_a_model, *file.clues(case)))
        except Exception as error:  # noqa: BLE001 -- one broken cause must not silence the others
            notes.append(f"the cause {name} broke ({error!r}); please report it")
    scores = {
        cause: priors.decibans(case, cause.id) + sum(c.weight for c in clues)
        for cause, clues in heard.items()
    }
    likely = shares(scores)
    found = [Finding(cause, clues, likely[cause]) for cause, clues in heard.items()]
    found.sort(key=lambda f: (-f.probability, f.cause.id))
    return Judged(tuple(found), tuple(notes))


def shares(scores: Mapping[Cause, float]) -> dict[Cause, float]:
    """The probability of each cause, from its sum of decibans and those of its rivals."""
    highest = max((*scores.values(), priors.SOMETHING_ELSE))
    odds = {cause: 10 ** ((score - highest) / 10) for cause, score in scores.items()}
    total = sum(odds.values()) + 10 ** ((priors.SOMETHING_ELSE - highest) / 10)
    return {cause: odd / total for cause, odd in odds.items()}


def _once_each(clues: Iterable[Clue]) -> tuple[Clue, ...]:
    """The same words twice are one clue: a log repeats itself, which proves nothing more."""
    seen: dict[str, Clue] = {}
    for clue in clues:
        if clue.says not in seen or abs(clue.weight) > abs(seen[clue.says].weight):
            seen[clue.says] = clue
    return tuple(sorted(seen.values(), key=lambda c: -c.weight))
