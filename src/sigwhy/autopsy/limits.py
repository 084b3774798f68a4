"""Limits that were met or were near, and stores that were full, from the numbers at the end.

A number alone is no proof that it was met. Where the signal or the kernel's count says it, it is a
``Limit``; where a limit only stood close to what was used, it is told as a ``Notice``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.autopsy.told import NO_SPAN, Told
from sigwhy.model.fact import Limit, Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Incident, Mapping

MIB = 1 << 20
NEARLY = 0.9  # of a limit
NEAR_BYTES = 96 * MIB
FULL_BYTES = 64 * 1024  # a store that has no more than this left is full
BY_SIGNAL = {
    "SIGXCPU": ("cpu time", "cpu-time", "seconds"),
    "SIGXFSZ": ("file size", "file-size", "bytes"),
}
# A limit of memory, the resource, and what the user types to see it.
OF_MEMORY = (
    ("address space", "address-space", "RLIMIT_AS"),
    ("data size", "data-segment", "RLIMIT_DATA"),
)
REFUSED = (
    "MemoryError", "bad_alloc", "Cannot allocate memory", "cannot allocate memory", "out of memory", "Out of memory",
    "failed to map segment", "emory allocation still failed", "emory allocation failed", "ailed to allocate", "unable to allocate", "Unable to allocate", "could not allocate", "ENOMEM",
)  # fmt: skip
SHM = "/dev/shm"  # noqa: S108 -- the place is named to the user, nothing is written there
MEMORY_FAULTS = frozenset({"SIGSEGV", "SIGBUS", "SIGABRT"})


def tell(incident: Incident) -> Iterator[Told]:
    """By the signal, by the kernel's counts, by the numbers."""
    yield from _by_signal(incident)
    yield from _threads(incident)
    yield from _memory(incident)
    yield from _store(incident)


def _number(incident: Incident, name: str) -> int | None:
    word = incident.limits.get(name, "")
    return int(word) if word.isdigit() else None


def _by_signal(incident: Incident) -> Iterator[Told]:
    signal = incident.signal.name if incident.signal else ""
    if signal in BY_SIGNAL:
        name, resource, unit = BY_SIGNAL[signal]
        if (limit := _number(incident, name)) is not None:
            line = f"the limit of {name} is {limit} {unit}"
            yield Told.of(line, Limit(span=NO_SPAN, resource=resource, limit=limit))
    hard = _number(incident, "cpu time, hard")
    used = incident.memory.processor_seconds if incident.memory else None
    if signal == "SIGKILL" and hard and used is not None and used >= NEARLY * hard - 1:
        line = f"it had used {used:.0f} s of processor time when last asked, the hard limit is {hard} s"
        yield Told.of(line, Limit(span=NO_SPAN, resource="cpu-time", limit=hard))


def _threads(incident: Incident) -> Iterator[Told]:
    """The kernel counts each thread and process that the control group refused."""
    memory = incident.memory
    if memory and memory.refused_threads:
        most = memory.most_threads
        what = f"{most} threads and processes" if most is not None else "threads and processes"
        line = f"the control group {memory.group or ''} allows {what} (pids.max) and refused {memory.refused_threads} meanwhile (pids.events)"
        yield Told.of(
            line,
            Limit(span=NO_SPAN, resource="threads", limit=most, who="pids.max"),
            words="pids.max",
        )


def _memory(incident: Incident) -> Iterator[Told]:
    """A limit of address space: met where an allocation failed, near where little was left."""
    for name, resource, who in OF_MEMORY:
        limit = _number(incident, name)
        if limit is None:
            continue
        used = _used(incident, name)
        refused = _refusal(incident)
        told = (
            f"{used / MIB:.0f} MiB of them were used"
            if used
            else "it is not known how much was used"
        )
        line = f"the limit of {name} is {limit / MIB:.0f} MiB ({who}); {told}"
        if refused:
            line += f", and an allocation failed ({refused})"
        elif not (_is_memory_fault(incident) and used and _is_near(used, limit)):
            continue
        yield Told.of(
            line,
            Notice(
                span=NO_SPAN,
                topic="memory-limit-met",
                text=f"{resource} {limit}",
                subject=who,
                mechanism=None if incident.signal else "resource-limit",
            ),
            words=who,
        )


def _refusal(incident: Incident) -> str | None:
    if "bad_alloc" in (incident.exception or ""):
        return incident.exception
    return next((words for words in REFUSED if words in incident.stderr), None)


def _is_memory_fault(incident: Incident) -> bool:
    return incident.signal is not None and incident.signal.name in MEMORY_FAULTS


def _is_near(used: int, limit: int) -> bool:
    return used >= min(NEARLY * limit, limit - NEAR_BYTES)


def _used(incident: Incident, name: str) -> int:
    """What the limit counts: all mappings, or private ones that may be written."""
    if incident.mappings:
        return sum(
            m.end - m.start for m in incident.mappings if name == "address space" or _is_data(m)
        )
    samples = incident.memory.samples if incident.memory else []
    return samples[-1].virtual_bytes if samples and name == "address space" else 0


def _is_data(mapping: Mapping) -> bool:
    return mapping.rights[1:2] == "w" and mapping.rights[3:4] == "p" and mapping.path != "[stack]"


def _store(incident: Incident) -> Iterator[Told]:
    """SIGBUS within a file that is long enough: the page could not be stored."""
    signal = incident.signal
    if signal is None or signal.name != "SIGBUS" or signal.address is None:
        return
    mapping = next((m for m in incident.mappings if m.start <= signal.address < m.end), None)
    if mapping is None:
        return
    size, free = incident.sizes.get(mapping.path), incident.sizes.get("free:" + mapping.path)
    inside = mapping.offset + signal.address - mapping.start
    if size is None or free is None or inside >= size or free > FULL_BYTES:
        return
    whole = incident.sizes.get("whole:" + mapping.path)
    shared = mapping.path.startswith(SHM)
    where = SHM if shared else f"the file system of {mapping.path}"
    of = f" of {whole / MIB:.0f} MiB" if whole else ""
    words = f"{where} is full"
    yield Told.of(
        f"{words} ({free} bytes{of} are free): no page could be had for {mapping.path}",
        Notice(
            span=NO_SPAN,
            topic="store-full",
            text=words,
            subject=SHM if shared else mapping.path,
            mechanism="bus-error",
        ),
        words=words,
    )
