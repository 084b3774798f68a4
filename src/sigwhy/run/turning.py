"""Tells a thread that turns in a loop from one that computes: where it is, in many short looks."""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sigwhy.model.incident import LOOP_BYTES, LOOP_STACKS, Turning
from sigwhy.run import ptrace

if TYPE_CHECKING:
    from collections.abc import Callable

LOOKS, LONG_LOOKS = 12, 24
BETWEEN, LONG_BETWEEN = 0.01, 0.05
PATIENCE = 0.3  # seconds: on a busy machine a thread must be on a CPU before it can stop
BUDGET, LONG_BUDGET = 1.0, 2.0
AGAIN = 3
STOPPED = 0x7F


@dataclass(slots=True)
class _Looks:
    """What the looks found: instruction and stack pointer, and all registers."""

    places: list[tuple[int, int]] = field(default_factory=list)
    states: Counter[bytes] = field(default_factory=Counter)

    def told(self, tid: int, share: float) -> Turning:
        at = [place for place, _ in self.places]
        return Turning(
            tid=tid,
            looks=len(self.places),
            span_bytes=max(at) - min(at),
            stacks=len({stack for _, stack in self.places}),
            share=round(share, 2),
            repeats=max(self.states.values()) >= AGAIN,
        )


def turning(tid: int, share: float, odd: Callable[[int, int], None]) -> Turning | None:
    """Where a seized thread that runs was found; it stands for some microseconds each time.

    One that is always at the same place with other registers may do one long step of real work: it
    is looked at for longer. ``odd`` is told of a stop that was none of ours, and must answer it.
    """
    looks = _Looks()
    _look(tid, looks, (LOOKS, BETWEEN, BUDGET), odd)
    if not looks.places:
        return None
    told = looks.told(tid, share)
    narrow = told.span_bytes <= LOOP_BYTES and told.stacks <= LOOP_STACKS
    if narrow and not told.repeats:
        _look(tid, looks, (LONG_LOOKS, LONG_BETWEEN, LONG_BUDGET), odd)
        told = looks.told(tid, share)
    return told


def _look(
    tid: int, looks: _Looks, plan: tuple[int, float, float], odd: Callable[[int, int], None]
) -> None:
    count, between, budget = plan
    until = time.monotonic() + budget
    while len(looks.places) < count and time.monotonic() < until:
        status = _stop(tid)
        if status is None:
            return
        if status >> 16 != ptrace.EVENT_STOP or status & 0xFF != STOPPED:
            odd(tid, status)
            return
        with contextlib.suppress(OSError):
            raw = ptrace.register_bytes(tid)
            named = ptrace.registers(raw)
            looks.places.append((named["rip"], named["rsp"]))
            looks.states[raw] += 1
        ptrace.go_on(tid)
        time.sleep(between)


def _stop(tid: int) -> int | None:
    """The wait status of a thread that was asked to stop; None where it does not in time."""
    try:
        ptrace.interrupt(tid)
    except OSError:
        return None
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            found, status = os.waitpid(tid, ptrace.ALL_THREADS | os.WNOHANG)
        except ChildProcessError:
            return None
        if found:
            return status
        time.sleep(0.0002)
    return None
