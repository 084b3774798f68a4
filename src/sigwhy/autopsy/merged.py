"""The native and the Python frames of a thread as the one stack that they are.

Where the interpreter evaluates Python code there is a native frame of it, ``_PyEval_EvalFrameDefault``.
Before Python 3.11 each stands for one Python call. Since then one of them evaluates a chain of Python
calls, up to the call for which the interpreter was entered anew (``PythonFrame.entry``). pystack marks
every frame of the older versions as such an entry, so one rule serves all of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sigwhy.model.blame import carries, file_name
from sigwhy.model.fact import Frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sigwhy.model.incident import NativeFrame, PythonFrame, Thread

EVALUATES = re.compile(r"^_PyEval_EvalFrameDefault(?:\b|$)")
EVALUATED = re.compile(r"^PyEval_EvalFrameEx(?:\b|$)")  # until Python 3.5 this one did the work
# What runs Python calls and starts threads, and is on every stack.
MACHINERY = re.compile(
    r"(?:^|/)(?:libpython[23]|python[23]?(?:\.\d+)?t?$|_ctypes\.|libffi\.)|^(?:/usr)?/lib.*/ld-linux"
)
BEGINS = re.compile(
    r"^_*(?:start|libc_start\w*(?:@.*)?|start_thread|clone3?|pthread_wrapper|pythread_wrapper|main)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call on the merged stack.

    ``machinery`` marks the interpreter's own calls and those with which every thread begins: they
    tell nothing. ``carries`` marks whatever only carried what others did. ``module`` is the file
    of a native frame, as the Incident names it.
    """

    frame: Frame
    machinery: bool = False
    carries: bool = False
    inline: bool = False
    locals: Mapping[str, str] = field(default_factory=dict)
    module: str | None = None


def merged(thread: Thread) -> list[Call]:
    """The calls of a thread, innermost first."""
    return list(_merged(thread))


def _merged(thread: Thread) -> Iterator[Call]:
    groups = list(_groups(thread.python))
    native = list(_once(thread.native))
    evaluates = _evaluating(native)
    whole = bool(native) and bool(BEGINS.match(native[-1].function or ""))
    # More evaluations than chains of calls, and no end missing: the innermost has no call as yet.
    without = max(0, sum(evaluates) - len(groups)) if whole else 0
    for frame, stands_for_python in zip(native, evaluates, strict=True):
        if not stands_for_python or not groups:
            yield _native(frame)
        elif without:
            without -= 1
            yield _native(frame)
        else:
            yield from map(_python, groups.pop(0))
    for group in groups:  # the native frames were cut off, or have no names
        yield from map(_python, group)


def _groups(python: Sequence[PythonFrame]) -> Iterator[list[PythonFrame]]:
    group: list[PythonFrame] = []
    for frame in python:
        group.append(frame)
        if frame.entry:
            yield group
            group = []
    if group:
        yield group


def _once(native: Sequence[NativeFrame]) -> Iterator[NativeFrame]:
    """The frames without inlined ones that only repeat the name of the function around them."""
    for n, frame in enumerate(native):
        around = native[n + 1] if n + 1 < len(native) else None
        repeats = around and (around.address, around.function) == (frame.address, frame.function)
        if not (frame.inline and repeats):
            yield frame


def _evaluating(native: Sequence[NativeFrame]) -> list[bool]:
    """Which native frames stand for Python calls; inlined ones repeat the name of their caller."""
    form = EVALUATES if any(EVALUATES.match(f.function or "") for f in native) else EVALUATED
    return [not f.inline and bool(form.match(f.function or "")) for f in native]


def _native(native: NativeFrame) -> Call:
    frame = Frame(
        function=native.function,
        file=native.file,
        line=native.line,
        library=native.library,
        offset=native.offset,
    )
    begins = bool(BEGINS.match(native.function or ""))
    machinery = begins or bool(MACHINERY.search(native.library or ""))
    return Call(
        frame=frame,
        machinery=machinery,
        carries=machinery or carries(frame),
        inline=native.inline,
        module=native.library,
    )


def _python(python: PythonFrame) -> Call:
    frame = Frame(
        function=python.function, file=python.file or None, line=python.line, language="python"
    )
    # What is run by ``python -c`` or typed has no file, and is the user's all the same.
    nowhere = file_name(python.file or "").startswith("<frozen ")
    return Call(frame=frame, carries=nowhere or carries(frame), locals=python.locals)
