"""What one thread that stands still waits for, from its system call, its frames and its locks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.machine import waiting
from sigwhy.model.blame import is_installed, telling
from sigwhy.model.fact import Frame

if TYPE_CHECKING:
    from sigwhy.machine.waiting import Call
    from sigwhy.model.incident import Incident, NativeFrame, Thread, Wait

NEAR = 10  # frames from the top that tell what is waited for
# A native frame near the top, and what its thread waits for: the first row that fits.
NATIVE = (
    ("gil", re.compile(r"^(?:take_gil|PyEval_(?:RestoreThread|AcquireThread|AcquireLock)|PyGILState_Ensure|_PyThreadState_Attach|_PyEval_AcquireLock)\b")),
    ("join", re.compile(r"^(?:_*pthread_(?:clock|timed)?join\w*|ThreadHandle_join)\b")),
    ("lock", re.compile(r"^(?:_*lll_lock_wait\w*|_*(?:GI_+)?_*pthread_(?:mutex_\w*lock\w*|rwlock_\w+|spin_lock)|PyThread_acquire_lock\w*|acquire_timed|rlock_acquire|_?PyMutex_Lock\w*|absl::\S*Mutex::(?:Lock|Block)\w*|_*(?:new_)?sem_(?:timed|clock)?wait\w*|do_futex_wait)\b")),
    ("condition", re.compile(r"^_*(?:GI_+)?_*pthread_cond_\w*wait\w*\b|^std::\S*condition_variable::wait")),
)  # fmt: skip
# A function of Python's library among the innermost frames, and what its caller waits for.
LIBRARY = {
    "threading.py": {"join": "join", "_wait_for_tstate_lock": "join", "_join": "join", "_shutdown": "join", "wait": "condition", "wait_for": "condition", "acquire": "lock", "__enter__": "lock"},
    "queue.py": {"get": "condition", "put": "condition", "join": "condition"},
    "queues.py": {"get": "lock", "put": "lock"},
    "synchronize.py": {"acquire": "lock", "__enter__": "lock", "wait": "condition"},
    "_base.py": {"result": "condition", "wait": "condition", "exception": "condition", "as_completed": "condition"},
    "thread.py": {"_worker": "condition", "shutdown": "join"},
    "pool.py": {"wait": "condition", "get": "condition", "join": "join"},
    "_bootstrap": {"acquire": "lock", "__enter__": "lock"},
    "<frozen importlib._bootstrap>": {"acquire": "lock", "__enter__": "lock"},
}  # fmt: skip
INPUT = re.compile(r"^/dev/(?:pts/|tty|console|stdin)")
OUTPUT = frozenset({"write", "writev", "sendto", "sendmsg"})
# A lock of Python's own: only a thread of Python's gives it back.
PYTHON_LOCK = re.compile(
    r"^(?:PyThread_acquire_lock\w*|acquire_timed|rlock_acquire|_?PyMutex_Lock\w*|_PySemaphore_\w+|_?PyEvent_\w+)\b"
)
IN_WORDS = {  # what it is called, by what is waited for
    "gil": "for the GIL",
    "join": "for a thread to end",
    "lock": "for a lock",
    "condition": "for a condition",
    "child": "for a child process",
    "pipe": "on a pipe",
    "file": "on a file",
    "socket": "on a socket",
    "input": "for input",
    "sleep": "until some time has passed",
    "futex": "for another thread",
    "signal": "for a signal",
    "events": "for events",
    "other": "in the kernel",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a thread waits for. ``inside``: only another thread of this process could end that.

    ``holder`` is a thread that would have to act first, ``child`` a process.
    """

    thread: Thread
    what: str
    inside: bool = False
    limited: bool = False
    holder: int | None = None
    child: int | None = None
    descriptor: str | None = None
    place: str | None = None
    by: str | None = None  # the native code that waits, where it is nobody's library

    @property
    def is_in_python(self) -> bool:
        """Whether it waits for what only Python code can give: a lock, a queue, a thread's end."""
        return any(PYTHON_LOCK.match(name) for name in _near(self.thread.native))

    @property
    def words(self) -> str:
        """One line."""
        name = f" ({self.thread.name})" if self.thread.name else ""
        return f"thread {self.thread.tid}{name} {self.does}"

    @property
    def does(self) -> str:
        """The same without who it is."""
        words = "runs" if self.what == "runs" else f"waits {IN_WORDS[self.what]}"
        if self.what == "child" and self.child:
            words += f", process {self.child}"
        if self.descriptor:
            words += f" {self.descriptor}"
        if self.holder:
            words += {"join": f", thread {self.holder}"}.get(
                self.what, f" that thread {self.holder} holds"
            )
        if self.limited and self.what not in ("sleep", "gil", "runs"):
            words += ", with a time limit"
        where = self.place or self.by
        return f"{words}, in {where}" if where else words


