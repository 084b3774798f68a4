"""The stacks of all threads, native and Python, the crashed thread first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.autopsy.told import NO_SPAN, Told
from sigwhy.model.fact import Frame, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Incident, PythonFrame, Thread

MOST_FRAMES = 300
MOST_OF_OTHERS = 40
OUTERMOST = 10


def tell(incident: Incident) -> Iterator[Told]:
    """Every thread that has frames."""
    for thread in sorted(incident.threads, key=lambda t: not t.crashed):
        most = MOST_FRAMES if thread.crashed else MOST_OF_OTHERS
        if thread.native:
            yield _stack(incident, thread, [f.as_frame() for f in thread.native[:most]])
        if thread.python:
            yield _stack(incident, thread, [_python(f) for f in _both_ends(thread.python, most)])


def _stack(incident: Incident, thread: Thread, frames: list[Frame]) -> Told:
    language = frames[0].language
    killed = incident.signal is not None and incident.signal.name == "SIGKILL"
    died = thread.crashed and incident.signal is not None and not killed  # nobody sees a SIGKILL
    what = "died here" if died else "stood here"
    head = f"thread {thread.tid} ({thread.name}) {what}, {language} frames, innermost first:"
    fact = Stack(
        span=NO_SPAN,
        thread=str(thread.tid),
        crashed=thread.crashed,
        frames=tuple(frames),
        language=language,
        role="fault" if died or thread.crashed else "waiting",
    )
    return Told((head, *(_line(n, frame) for n, frame in enumerate(frames))), fact)


def _both_ends(frames: list[PythonFrame], most: int) -> list[PythonFrame]:
    return frames if len(frames) <= most else [*frames[: most - OUTERMOST], *frames[-OUTERMOST:]]


def _python(frame: PythonFrame) -> Frame:
    return Frame(function=frame.function, file=frame.file, line=frame.line, language="python")


def _line(n: int, frame: Frame) -> str:
    where = f"{frame.file}:{frame.line}" if frame.file and frame.line else frame.file or ""
    if frame.language == "python":
        return f"  #{n} {frame.function}  {where}"
    library = (frame.library or "").rpartition("/")[2]
    at = f"{library}+{frame.offset:#x}" if library and frame.offset is not None else library
    return "  ".join(part for part in (f"  #{n} {frame.function or '??'}", at, where) if part)
