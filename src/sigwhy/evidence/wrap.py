"""Joins again the lines that a terminal or a mail program broke at a fixed width.

Looks like::

    2023-09-14 08:17:07.669125: F tensorflow/core/framework/tensor_shape.cc:186] Non
    -OK-status: InitDims(dim_sizes) status: INVALID_ARGUMENT
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Told = tuple[int, str, str]

NARROWEST = 60
MOST_FULL = 2000
USUAL = {72, 76, 78, 79, 80, 100, 120, 132, 160}
# A rule of one character is as wide as its author liked: "====", "- - - -".
RULE = re.compile(r"^(.)\1*$|^(?:\*\*\* ?)+$")
# What begins a record does not go on with the line before it.
BEGINS = re.compile(
    r"\s*#\d|[#*-] [A-Z]|\s+File \"|Traceback |Fatal |Current thread|Thread |Abort|Segmentation|Killed|Bus error"
    r"|Illegal|zsh:|bash:|==\d+==|\*\*\*|\[|\s+@ |\d{4}-\d\d-\d\d|[EWF]\d{4} |\w+Error:|SUMMARY"
)


def joined(rows: Sequence[Told]) -> Iterator[tuple[tuple[int, int], str, str]]:
    """The rows as ((first, last), raw, line), where lines broken at the same width are one."""
    width = _width([line for _, _, line in rows])
    n = 0
    while n < len(rows):
        number, raw, line = rows[n]
        last = number
        while width and len(rows[n][2]) == width and n + 1 < len(rows) and rows[n + 1][2]:
            if RULE.match(rows[n][2]):
                break
            n += 1
            last, more, rest = rows[n]
            raw, line = f"{raw}\n{more}", line + rest
        yield (number, last), raw, line
        n += 1


def _width(lines: Sequence[str]) -> int | None:
    """The width at which lines were broken, where that can be told from their lengths."""
    width = max((len(line) for line in lines), default=0)
    full = [n for n, line in enumerate(lines) if len(line) == width and not RULE.match(line)]
    if width < NARROWEST or not full or len(full) > MOST_FULL:
        return None
    pairs = [(lines[n], lines[n + 1]) for n in full if n + 1 < len(lines) and lines[n + 1]]
    going_on = sum(_goes_on(line, rest) for line, rest in pairs)
    enough = 1 if width in USUAL else 3
    return width if going_on >= enough and 2 * going_on > len(pairs) else None


def _goes_on(line: str, rest: str) -> bool:
    """Whether a line can be the rest of the one before it, and not a record of its own."""
    return not BEGINS.match(rest) and rest[:8] != line[:8]
