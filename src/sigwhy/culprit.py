"""Who is to blame, where no clue says it: the first frame of the dead thread that tells something.

``model/blame.py`` holds the tables: which frames only carry a fault, and whose code a frame is.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from sigwhy.model import accused
from sigwhy.model.blame import (
    carries,
    crashed,
    file_name,
    is_installed,
    owner,
    package_of,
    short_path,
    telling,
)
from sigwhy.model.cause import Culprit
from sigwhy.model.fact import Check, Entered, Guilty, PythonError, Stack
from sigwhy.model.named_op import best, blamed
from sigwhy.model.typed import imported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.cause import Finding
    from sigwhy.model.fact import Frame, Op

# Causes that lie in the operation or in what it was given, not in who called it.
OF_OPERATIONS = frozenset(
    {"op-argument", "op-bug", "custom-op-bug", "malformed-input", "memory-demand"}
)
CHECKED_IN = re.compile(r"\.(?:cc|h|cpp|hpp|cu)$")
FEW = 6  # frames from the top among which the user's own code is looked for first


def culprit(case: Case, verdict: Finding | None) -> Culprit | None:
    """The culprit that the clues of the verdict name, else what the evidence names by itself."""
    named = _named(verdict) if verdict else None
    found = _in_memory(case, named or _of_evidence(case), verdict)
    entered = case.first(Entered)
    if found and entered:
        return _filled(found, entered)
    return _called(found, best(case)) if found and found.kind == "op" else found


def _called(found: Culprit, op: Op | None) -> Culprit:
    """The same operation, with the user's line that called it."""
    if op is None or op.op != found.name or found.file:
        return found
    return replace(found, file=op.file, line=op.line, function=found.function or op.function)


def _named(verdict: Finding) -> Culprit | None:
    return next((c.culprit for c in verdict.clues if c.weight > 0 and c.culprit), None)


def _in_memory(case: Case, found: Culprit | None, verdict: Finding | None) -> Culprit | None:
    """The operation that memory shows instead of the call that led there, where that is to blame."""
    if found is None or (verdict and verdict.cause.id not in OF_OPERATIONS):
        return found
    found, op = _with_argument(case, found), best(case)
    if op is None or not op.from_memory or op.is_hint or op.state == "beside":
        return found
    if found.kind == "op" and case.first(Entered) and CHECKED_IN.search(found.file or ""):
        return replace(found, file=None, line=None, function=None)  # the check's, not yours
    if found.kind != "api":
        return found
    return replace(found, kind=accused.kind_of(op), name=op.op, node=op.node)


def _with_argument(case: Case, found: Culprit) -> Culprit:
    """The same with the argument that a rule suspects, where no clue names one."""
    charged = list(case.all(Guilty))
    if found.argument or not charged or found.kind not in {"op", "api"}:
        return found
    suspect = accused.culprit(case, charged)
    return replace(found, argument=suspect.argument, value=found.value or suspect.value)


def _filled(found: Culprit, entered: Entered) -> Culprit:
    """The same culprit, with the library and the user's line where the clue left them open."""
    at_line = (found.file, found.line) if found.file else (entered.file, entered.line)
    function = entered.died_function
    if found.kind == "op" and at_line == (entered.file, entered.line):
        function = entered.of_line or function
    return replace(
        found,
        function=found.function or function,
        library=found.library or entered.died_library,
        argument=found.argument or (None if found.kind == "op" else _call(found, entered)),
        file=at_line[0],
        line=at_line[1],
    )


def _call(found: Culprit, entered: Entered) -> str | None:
    """The call as it is written, unless it says no more than the name."""
    written = entered.written or ""
    return written if written and not written.endswith(found.name or "") else None


def _of_evidence(case: Case) -> Culprit | None:
    if charged := list(case.all(Guilty)):
        return accused.culprit(case, charged)
    if (op := best(case)) and (op.state != "beside" or op.is_hint):
        return blamed(op)
    return next(_suspects(case), None)


def tells(frame: Frame) -> bool:
    """Whether a frame could be to blame, and did not just carry what others did."""
    return not carries(frame)


def _suspects(case: Case) -> Iterator[Culprit]:
    """Whom the evidence names, the likeliest first."""
    for stack in crashed(case.all(Stack), "native"):
        if frame := _to_blame([f for f in stack.frames if f.language == "native"]):
            yield _native(frame)
    for stack in crashed(case.all(Stack), "python"):
        if found := _python([f for f in stack.frames if f.language == "python"]):
            yield found
    said: list[Check | PythonError] = [*case.all(Check), *case.all(PythonError)]
    yield from (_said(fact) for fact in said if fact.function or fact.file)
    for module, _ in reversed(imported(case)):
        yield Culprit(kind="package", name=module)
    for stack in crashed(case.all(Stack), "native"):
        yield from (_native(frame) for frame in stack.frames if frame.function or frame.library)


def _said(said: Check | PythonError) -> Culprit:
    return Culprit(
        kind="api" if said.function else "file",
        name=said.function or said.file,
        function=said.function,
        file=said.file,
        line=said.line,
    )


def _to_blame(frames: list[Frame]) -> Frame | None:
    """The user's own line near the top, else the innermost frame that tells something."""
    few = list(telling(frames))[:FEW]
    own = (f for f in few if f.file and f.line and owner(f).whose == "own")
    return next(own, None) or next((f for f in few if f.function or f.library), None)


def _native(frame: Frame) -> Culprit:
    whose = owner(frame)
    library = short_path(frame.library) if frame.library else None
    return Culprit(
        kind="api" if frame.function else "library",
        name=frame.function or whose.name or library,
        function=frame.function,
        library=library or (whose.name if whose.whose == "package" else None),
        file=frame.file,
        line=frame.line,
    )


def _python(frames: list[Frame]) -> Culprit | None:
    """The user's line, and what of an installed package it called there."""
    told = list(telling(frames))
    if not told:
        return None
    n = next((n for n, frame in enumerate(told) if not is_installed(frame)), None)
    if n is None:
        return _installed(told[0])
    mine, called = told[n], told[n - 1] if n else None
    return Culprit(
        kind="api" if called else "file",
        name=called.function if called else mine.function or file_name(mine.file or ""),
        function=called.function if called else mine.function,
        library=package_of(called.file or "") if called else None,
        file=mine.file,
        line=mine.line,
    )


def _installed(frame: Frame) -> Culprit:
    return Culprit(
        kind="api",
        name=frame.function,
        function=frame.function,
        library=package_of(frame.file or ""),
        file=short_path(frame.file) if frame.file else None,
        line=frame.line,
    )
