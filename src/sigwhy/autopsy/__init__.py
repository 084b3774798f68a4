"""What a dead process, or one that is held, tells: memory and records to facts.

``incident_file`` and ``core`` say what there is; each topic below says a part of what it means. A
topic yields lines that can be quoted and the facts that they show, so that an Incident is judged
just as a pasted text is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.autopsy import (
    ending,
    entry,
    fault,
    limits,
    memory_use,
    model_file,
    one_bit,
    open_files,
    operation,
    other_python,
    poison,
    settings,
    shared_interpreter,
    stacks,
    twice,
    user_sources,
    waits,
)
from sigwhy.autopsy.told import assembled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.autopsy.told import Told
    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact
    from sigwhy.model.incident import Incident

TOPICS = (
    ending,
    memory_use,
    limits,
    fault,
    poison,
    operation,
    model_file,
    shared_interpreter,
    entry,
    stacks,
    waits,
    open_files,
    other_python,
    settings,
    twice,
    one_bit,
)


@dataclass(frozen=True, slots=True)
class Autopsy:
    """The lines and facts of one Incident, and a word about each topic that broke."""

    evidence: tuple[Evidence, ...]
    facts: tuple[Fact, ...]
    notes: tuple[str, ...] = ()


def autopsy(incident: Incident, *, name: str = "incident") -> Autopsy:
    """Everything that an Incident tells."""
    notes: list[str] = []
    evidence, facts = assembled(name, _told(incident, notes))
    sources = tuple(user_sources.pieces(incident))
    blind = tuple(f"not seen: {what}" for what in incident.blind)
    return Autopsy(
        evidence=(evidence, *(piece for piece, _ in sources)),
        facts=(*facts, *(fact for _, found in sources for fact in found)),
        notes=(*incident.notes, *blind, *notes),
    )


def _told(incident: Incident, notes: list[str]) -> Iterator[Told]:
    for topic in TOPICS:
        try:
            yield from topic.tell(incident)
        except Exception as error:  # noqa: BLE001 -- one broken topic must not silence the others
            name = topic.__name__.rpartition(".")[2]
            notes.append(f"the topic {name} broke on this Incident ({error!r}); please report it")
