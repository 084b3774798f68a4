"""What a search looks at: memory, threads with registers and Python frames, and its limits."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sigwhy.operations.classes import Classes
from sigwhy.operations.keeper import Keeper
from sigwhy.operations.variables import Variables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sigwhy.machine.memory import Memory
    from sigwhy.model.incident import Signal, Thread

SECONDS = 0.4  # of work, while a process is held: ten times what it takes, but for deep recursions
MOST_SECONDS = 5.0  # by the clock, on a busy machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A process that stands still, or its core. The crashed thread is the first one."""

    memory: Memory
    threads: Sequence[Thread]
    pid: int | None = None
    signal: Signal | None = None
    keeper: Keeper = field(default_factory=Keeper)
    until: float = field(default_factory=lambda: time.monotonic() + MOST_SECONDS)
    worked_until: float = field(default_factory=lambda: time.thread_time() + SECONDS)
    notes: list[str] = field(default_factory=list)  # what was seen but not believed, and why
    classes: Classes = field(init=False)
    variables: Variables = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", Classes(self.memory))
        object.__setattr__(self, "variables", Variables(self.memory, self.threads))

    @property
    def is_late(self) -> bool:
        """Whether the time for looking is over."""
        return time.thread_time() > self.worked_until or time.monotonic() > self.until

    @property
    def crashed(self) -> Thread | None:
        """The thread that died, where one did."""
        first = next(iter(self.threads), None)
        return first if first and (first.crashed or self.signal is None) else None
