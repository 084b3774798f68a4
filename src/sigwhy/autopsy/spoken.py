"""What lay ready in memory to be said, as the text that would have been printed.

It is read by the same readers as standard error, and only where that was not kept or was cut off.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Incident, NativeFrame

NAME = "memory of the process"
TERMINATE = re.compile(
    r"^std::terminate|__terminate\b|__verbose_terminate_handler|__cxa_(?:throw|rethrow)"
)
FATAL = re.compile(
    r"^(?:_?Py_FatalError\w*|_Py_FatalErrorFunc|fatal_error\w*|_Py_FatalErrorFormat)"
)
INNER = 24


def words(incident: Incident) -> str:
    """The lines that standard error does not hold already."""
    printed = incident.stderr
    return "\n".join(line for line in _lines(incident) if line not in printed)


def _lines(incident: Incident) -> Iterator[str]:
    thread = next((t for t in incident.threads if t.crashed), None)
    frames = thread.native[:INNER] if thread else []
    if incident.abort_message:
        yield incident.abort_message
    if incident.exception and any(TERMINATE.match(f.function or "") for f in frames):
        yield f"terminate called after throwing an instance of '{incident.exception}'"
        if incident.exception_says:
            yield f"  what():  {incident.exception_says}"
    if caller := _gave_up(frames):
        yield f"Fatal Python error: {caller}: its words were not kept"
    yield from incident.said


def _gave_up(frames: list[NativeFrame]) -> str | None:
    """The function of the interpreter that gave up: the first one below those which say so."""
    at = next((n for n, f in enumerate(frames) if FATAL.match(f.function or "")), None)
    below = (f.function for f in frames[at or 0 :] if f.function and not FATAL.match(f.function))
    return next(below, None) if at is not None else None