def standing(incident: Incident, thread: Thread) -> Standing:
    """What a thread waits for."""
    place, by = _place(thread), _native_place(thread)
    known = waiting.call(thread.wait.call, incident.machine) if thread.wait else None
    if thread.wait is None:
        return Standing(thread=thread, what="runs", place=place, by=by)
    if known is None:
        return Standing(thread=thread, what="other", place=place, by=by)
    limited = waiting.has_limit(known, thread.wait.arguments)
    match known.kind:
        case "futex":
            what, holder = _futex(incident, thread, thread.wait)
            private = waiting.is_private(thread.wait.arguments)
            return Standing(
                thread=thread,
                what=what,
                holder=holder,
                inside=what == "gil" or ((private or what == "join") and not limited),
                limited=limited,
                place=place,
                by=by,
            )
        case "child":
            pid = _argument(thread.wait, int(known.name == "waitid"))
            child = pid if 0 < pid < 1 << 31 else None
            return Standing(
                thread=thread, what="child", child=child, limited=limited, place=place, by=by
            )
        case _:
            what, where = _outside(incident, thread.wait, known)
            return Standing(
                thread=thread, what=what, descriptor=where, limited=limited, place=place, by=by
            )


def _futex(incident: Incident, thread: Thread, wait: Wait) -> tuple[str, int | None]:
    """What stands behind a futex, and the thread that would have to act."""
    native = _near(thread.native)
    if any(NATIVE[0][1].match(name) for name in native):
        holder = next((t.tid for t in incident.threads if t.holds_gil), None)
        return "gil", holder if holder != thread.tid else None
    tids = {t.tid for t in incident.threads}
    third = _argument(wait, 2)
    if not waiting.is_private(wait.arguments) and third in tids - {thread.tid}:
        return "join", third  # the loader of glibc wakes it when the thread ends
    if wait.owner:
        return "lock", wait.owner
    for frame in thread.python[:3]:
        if found := LIBRARY.get(_short(frame.file), {}).get(frame.function.rpartition(".")[2]):
            return found, None
    for what, pattern in NATIVE[1:]:
        if any(pattern.match(name) for name in native):
            return what, None
    return ("lock" if thread.python else "futex"), None


def _near(frames: list[NativeFrame]) -> list[str]:
    return [frame.function.partition("(")[0] for frame in frames[:NEAR] if frame.function]


def _outside(incident: Incident, wait: Wait, known: Call) -> tuple[str, str | None]:
    """What a wait in the kernel is for: the file behind its descriptor says it."""
    match known.kind:
        case "sleep" | "signal":
            return known.kind, None
        case "file":
            return _of_descriptor(incident, _argument(wait, 0))
        case "events" if len(wait.descriptors) == 1:
            return _of_descriptor(incident, wait.descriptors[0])
        case "events" if not wait.descriptors and known.name in ("poll", "ppoll", "select"):
            return ("sleep" if not _argument(wait, 0) else "events"), None
        case "events":
            return "events", None
        case _:
            return "other", None


def _argument(wait: Wait, n: int) -> int:
    """An argument of the call; -1 where it was not seen."""
    return wait.arguments[n] if n < len(wait.arguments) else -1


def _of_descriptor(incident: Incident, number: int) -> tuple[str, str | None]:
    target = incident.files.get(str(number), "")
    shown = f"(descriptor {number})"
    if INPUT.match(target) or (number == 0 and not target.startswith("socket:")):
        return "input", shown
    for prefix, what in (("pipe:", "pipe"), ("socket:", "socket"), ("anon_inode:", "events")):
        if target.startswith(prefix):
            return what, shown
    return ("file", shown) if target else ("other", shown)


def _short(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _place(thread: Thread) -> str | None:
    """The user's own line: the innermost that is not Python's library, else the innermost."""
    frames = [
        Frame(function=f.function, file=f.file, line=f.line, language="python")
        for f in thread.python
    ]
    told = list(telling(frames))
    own = [f for f in told if not is_installed(f)]
    frame = next(iter((*own, *told, *frames)), None)
    if frame is None:
        return None
    line = f":{frame.line}" if frame.line else ""
    return f"{frame.file}{line} {frame.function}()"


def _native_place(thread: Thread) -> str | None:
    frames = [
        Frame(function=f.function, file=f.file, line=f.line, library=f.library, offset=f.offset)
        for f in thread.native
    ]
    found = next(iter(telling(frames)), None)
    if found is None or not (found.function or found.library):
        return None
    library = _short(found.library or "")
    return f"{found.function} of {library}" if found.function and library else found.function
