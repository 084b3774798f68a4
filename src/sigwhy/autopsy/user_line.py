"""The line of the user's own code that led to a death, also where the thread that died has none.

A thread of a pool runs no Python. A framework may have noted who called the operation that it was
in; else the first thread waits for it, and stands on the line that called.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from sigwhy.model.blame import PYTHON_OWN, is_installed
from sigwhy.model.fact import Frame
from sigwhy.model.incident import PythonFrame

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sigwhy.model.incident import Incident, Thread

LineFrom = Literal["itself", "trace", "main"]

# /home/me/train.py:36 in step()
NOTED = re.compile(r"^(?P<file>.{1,4096}):(?P<line>\d{1,8}) in (?P<function>.{1,400})\(\)$")


def user_line(incident: Incident, thread: Thread) -> tuple[PythonFrame | None, LineFrom]:
    """Your innermost line: of the thread itself, else one that was noted, else of the first thread."""
    waiting = next((t for t in incident.threads if t.tid == incident.pid), None)
    ways: tuple[tuple[LineFrom, Iterable[PythonFrame]], ...] = (
        ("itself", thread.python),
        ("trace", _noted(incident)),
        ("main", waiting.python if waiting else ()),
    )
    for came_from, frames in ways:
        if found := next((f for f in frames if is_own(f)), None):
            return found, came_from
    return None, "itself"


def _noted(incident: Incident) -> Iterator[PythonFrame]:
    """The calls that a framework keeps of the operation that ran."""
    ran = next((o for o in incident.operations if o.trace and o.state != "beside"), None)
    for call in ran.trace if ran else ():
        if found := NOTED.match(call):
            yield PythonFrame(
                function=found["function"], file=found["file"], line=int(found["line"])
            )


def is_own(frame: PythonFrame) -> bool:
    """Whether a call is of the user's own code: not of a package, nor of Python's library."""
    seen = Frame(function=frame.function, file=frame.file, language="python")
    return (
        bool(frame.file)
        and not frame.file.startswith("<")
        and not is_installed(seen)
        and not PYTHON_OWN.search(frame.file)
    )
