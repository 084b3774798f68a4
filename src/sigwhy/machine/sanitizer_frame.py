"""A frame as all sanitizers print it, and the runs of numbered frames that are one stack.

Looks like::

    #0 0x55d0c1f2 in blur::BlurOp::Compute(blur::Context*) /home/ann/blur/blur_op.cc:15:9
    #1 0x7fb5f083  (/lib/x86_64-linux-gnu/libffi.so.8+0x6f79) (BuildId: 9fd0)
    #2 Cache::Add(int) cache.cc:9 (train+0x2384)
    #3 <null> <null> (libstdc++.so.6+0xd44a2)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.model.fact import Frame

if TYPE_CHECKING:
    from collections.abc import Sequence

NUMBERED = re.compile(r"(?:^|[\s|>])#(\d{1,4}) +(\S.*)$")
ADDRESS = re.compile(r"^0x[0-9a-fA-F]{1,16}\b *(?:in\b *)?")
BUILD = re.compile(r" *\(BuildId: [^()\s]*\) *$")
MODULE = re.compile(r"\(([^()\s][^()]{0,400}?)(?::[a-z][a-z0-9_]{2,9})?\+0x([0-9a-fA-F]{1,16})\)$")
ROOTED = re.compile(r"(?:^|\s)(?=/|[A-Za-z]:[\\/]|\.\.?/)")
SOURCE = re.compile(
    r"(?:\.(?:c|cc|cpp|cxx|c\+\+|cu|cuh|h|hh|hpp|hxx|inc|inl|tcc|mm?|pyx|rs|S|s|f\d*|ipp)(?::\d+){0,2}|:\d+)$"
)
LINE = re.compile(r":(\d{1,7})(?::\d{1,7})?$")
WITHIN = re.compile(r"\+0x[0-9a-fA-F]+$")
# gdb: "in run () from libfast.so", with a blank; the names of sanitizers have none: "in run() fast.cc:3"
OF_A_DEBUGGER = re.compile(r"(?:^|\s)(?:at|from)$|\s\(\)\s*$")
NOTHING = "<null>"
FARTHEST = 4  # lines of somebody else that may stand inside a stack


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Frames that follow each other, and the lines on which they stand."""

    first: int
    last: int
    frames: tuple[Frame, ...]


def numbered(line: str) -> tuple[int, Frame] | None:
    """The frame on a line with its number, if the line is one."""
    found = NUMBERED.search(line) if "#" in line else None
    read = frame(found[2]) if found else None
    return (int(found[1]), read) if found and read else None


def frame(text: str) -> Frame | None:
    """The frame in what stands behind its number."""
    rest = BUILD.sub("", ADDRESS.sub("", text.rstrip(), count=1))
    module = MODULE.search(rest)
    if module:
        rest = rest[: module.start()]
    function, path = _split(rest.strip())
    if OF_A_DEBUGGER.search(function) and not module:
        return None
    place = LINE.search(path)
    read = Frame(
        function=WITHIN.sub("", function).replace(NOTHING, "").strip() or None,
        file=(path[: place.start()] if place else path) or None,
        line=int(place[1]) if place else None,
        library=module[1] if module else None,
        offset=int(module[2], 16) if module else None,
    )
    return read if read.file or read.library or (read.function and text[:2] == "0x") else None


def _split(text: str) -> tuple[str, str]:
    """Function and path: a function may hold spaces, and so may a path that begins at a root."""
    if rooted := ROOTED.search(text):
        return text[: rooted.start()].strip(), text[rooted.end() :]
    head, _, last = text.rpartition(" ")
    if last == NOTHING:
        return head, ""
    return (head, last) if SOURCE.search(last) else (text, "")


def runs(lines: Sequence[str]) -> dict[int, Run]:
    """Every run of frames, by its first line; a number that does not grow begins a new run."""
    rows: list[list[tuple[int, Frame]]] = []
    last = last_number = -1
    for n, line in enumerate(lines):
        if not (read := numbered(line)):
            continue
        number, one = read
        if not rows or number <= last_number or n - last > FARTHEST:
            rows.append([])
        rows[-1].append((n, one))
        last, last_number = n, number
    return {
        row[0][0]: Run(first=row[0][0], last=row[-1][0], frames=tuple(f for _, f in row))
        for row in rows
    }
