"""Keeps lines of the user's own sources: those that stand on the stack, and those that take risks.

The lines are read when the process has been let go. Files that were installed are not read, nor
files that are large, no regular files, or changed since the program was started.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.autopsy.redact import redacted
from sigwhy.autopsy.risks import risks
from sigwhy.machine.regular_file import beginning
from sigwhy.model.blame import PYTHON_OWN, is_installed
from sigwhy.model.fact import Frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sigwhy.model.incident import PythonFrame, Thread

MOST_BYTES = 1 << 20
MOST_FILES = 12
MOST_LINES = 400
LONGEST = 400
AROUND = 2


def sources(
    threads: Iterable[Thread], *, root: str, script: str | None = None
) -> dict[str, dict[int, str]]:
    """Lines by path and number; ``root`` is where the process saw its files (``/proc/PID/root``).

    ``script`` is what was started: at the very end of a program no line of it is on a stack.
    """
    found: dict[str, dict[int, str]] = {}
    wanted = _wanted(threads)
    if script:
        wanted.setdefault(script, set())
    for file, lines in wanted.items():
        if len(found) >= MOST_FILES:
            break
        if text := _text(file, root):
            found[file] = dict(_kept(text.splitlines(), lines))
    return found


def _wanted(threads: Iterable[Thread]) -> dict[str, set[int]]:
    """The lines on stacks by file, those of the crashed thread first."""
    wanted: dict[str, set[int]] = {}
    for thread in sorted(threads, key=lambda t: not t.crashed):
        for frame in thread.python:
            if frame.line and _is_own(frame):
                wanted.setdefault(frame.file, set()).add(frame.line)
    return wanted


def _is_own(frame: PythonFrame) -> bool:
    seen = Frame(function=frame.function, file=frame.file, language="python")
    absolute = frame.file.startswith("/")
    return absolute and not is_installed(seen) and not PYTHON_OWN.search(frame.file)


def _text(file: str, root: str) -> str:
    """What stands in the file; nothing where it is too long to be a source."""
    for path in (root + file, file):
        found = beginning(path, MOST_BYTES + 1)
        if 0 < len(found) <= MOST_BYTES:
            return found.decode("utf-8", "replace")
    return ""


def _kept(lines: list[str], wanted: set[int]) -> Iterator[tuple[int, str]]:
    near = {n for line in wanted for n in range(line - AROUND, line + AROUND + 1)}
    left = MOST_LINES
    for n, line in enumerate(lines, 1):
        if left and (n in near or risks(line)):
            left -= 1
            yield n, redacted(line[:LONGEST])
