"""The Python frames of a process that is held, or of a core, by pystack.

Only plain values leave this file, so that it can run apart: the memory may be damaged, and pystack
reads it with native code.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sigwhy.autopsy.redact import redacted_value
from sigwhy.model.blame import PYTHON_OWN, is_installed
from sigwhy.model.fact import Frame
from sigwhy.model.incident import PythonFrame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ROOM_BYTES = 512 << 20
MOST_THREADS = 512
MOST_FRAMES = 300
OUTERMOST = 20
MOST_LOCALS = 24
LONGEST_VALUE = 200
FRAMES_WITH_LOCALS, MOST_OWN = 8, 8

Where = tuple[int, int, int, int]  # line, last line, column, end of the column
Call = tuple[str, str, Where, dict[str, str], bool]
Plain = list[tuple[int, list[Call], int, tuple[int, ...] | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """The Python side of a process: frames by thread, who holds the GIL, and the version."""

    frames: dict[int, list[PythonFrame]] = field(default_factory=dict)
    gil: dict[int, bool] = field(default_factory=dict)  # whether a thread holds it, where known
    version: str | None = None

    @property
    def holds_gil(self) -> int | None:
        """The thread that holds the interpreter's lock."""
        return next((tid for tid, holds in self.gil.items() if holds), None)


def of_process(pid: int) -> Plain:
    """The threads of a process, as plain values; raises where it has no Python."""
    from pystack.engine import StackMethod, get_process_threads

    return _with_room(
        lambda: get_process_threads(pid, stop_process=False, locals=True, method=StackMethod.AUTO)
    )


def of_core(path: str, program: str | None) -> Plain:
    """The same of a core file, with the program that left it."""
    from pystack.engine import get_process_threads_for_core

    executable = Path(program) if program else Path("/proc/self/exe")
    return _with_room(lambda: get_process_threads_for_core(Path(path), executable, locals=True))


def _with_room(look: Callable[[], Iterable[Any]]) -> Plain:
    """Look from a thread with a large stack: pystack calls itself once for each Python frame."""
    found: list[Plain] = []
    trouble: list[Exception] = []

    def run() -> None:
        try:
            found.append(_plain(look()))
        except Exception as error:  # noqa: BLE001 -- it is raised again where somebody listens
            trouble.append(error)

    threading.stack_size(ROOM_BYTES)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if trouble:
        raise trouble[0]
    return found[0]


def _plain(threads: Iterable[Any]) -> Plain:
    return [_thread(thread) for thread, _ in zip(threads, range(MOST_THREADS), strict=False)]


def _thread(thread: Any) -> tuple[int, list[Call], int, tuple[int, ...] | None]:
    calls: list[Call] = []
    frames = list(reversed(list(thread.frames)))
    if len(frames) > MOST_FRAMES:  # a deep recursion: its end, and where it began
        frames = [*frames[: MOST_FRAMES - OUTERMOST], *frames[-OUTERMOST:]]
    own = [_is_own(frame.code.filename) for frame in frames]
    told = set(range(FRAMES_WITH_LOCALS))
    # However deep they lie: the user's own calls, and what of a package each of them called.
    for n in [n for n, is_own in enumerate(own) if is_own][:MOST_OWN]:
        told |= {n - 2, n - 1, n}
    for n, frame in enumerate(frames):
        shown = {**frame.arguments, **frame.locals} if n in told else {}
        at = frame.code.location
        where = (at.lineno, at.end_lineno, at.column, at.end_column)
        calls.append((frame.code.scope, frame.code.filename, where, shown, bool(frame.is_entry)))
    return thread.tid, calls, thread.holds_the_gil, thread.python_version


def _is_own(file: str) -> bool:
    installed = is_installed(Frame(file=file, language="python"))
    return not installed and not PYTHON_OWN.search(file)


def interpreter(plain: Plain) -> Interpreter:
    """Frames by thread, innermost first, with short and redacted values."""
    frames: dict[int, list[PythonFrame]] = {}
    gil: dict[int, bool] = {}
    version = None
    for tid, calls, holds, python in plain:
        frames[tid] = list(_frames(calls))
        if holds in (0, 1):
            gil[tid] = bool(holds)
        version = version or (".".join(map(str, python)) if python else None)
    return Interpreter(frames=frames, gil=gil, version=version)


def _frames(calls: list[Call]) -> Iterator[PythonFrame]:
    for function, file, (line, last, column, end), shown, entry in calls:
        values = {
            str(name): redacted_value(str(name), str(value)[:LONGEST_VALUE])
            for name, value in list(shown.items())[:MOST_LOCALS]
        }
        on_one_line = line == last and 0 <= column < end
        yield PythonFrame(
            function=function,
            file=file,
            line=line or None,
            column=column if on_one_line else None,
            end_column=end if on_one_line else None,
            locals=values,
            entry=entry,
        )
