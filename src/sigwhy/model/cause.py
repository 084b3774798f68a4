"""What a root cause is, and what speaks for it or against it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sigwhy.model.fact import Fact

Kind = Literal["op", "api", "library", "file", "argument", "limit", "instruction", "package"]


class Weight(IntEnum):
    """How much one clue is worth, in decibans: +10 makes the cause ten times likelier."""

    PROOF = 40
    STRONG = 23
    FAIR = 10
    SLIGHT = 5
    DOUBT = -5
    AGAINST = -10
    EXCLUDES = -40


@dataclass(frozen=True, slots=True)
class Cause:
    """A thing that kills processes, named once and for all by ``id``.

    ``title`` reads on after "because": "a library was built against other headers". ``usually``
    says what the machine does when this cause ends in a signal and nothing tells more: signal to
    id of the mechanism.
    """

    id: str
    title: str
    fix: str
    sources: tuple[str, ...] = ()
    usually: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Culprit:
    """What is to blame, as exactly as the evidence allows."""

    kind: Kind
    name: str | None = None
    argument: str | None = None
    value: str | None = None
    node: str | None = None
    library: str | None = None
    file: str | None = None
    line: int | None = None
    function: str | None = None


@dataclass(frozen=True, slots=True)
class Clue:
    """One fact, and what it says about one cause.

    ``culprit`` and ``fix`` say it more exactly where this fact allows that.
    """

    weight: Weight
    fact: Fact
    says: str
    culprit: Culprit | None = None
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause with everything that was said for it and against it."""

    cause: Cause
    clues: tuple[Clue, ...]
    probability: float

    @property
    def best(self) -> Clue | None:
        """The clue that weighs most for it."""
        return max((c for c in self.clues if c.weight > 0), key=lambda c: c.weight, default=None)

    @property
    def fix(self) -> str:
        """What to do: the words of the heaviest clue that has some, else the cause's."""
        for clue in sorted(self.clues, key=lambda c: -c.weight):
            if clue.weight > 0 and clue.fix:
                return clue.fix
        return self.cause.fix
