"""Native code used the Python C API without holding the GIL, or in the wrong interpreter.

What happens: nearly every function of the C API needs the global interpreter lock. Where native code
calls one without it, there is no current thread state: newer interpreters notice and give up with
"Fatal Python error", others follow a null pointer a little later.

How to tell: the fatal error names a function of the C API and the GIL or the thread state. Without
such words: a thread that C or C++ started has a Py function at the top of its stack, and nothing of
the interpreter below.

Fix: take the GIL around the calls (PyGILState_Ensure and PyGILState_Release, py::gil_scoped_acquire,
Cython's "with gil"), and do not give it back twice. Call the C API from ctypes with PyDLL, which
keeps the GIL, not with CDLL.

Folklore: "no current thread" during an import is seldom a lock that was forgotten. The extension was
linked against a second libpython, which was never initialised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.c_api import (
    API,
    BORROWED,
    FUNCTIONS,
    IMPORTS,
    RUNS_PYTHON,
    SAID,
    SHUTDOWN,
    THREAD_STARTS,
    called_api,
)
from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.entry import whom
from sigwhy.model.fact import Entered, Notice, PythonFatal, Stack
from sigwhy.model.shape import blame, name, placed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="gil-misuse",
    title="native code used the Python C API without the GIL",
    fix=(
        "Take the GIL around every use of the C API (PyGILState_Ensure, py::gil_scoped_acquire, "
        "Cython's `with gil`), give it back once, and use ctypes.PyDLL instead of CDLL."
    ),
    usually={"SIGSEGV": "null-pointer"},
)

GIVE_BACK = (
    "Give the GIL back around everything that waits (Py_BEGIN_ALLOW_THREADS, py::gil_scoped_release, "
    "Cython's `with nogil`)."
)
USE_PYDLL = (
    "Call the Python C API through ctypes.pythonapi or ctypes.PyDLL: CDLL lets go of the GIL."
)


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a GIL that was not held, and against it."""
    blamed = _blamed(case)
    for fatal in case.all(PythonFatal):
        yield from _fatal(case, fatal, blamed)
    yield from _without_gil(case)
    for notice in case.all(Notice):
        if notice.topic == "foreign-thread":
            yield Clue(Weight.SLIGHT, notice, "the thread that died is none of Python's")
        if notice.topic == "gil-kept-while-waiting":
            culprit = placed(notice.subject) if notice.subject else None
            says = "native code keeps the GIL while it waits for a thread that wants it"
            yield Clue(Weight.PROOF, notice, says, culprit, GIVE_BACK)
        if notice.topic == "gil-not-held":
            who = notice.subject or "the interpreter or an extension"
            culprit = blamed or (Culprit(kind="library", name=who) if notice.subject else None)
            yield Clue(Weight.PROOF, notice, f"{who} found that the GIL was not held", culprit)
    for stack in case.all(Stack):
        if stack.crashed and stack.role == "fault" and stack.language == "native":
            yield from _thread_without_gil(stack)


def _fatal(case: Case, fatal: PythonFatal, blamed: Culprit | None) -> Iterator[Clue]:
    if SHUTDOWN.search(fatal.text):
        return
    named = FUNCTIONS.search(fatal.function or "")
    if not (SAID.search(fatal.text) or (named and fatal.function != "_PyMem_DebugRawFree")):
        return
    if "pad byte" in fatal.text or "bad ID" in fatal.text:
        return
    ending = next((n for n in case.all(Notice) if n.topic == "python-finalizing"), None)
    says = f"the interpreter gave up in {fatal.function or 'the C API'}: {fatal.text[:90]}"
    fix = None
    if _imports(case) and "no current thread" in fatal.text:
        fix = (
            "Rebuild the extension for this very Python: it was linked against a second libpython, "
            "which was never initialised."
        )
    yield Clue(Weight.PROOF, fatal, says, blamed or _innermost(case), fix)
    if ending:
        yield Clue(Weight.AGAINST, ending, "the interpreter was already being torn down")


def _without_gil(case: Case) -> Iterator[Clue]:
    """The thread died in the C API, and it did not hold the lock that the C API needs."""
    entered = case.first(Entered)
    if entered is None:
        return
    unheld = entered.gil is False or entered.way == "thread"
    if not unheld or entered.died_whose != "python" or entered.way in {"extension", "interpreter"}:
        return
    by_ctypes = entered.way == "ctypes"
    fix = USE_PYDLL if by_ctypes else None
    api = "ctypes.CDLL" if by_ctypes else called_api(case, entered)
    lock = "PyDLL" if by_ctypes else "PyGILState_Ensure"
    blamed = whom(entered, name=api, argument=lock)
    says = f"the thread died in {entered.died_function}, and did not hold the interpreter's lock"
    yield Clue(Weight.PROOF, entered, says, blamed, fix)


def _imports(case: Case) -> bool:
    near = (f for stack in case.all(Stack) if stack.crashed for f in stack.frames[:3])
    return any(IMPORTS.match(frame.function or "") for frame in near)


def _blamed(case: Case) -> Culprit | None:
    """The extension module, where few enough were loaded to name one."""
    for notice in case.all(Notice):
        if notice.topic == "extension-modules" and notice.subject:
            names = [n.strip() for n in notice.subject.split(",")]
            own = [n for n in names if n and n not in BORROWED] or names
            packages = {n.split(".")[0] for n in own}
            if len(packages) == 1:
                return Culprit(kind="library", name=own[-1] if len(own) > 1 else own[0])
    return None


def _innermost(case: Case) -> Culprit | None:
    for stack in case.all(Stack):
        if stack.crashed and stack.language == "python" and stack.frames:
            return blame(stack.frames[0])
    return None


def _thread_without_gil(stack: Stack) -> Iterator[Clue]:
    """A thread that C started, with the C API on top and no interpreter below."""
    names = [name(frame) for frame in stack.frames]
    started = any(THREAD_STARTS.match(n) for n in names)
    if not started or any(RUNS_PYTHON.match(n) for n in names):
        return
    if not (names and any(API.match(n) for n in names[:2])):
        return
    foreign = (f for f in stack.frames if name(f) and "libpython" not in (f.library or ""))
    caller = next((f for f in foreign if not API.match(name(f))), None)
    if caller and not THREAD_STARTS.match(name(caller)):
        says = f"{name(caller)}, in a thread that C started, called {names[0]} without the GIL"
        yield Clue(Weight.PROOF, stack, says, blame(caller))
