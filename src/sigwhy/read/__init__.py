"""Text in, facts out: one file for each format. A reader never raises and never guesses.

A reader names in ``MARKERS`` the words without which its format cannot be there; a text that holds
none of them is not given to it, and a long log is sieved for the lines around them.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from sigwhy.markers import MARKERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact


RARE_LENGTH = 6


class Format(Protocol):
    """What every module of this package offers."""

    MARKERS: tuple[str, ...]

    def read(self, evidence: Evidence) -> Iterator[Fact]:
        """Yield the facts this format holds; nothing where it is another format."""
        ...


def form(name: str) -> Format:
    """The format of this name; it is imported when a text asks for it."""
    return cast("Format", importlib.import_module(f"{__name__}.{name}"))


def formats() -> dict[str, Format]:
    """Every format, by the name of its file."""
    return {info.name: form(info.name) for info in pkgutil.iter_modules(__path__)}


def markers() -> tuple[str, ...]:
    """The words that a long log is sieved for: those that do not stand in every line of any log.

    Lines are sieved one by one, so a word that spans the end of one is left out.
    """
    words = {word for row in MARKERS.values() for word in row}
    return tuple(word for word in words if len(word) >= RARE_LENGTH and "\n" not in word)


@dataclass(frozen=True, slots=True)
class Reading:
    """The facts of some evidence, and a word about each reader that broke on it."""

    facts: tuple[Fact, ...]
    notes: tuple[str, ...] = ()


def read(pieces: Iterable[Evidence]) -> Reading:
    """The facts of all evidence; each text may hold several formats at once."""
    facts: list[Fact] = []
    notes: list[str] = []
    for evidence in pieces:
        text = "\n".join(evidence.lines)
        for name, words in MARKERS.items():
            if any(word in text for word in words):
                try:
                    facts.extend(form(name).read(evidence))
                except Exception as error:  # noqa: BLE001 -- one broken reader must not silence the others
                    notes.append(
                        f"the reader {name} broke on {evidence.name} ({error!r}); please report it"
                    )
    return Reading(tuple(facts), tuple(notes))
