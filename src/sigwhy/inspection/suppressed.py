"""Comments that say: not here. ``# sigwhy: ignore[py-fork-with-tensorflow]``, or with ``//`` in C++."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sigwhy.model.problem import Problem

MARK = "sigwhy: ignore["
# A comment behind the line: "sigwhy: ignore[py-fork-with-tensorflow, cc_input_index]".
COMMENT = re.compile(r"(?:#|//)\s{0,8}sigwhy: ignore\[([\w\-, ]{1,400})\]")


def kept(problems: Iterable[Problem], text: str) -> Iterator[Problem]:
    """The problems that no comment on one of their lines takes away."""
    if MARK not in text:
        yield from problems
        return
    lines = text.split("\n")
    for problem in problems:
        if problem.id not in _ignored(problem, lines):
            yield problem


def _ignored(problem: Problem, lines: Sequence[str]) -> set[str]:
    if not problem.area:
        return set()
    return {
        word.strip().replace("_", "-")
        for line in lines[problem.area.line - 1 : problem.area.end_line]
        for found in COMMENT.finditer(line)
        for word in found[1].split(",")
    }
