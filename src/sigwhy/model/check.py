"""What a check is: something that looks at a subject before it ever runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.model.problem import Problem

if TYPE_CHECKING:
    from sigwhy.model.problem import Area, Confidence, Edit, Severity

# The first word of an id says what the check looks at.
KINDS = {
    "py": "Python sources",
    "cc": "C++ sources",
    "so": "shared objects",
    "env": "Python environments",
    "tflite": "TensorFlow Lite models",
    "model": "saved models, weights and checkpoints",
    "host": "this machine",
}


@dataclass(frozen=True, slots=True)
class Check:
    """A mistake that ends in a crash, named once and for all by ``id``.

    ``title`` says the mistake; ``severity`` is the usual one. ``words`` are those without which it cannot
    be in a text: where none stands, nobody looks.
    """

    id: str
    title: str
    fix: str
    severity: Severity = "error"
    sources: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """What it looks at, as the first word of the id."""
        return self.id.split("-", 1)[0]

    def problem(
        self,
        says: str,
        *,
        severity: Severity | None = None,
        fix: str | None = None,
        place: str | None = None,
        confidence: Confidence = "certain",
    ) -> Problem:
        """This mistake, seen in a place that has a name and no lines."""
        return Problem(
            id=self.id,
            severity=severity or self.severity,
            says=says,
            fix=fix or self.fix,
            place=place,
            confidence=confidence,
        )

    def problem_in(
        self,
        area: Area,
        says: str,
        *,
        severity: Severity | None = None,
        fix: str | None = None,
        confidence: Confidence = "certain",
        edit: Edit | None = None,
    ) -> Problem:
        """This mistake, seen in a piece of a text."""
        return Problem(
            id=self.id,
            severity=severity or self.severity,
            says=says,
            fix=fix or self.fix,
            area=area,
            confidence=confidence,
            edit=edit,
        )
