"""Threads or destructors were still at work while the interpreter was being torn down.

What happens: at exit Python ends its own state first; daemon threads, C++ threads and destructors of
libraries may still run after that. They meet locks, modules or thread states that are gone. A daemon
thread that wants the GIL is ended by pthread_exit(), which C++ code on its stack may turn into
"terminate called".

How to tell: the work had been done. The words "at interpreter shutdown" or "finalizing", or the
frames exit, __run_exit_handlers, Py_FinalizeEx or pthread_exit in the stack of the crash.

Fix: stop and join threads before the program ends, close sessions, pools and files explicitly, and do
not leave daemon threads that read stdin or print.

Folklore: the results are not wrong because the process died at exit. But what had not been flushed
or closed may be lost.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Gpu, HeapDamage, Notice, PythonFatal, Stack, Uncaught, Wrote
from sigwhy.model.moment import throws
from sigwhy.model.shape import blame, name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Fact, Frame

CAUSE = Cause(
    id="shutdown-order",
    title="threads or destructors were at work while the interpreter was being torn down",
    fix="Stop and join threads, and close sessions, pools and files, before the program ends.",
)
KILLED_THREAD = re.compile(
    r"^(?:__)?(?:pthread_exit|_Unwind_ForcedUnwind\w*|PyThread_exit_thread|__do_cancel|unwind_stop)$"
)
ENDS = re.compile(
    r"^(?:_*(?:run_exit_handlers|cxa_finalize\w*|run_exit_handler|GI_exit|GI___cxa_finalize|dl_fini|dl_call_fini)|exit"
    r"|Py_(?:Finalize(?:Ex)?|Exit)|finalize_(?:modules|interp\w*)|call_(?:ll_)?exitfuncs|atexit_callfuncs"
    r"|_PyGC_CollectNoFail|PyImport_Cleanup|wait_for_thread_shutdown|LdrShutdownProcess|doexit|RtlExitUserProcess)$"
)
PYTHON_ENDS = re.compile(
    r"^(?:_python_exit|_exit_function|_shutdown|_run_exitfuncs|_cleanup_at_exit)$"
)
GATHERERS = re.compile(r"(?:^|/)(?:ld|libc|libpython[\w.]*)[-.]")
# True of every crash on the way out, also of one that was prepared long before.
BYSTANDERS = frozenset({"python-finalizing", "no-python-frame"})
RESTORES = {"PyEval_RestoreThread", "take_gil", "_PyThreadState_Attach", "PyEval_AcquireThread"}  # fmt: skip
RUNS_PYTHON = frozenset({"thread_run", "t_bootstrap", "pythread_wrapper"})
TOPICS = {
    "daemon-at-shutdown": (Weight.PROOF, "a daemon thread held a lock when the interpreter ended"),
    "forced-unwind": (Weight.PROOF, "a thread was ended by force and C++ code caught that"),
    "mutex-gone": (Weight.STRONG, "a lock was used after it had been destroyed"),
    "driver-shutting-down": (Weight.PROOF, "the GPU was used while its driver was shutting down"),
    "python-ends": (Weight.STRONG, "Python was already shutting down"),
    "python-ended": (Weight.PROOF, "work was begun while the interpreter was ending"),
    "no-python-frame": (
        Weight.FAIR,
        "the thread that died ran no Python code any more, or not yet",
    ),
    "python-finalizing": (Weight.STRONG, "the interpreter was being torn down"),
}


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a crash in the order of the end, and against it."""
    counted = any("refcount" in fatal.text for fatal in case.all(PythonFatal))
    for notice in case.all(Notice):
        if notice.topic in TOPICS and not (counted and notice.topic in BYSTANDERS):
            weight, says = TOPICS[notice.topic]
            yield Clue(weight, notice, says, _held(notice))
    yield from _last_words(case)
    damage = _damage(case)
    for stack in case.all(Stack):
        if stack.crashed and stack.role == "fault":
            for clue in _frames(stack):
                yield clue if damage is None else replace(clue, weight=Weight.SLIGHT)
    if damage:
        yield Clue(Weight.DOUBT, damage, "the damage was done before; it only shows at the end")


def _damage(case: Case) -> Fact | None:
    """What shows that memory was damaged before the end."""
    wrote = (w for w in case.all(Wrote) if w.topic in {"counts", "edits", "frees"})
    return next(wrote, case.first(HeapDamage))


def _last_words(case: Case) -> Iterator[Clue]:
    fatal = case.first(PythonFatal)
    ending = any(notice.topic == "python-finalizing" for notice in case.all(Notice))
    if fatal and ending and "refcount" not in fatal.text:
        yield Clue(Weight.STRONG, fatal, "the interpreter gave up on its way out")
    for gpu in case.all(Gpu):
        if "driver shutting down" in gpu.text:
            yield Clue(Weight.STRONG, gpu, TOPICS["driver-shutting-down"][1])
    for thrown in case.all(Uncaught):
        threw = "virtual" in (thrown.what or "") or any(throws(s) for s in case.all(Stack))
        if thrown.type is None and not threw:
            says = "no exception was thrown: a thread was still joinable"
            yield Clue(Weight.STRONG, thrown, says)


def _held(notice: Notice) -> Culprit | None:
    if notice.topic == "daemon-at-shutdown" and notice.subject:
        return Culprit(kind="api", name="daemon thread", argument=notice.subject)
    return None


def _frames(stack: Stack) -> Iterator[Clue]:
    names = [name(frame) for frame in stack.frames]
    if stack.language == "python":
        if any(PYTHON_ENDS.match(n) for n in names):
            yield Clue(Weight.FAIR, stack, "it ran what was left to do at exit")
        return
    killed = next((n for n in names if KILLED_THREAD.match(n)), None)
    if killed:
        says = f"{killed} ended this thread by force, as Python does with threads at exit"
        culprit = Culprit(kind="api", name="pthread_exit", function=killed)
        yield Clue(Weight.PROOF, stack, says, culprit)
        return
    if _takes_the_gil(stack):
        says = (
            "a thread of native code asked for the GIL, which is fatal once the interpreter is gone"
        )
        yield Clue(Weight.STRONG, stack, says, Culprit(kind="api", name="PyGILState_Ensure"))
        if not any(named in RUNS_PYTHON for named in names):
            yield Clue(Weight.FAIR, stack, "no Python code of its own is on the stack")
        return
    for place, named in enumerate(names):
        if ENDS.match(named):
            says = f"the crash happened under {named}, when the process was ending"
            yield Clue(Weight.PROOF, stack, says, _destructor(stack.frames[:place]))
            return


def _takes_the_gil(stack: Stack) -> bool:
    """Whether the innermost thing that it did was to wait for the GIL."""
    names = [name(frame) for frame in stack.frames[:5]]
    return any(a in RESTORES and b == "PyGILState_Ensure" for a, b in pairwise(names))


def _destructor(above: tuple[Frame, ...]) -> Culprit | None:
    """The outermost frame above the exit handlers that is somebody's own."""
    for frame in reversed(above):
        if (
            frame.function
            and not ENDS.match(name(frame))
            and not GATHERERS.search(frame.library or "")
        ):
            return blame(frame)
    return None
