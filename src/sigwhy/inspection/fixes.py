"""Makes the edits that are certain."""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sigwhy.model.problem import Edit, Problem


def fixed(problems: Iterable[Problem]) -> int:
    """Make every certain edit, each file whole or not at all, and say how many were made."""
    edits: defaultdict[str, list[Edit]] = defaultdict(list)
    for problem in problems:
        if problem.edit and problem.edit.certain:
            edits[problem.path].append(problem.edit)
    return sum(_in_file(Path(path), some) for path, some in edits.items())


def edited(text: str, edits: Sequence[Edit]) -> tuple[str, int]:
    """A text with its edits made, the last first; of two that overlap only one is made."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    pieces = sorted(
        {
            (
                starts[e.area.line - 1] + e.area.column - 1,
                starts[e.area.end_line - 1] + e.area.end_column - 1,
                e.text,
            )
            for e in edits
        },
        reverse=True,
    )
    untouched, made = len(text), 0
    for start, end, new in pieces:
        if start <= end <= untouched:
            text = text[:start] + new + text[end:]
            untouched, made = start, made + 1
    return text, made


def _in_file(path: Path, edits: Sequence[Edit]) -> int:
    try:
        data = path.read_bytes()
        text = data.decode("utf-8")
        if "\r" in text:  # columns were counted with plain line ends
            return 0
        new, made = edited(text, edits)
        _swap(path.resolve(), new.encode("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be changed: {error}") from None
    return made


def _swap(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:80]}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(name).chmod(path.stat().st_mode & 0o7777)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)
