"""A file that was mapped into memory became shorter while it was in use.

What happens: np.memmap, mmap, safetensors, mmap-loaded models and HDF5 read pages of the file when
they are touched. If another process truncates or rewrites the file in place, the pages behind the
new end are gone, and the kernel sends SIGBUS at the first touch.

How to tell: SIGBUS with BUS_ADRERR, and the dying code reads a memory map. `ls -l` shows a file that
is shorter than the array wants, or newer than the process.

Fix: never write a file in place that others map: write beside it and rename. Readers that must
survive should read the file instead of mapping it (`mmap_mode=None`).

Folklore: a memory map is not a copy, and opening the file does not keep its contents.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Death, Limit, Notice, Place, PythonError, Ran, Stack, Wrote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="file-truncated",
    title="a file that was mapped into memory became shorter",
    fix="Do not rewrite the file in place while it is mapped: write beside it, then rename.",
)
MAPPING = re.compile(r"mem_?map|mmap|safe_?open|load_mmap|use_mmap|MappedFile|MemoryMapped")
SHRINKS = re.compile(
    r"\btruncate\b(?: -s|\()|\.truncate\(|\btruncate -|open\([^)]{1,200}['\"]w[b+]{0,2}['\"]|: ?> ?\S+\.(?:bin|dat|npy|mmap)|\bcp \S+ \S+\.(?:bin|dat|npy|mmap)"
)


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a file that shrank, and against it."""
    yield from _told(case)
    deaths = [death for death in case.all(Death) if death.signal == "SIGBUS"]
    for death in deaths:
        if death.code == "BUS_ADRALN":
            yield Clue(Weight.EXCLUDES, death, "the address was not aligned; the page was there")
        else:
            yield Clue(Weight.FAIR, death, "SIGBUS: a page of a mapped file was not there")
    if deaths:
        if mapped := list(_mapped(case)):
            yield Clue(Weight.FAIR, deaths[0], "SIGBUS is what a map of a cut file gives")
        yield from mapped
        yield from _not_by_cutting(case)


def _told(case: Case) -> Iterator[Clue]:
    for notice in case.all(Notice):
        if notice.topic == "page-past-end":
            yield Clue(Weight.PROOF, notice, "a page past the end of the mapped file was wanted")
    for place in case.all(Place):
        if place.relation == "beyond-file":
            reader = next((c.culprit for c in _mapped(case) if c.culprit), None)
            yield Clue(
                Weight.PROOF,
                place,
                "the file behind the mapping ends before the page that was wanted",
                Culprit(
                    kind="file",
                    name=place.mapping,
                    argument=next((w.call for w in case.all(Wrote) if w.topic == "borrows"), None),
                    file=place.mapping,
                    function=reader.name if reader else None,
                ),
            )
    for error in case.all(PythonError):
        if "mmap length is greater than file size" in error.text:
            yield Clue(Weight.PROOF, error, "the file is shorter than what is to be mapped")


def _not_by_cutting(case: Case) -> Iterator[Clue]:
    for limit in case.all(Limit):
        if limit.resource in {"disk", "shared-memory"}:
            yield Clue(Weight.EXCLUDES, limit, "there was no space left, nobody cut the file")
    for notice in case.all(Notice):
        if notice.topic == "store-full":
            yield Clue(Weight.EXCLUDES, notice, "there was no space left, and the file is whole")
        if notice.topic.startswith("shared-memory"):
            yield Clue(Weight.AGAINST, notice, "it was shared memory, which has no file to cut")


def _mapped(case: Case) -> Iterator[Clue]:
    """Who read the map: what was typed, or a frame."""
    for typed in case.all(Ran):
        if MAPPING.search(typed.command):
            yield Clue(Weight.STRONG, typed, "a memory map of a file was read")
        if SHRINKS.search(typed.command):
            yield Clue(Weight.STRONG, typed, "a file was truncated or rewritten in place")
    for stack in case.all(Stack):
        for frame in stack.frames[:12]:
            if MAPPING.search(f"{frame.function or ''} {frame.file or ''}"):
                yield Clue(
                    Weight.STRONG,
                    stack,
                    "a memory map of a file was read",
                    culprit=Culprit(
                        kind="api", name=frame.function, file=frame.file, line=frame.line
                    ),
                )
