"""What the machine did, as opposed to why it came to that."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from sigwhy.model.fact import Fact


class Sure(IntEnum):
    """How plainly a fact shows a mechanism."""

    NO = 0
    BARE = 1  # a signal name, and nothing else
    READ = 2  # an address, an instruction, a shape of the stack
    SAID = 3  # the program or a tool said it in words
    PROVED = 4  # a checker that watched every access


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """A way for a process to die, and the facts that show it."""

    id: str
    title: str
    shown_by: Callable[[Fact], Sure]


@dataclass(frozen=True, slots=True)
class Seen:
    """The mechanism of a case, how sure that is, and the fact that showed it."""

    mechanism: Mechanism
    sure: Sure
    fact: Fact
