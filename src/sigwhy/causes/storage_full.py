"""The disk, the quota or /dev/shm is full.

What happens: a write fails with "No space left on device"; or, worse, a page of a file that was
mapped into memory cannot be stored, and the kernel sends SIGBUS at the first touch. PyTorch
DataLoader workers, NCCL, Ray and multiprocessing pass data through /dev/shm, which Docker makes
only 64 MB big.

How to tell: "Bus error" from a DataLoader worker, "No space left on device", "Disk quota exceeded";
`df -h /dev/shm /tmp .` shows 100 %.

Fix: for /dev/shm in a container `docker run --shm-size=8g` (or `--ipc=host`; in Kubernetes an
emptyDir with medium Memory), fewer workers, or
`torch.multiprocessing.set_sharing_strategy("file_system")`. For a disk or quota: make space, or put
TMPDIR, checkpoints and caches elsewhere.

Folklore: raising the memory limit of the container does not help: /dev/shm has its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Death, Fault, Limit, Notice, Place, Ran, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="storage-full",
    title="the disk, the quota or /dev/shm is full",
    fix="Make space on the disk, the quota or /dev/shm that is named (`df -h` shows which).",
)
SHM = Culprit(kind="limit", name="/dev/shm")  # noqa: S108 -- the place is named, nothing is written
SHARING = re.compile(
    r"nccl|rccl|ncclShm|plasma|shm_|SharedMemory|shared_memory|libshm|gloo::|MapAllocator"
)
TYPED = re.compile(r"SharedMemory|shared_memory|/dev/shm|shm_open")
BIGGER_SHM = (
    "Give the container a bigger /dev/shm (docker run --shm-size=8g, or --ipc=host), "
    "or use fewer DataLoader workers."
)


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a full store, and against it."""
    yield from _said(case)
    yield from _noticed(case)
    for death in case.all(Death):
        if death.signal == "SIGBUS" and death.code == "BUS_ADRALN":
            yield Clue(Weight.EXCLUDES, death, "the address was not aligned; the page was there")
        elif death.signal == "SIGBUS":
            worker = death.command == "DataLoader worker"
            weight = Weight.STRONG if worker else Weight.SLIGHT
            yield Clue(
                weight,
                death,
                "a page of a DataLoader's shared memory could not be provided"
                if worker
                else "a mapped page could not be provided",
                culprit=SHM if worker else None,
                fix=BIGGER_SHM if worker else None,
            )
            if death.code == "BUS_ADRERR":
                yield Clue(Weight.FAIR, death, "BUS_ADRERR: the page of a file was not there")
    yield from _otherwise(case)


def _otherwise(case: Case) -> Iterator[Clue]:
    """What does not depend on one death: where the address was, and how the whole case ended."""
    for place in case.all(Place):
        if place.relation == "beyond-file":
            yield Clue(Weight.EXCLUDES, place, "the file is shorter than what is mapped of it")
    if any(death.signal == "SIGBUS" for death in case.all(Death)):
        yield from _sharing(case)
    else:
        for fault in case.all(Fault):
            yield Clue(Weight.DOUBT, fault, "an address failed, and not by a bus error")


def _sharing(case: Case) -> Iterator[Clue]:
    """A bus error in code whose trade is shared memory."""
    told: list[Ran | Death] = [*case.all(Ran), *case.all(Death)]
    for ran in told:
        if TYPED.search(ran.command or ""):
            says = "what was run makes shared memory"
            yield Clue(Weight.STRONG, ran, says, culprit=SHM, fix=BIGGER_SHM)
    for stack in case.all(Stack):
        for frame in stack.frames[:12]:
            if SHARING.search(f"{frame.function or ''} {frame.library or ''}"):
                yield Clue(
                    Weight.STRONG,
                    stack,
                    "the code that failed shares memory between processes",
                    culprit=SHM,
                    fix=BIGGER_SHM,
                )


def _said(case: Case) -> Iterator[Clue]:
    for limit in case.all(Limit):
        if limit.resource == "shared-memory":
            yield Clue(
                Weight.PROOF, limit, "shared memory could not be had", culprit=SHM, fix=BIGGER_SHM
            )
        elif limit.resource == "disk":
            torn = limit.who == "torch.save"
            yield Clue(
                Weight.STRONG if torn else Weight.PROOF,
                limit,
                "a file could not be written in full" if torn else "there was no space left",
                culprit=Culprit(
                    kind="limit", name=limit.who or "disk space", file=_path(limit.who)
                ),
            )


def _noticed(case: Case) -> Iterator[Clue]:
    for notice in case.all(Notice):
        if notice.topic == "store-full":
            shared = notice.subject == SHM.name
            disk = Culprit(kind="limit", name="disk space", file=notice.subject)
            yield Clue(
                Weight.PROOF,
                notice,
                "there was no room left for a page of the file",
                culprit=SHM if shared else disk,
                fix=BIGGER_SHM if shared else None,
            )
        elif notice.topic == "shared-memory-full":
            yield Clue(
                Weight.STRONG,
                notice,
                "a bus error in a worker that shares memory",
                culprit=SHM,
                fix=BIGGER_SHM,
            )
        elif notice.topic == "shared-memory-maybe":
            weight = Weight.STRONG if _nothing_else(case) else Weight.FAIR
            yield Clue(weight, notice, "the library suspects /dev/shm", culprit=SHM, fix=BIGGER_SHM)
        elif notice.topic == "shared-memory-small":
            yield Clue(Weight.FAIR, notice, "the /dev/shm is small", culprit=SHM, fix=BIGGER_SHM)


def _nothing_else(case: Case) -> bool:
    """Whether no other death was seen that would explain it."""
    return not any(death.signal != "SIGBUS" for death in case.all(Death))


def _path(who: str | None) -> str | None:
    return who if who and who.startswith("/") else None
