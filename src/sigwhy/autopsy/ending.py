"""How it ended: the signal, who sent it, and what a handler made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.autopsy.told import NO_SPAN, Told
from sigwhy.model.fact import Caught, Death, Exit, Sent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Incident, Signal


def tell(incident: Incident) -> Iterator[Told]:
    """The signal first, then who sent it, then what came of it."""
    command = " ".join(incident.command)
    who = f"process {incident.pid} ({command})" if command else f"process {incident.pid}"
    if signal := incident.signal:
        yield Told.of(
            f"{who} got {_named(signal)} in thread {incident.tid}",
            Death(
                span=NO_SPAN,
                signal=signal.name,
                code=signal.code,
                pid=incident.pid,
                tid=incident.tid,
                command=command or None,
            ),
            words=signal.name,
        )
        if signal.code_number <= 0 and signal.sender_pid is not None:
            yield _sent(incident, signal)
        if incident.masked and incident.exit_status is not None:
            yield Told.of(
                f"a handler of the program caught it and made it exit status {incident.exit_status}",
                Caught(
                    span=NO_SPAN, signal=signal.name, then="exited", status=incident.exit_status
                ),
            )
    elif incident.exit_status is not None and incident.exit_status >= 0:
        yield Told.of(
            f"{who} ended with exit status {incident.exit_status}",
            Exit(span=NO_SPAN, status=incident.exit_status, command=command or None),
        )


def _named(signal: Signal) -> str:
    code = f" ({signal.code})" if signal.code else ""
    where = f" at address {signal.address:#x}" if signal.address is not None else ""
    return f"{signal.name}{code}{where}"


def _sent(incident: Incident, signal: Signal) -> Told:
    relation = _relation(incident, signal)
    name = f" ({signal.sender_name})" if signal.sender_name else ""
    by = "the process itself" if relation == "self" else f"process {signal.sender_pid}{name}"
    return Told.of(
        f"{signal.name} was sent by {by}",
        Sent(
            span=NO_SPAN,
            signal=signal.name,
            by=signal.sender_name,
            pid=signal.sender_pid,
            relation=relation,
        ),
    )


def _relation(incident: Incident, signal: Signal) -> str:
    sender = signal.sender_pid
    if sender == incident.pid:
        return "self"
    if sender == 0:
        return "kernel"
    parents = {process.pid: process.parent for process in incident.processes}
    if parents.get(incident.pid or 0) == sender:
        return "parent"
    if parents.get(sender or 0) == incident.pid:
        return "child"
    return "relative" if sender in parents else "outside"
