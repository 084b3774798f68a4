"""What is handed to the user: the case, what happened, why, who is to blame, what is missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sigwhy.model.case import Case
    from sigwhy.model.cause import Culprit, Finding
    from sigwhy.model.incident import Incident
    from sigwhy.model.mechanism import Mechanism, Seen


@dataclass(frozen=True, slots=True)
class Missing:
    """What would decide the case: a command to type, and what it brings."""

    command: str
    brings: str


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that is known about one crash.

    ``verdict`` is the first finding where enough speaks for it, else None. ``seen`` is the
    mechanism; it can be plain while the cause is not. Where nothing shows it, ``usual`` is what the
    cause of the verdict usually does. ``notes`` are words about the work itself: a rule that broke,
    a part of the evidence that was left out. ``incidents`` are the records of what was seen from
    outside, where there are any.
    """

    case: Case
    seen: Seen | None
    findings: tuple[Finding, ...]
    verdict: Finding | None
    culprit: Culprit | None
    missing: tuple[Missing, ...] = ()
    usual: Mechanism | None = None
    notes: tuple[str, ...] = field(default=())
    incidents: tuple[Incident, ...] = ()
    kept_in: tuple[str | None, ...] = ()  # the file of each Incident, where it has one
