"""Something was used too early, too late, or through a view that was no longer valid.

What happens: an interpreter is invoked before it allocated its tensors, a session or a file is used
after it was closed, a tensor of one graph is used in another, or an array that only looks into the
interpreter's memory is kept while that memory moves. Python classes notice some of it; raw pointers
and native code do not.

How to tell: the sentence says it: "There is at least 1 reference to internal data", "Attempted to
use a closed Session", "Invoke called on model that is not ready".

Fix: bring the calls into order: create, resize, allocate_tensors(), set, invoke, get, close. Copy
what you keep: get_tensor() copies, tensor()() does not.

Folklore: a result of sess.run() outlives the session; it is a copy.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Death, Notice, Ran, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="api-lifecycle",
    title="something was used before it was ready or after it was gone",
    fix="Order the calls (create, allocate, set, invoke, get, close) and copy what outlives them.",
)
SAID = {
    "view-held": ("an array still looks into the interpreter's memory", "Keep the function that tensor() returns, not its array; or copy: get_tensor()."),
    "used-before-allocate": ("the tensors were not allocated yet", "Call allocate_tensors() after creating and after every resize."),
    "used-before-ready": ("it was used before it was initialised", "Initialise it first (tf.compat.v1: run the initializer; Keras: build the model)."),
    "used-after-close": ("it was used after it was closed or destroyed", "Keep it open, or its owner alive, until the last use."),
    "used-after-donate": ("an array was used after it was given away", "Do not use an array after donating it (donate_argnums)."),
    "hdf5-used-after-close": ("an HDF5 file or object was used after it was closed", "Read what you need before the file is closed."),
    "qthread-destroyed": ("a QThread was deleted while its thread was still running", "Keep a reference to the QThread, and call quit() and wait() on it before it goes."),
    "wrong-graph": ("a tensor of another graph was used", "Build and use tensors in one graph or function."),
}  # fmt: skip
# Who is gone, as a call on the dead stack shows it.
GONE = re.compile(
    r"TfLiteInterpreterDelete|InterpreterWrapper::~|NativeInterpreterWrapper_delete|TF_CloseSession|TF_DeleteSession"
)
NEAR = 6
# fm.close(), sess.close(), del x
CLOSES = re.compile(
    r"^(?P<what>\w{1,60})\.(?P<call>close|release|destroy|terminate|shutdown|free|delete|dispose|unload)\(\)"
)
CRASHES = frozenset({"SIGSEGV", "SIGBUS", "SIGABRT"})


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for calls in the wrong order."""
    for notice in case.all(Notice):
        if notice.topic in SAID:
            says, fix = SAID[notice.topic]
            library = "NumPy" if notice.topic == "view-held" else None
            name = (
                f"Interpreter.{notice.subject}" if notice.topic == "view-held" else notice.subject
            )
            culprit = Culprit(kind="api", name=name, library=library)
            yield Clue(Weight.PROOF, notice, says, culprit, fix)
    yield from _closed_twice(case)
    for stack in case.all(Stack):
        if stack.crashed and stack.role == "fault":
            for frame in stack.frames[:NEAR]:
                found = GONE.search(frame.function or "")
                if found and case.first(Death):
                    culprit = Culprit(kind="api", name=found[0], function=frame.function)
                    yield Clue(Weight.FAIR, stack, "it died while something was closed", culprit)
                    break


def _closed_twice(case: Case) -> Iterator[Clue]:
    """Something was closed by hand, and the last thing that was typed used it again."""
    typed = [ran for ran in case.all(Ran) if ran.language == "python"]
    died = case.first(Death)
    if not died or died.signal not in CRASHES or len(typed) < 2:
        return
    last = typed[-1]
    for ran in typed[:-1]:
        found = CLOSES.match(ran.command)
        if found and re.search(rf"\b{re.escape(found['what'])}\b", last.command):
            culprit = Culprit(kind="api", name=found["call"], argument=found["what"])
            says = f"{found['what']} was used after {found['what']}.{found['call']}()"
            yield Clue(Weight.STRONG, last, says, culprit)
            yield Clue(Weight.FAIR, died, "it died of memory on that very line", culprit)
            return
