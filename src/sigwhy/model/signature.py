"""A short name for "the same crash again": equal where mechanism, cause, culprit and stack are.

Addresses, line numbers, versions in file names and process ids change from run to run and from
release to release, so they do not count.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.report import Report

FRAMES = 5
NUMBERED = re.compile(r"[-.]?\d[\d.]*")  # libfoo-1.2.so.3 and libfoo.so are the same library


def signature(report: Report) -> str:
    """Sixteen hexadecimal digits."""
    told = "\n".join(part or "" for part in _parts(report))
    return hashlib.sha256(told.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _parts(report: Report) -> Iterator[str | None]:
    yield report.seen.mechanism.id if report.seen else None
    yield report.verdict.cause.id if report.verdict else None
    if culprit := report.culprit:
        yield from (culprit.kind, culprit.name, culprit.argument, culprit.function)
        yield from (_file(culprit.library), _file(culprit.file))
    stack = next((s for s in report.case.all(Stack) if s.crashed and s.role == "fault"), None)
    for frame in stack.frames[:FRAMES] if stack else ():
        yield frame.function or _file(frame.library or frame.file)


def _file(path: str | None) -> str:
    return NUMBERED.sub("", re.split(r"[/\\]", path)[-1]) if path else ""
