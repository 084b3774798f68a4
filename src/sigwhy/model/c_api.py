"""The C API of Python on stacks and in messages: its functions, and how threads get there."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from sigwhy.model.fact import Stack

if TYPE_CHECKING:
    from sigwhy.model.case import Case
    from sigwhy.model.fact import Entered

SAID = re.compile(
    r"GIL|[Tt]hread state|tstate|no current thread|thread-state|NULL interpreter|current interpreter"
)
FUNCTIONS = re.compile(
    r"^_?Py(?:ThreadState|GILState|InterpreterState|Eval_(?:Save|Restore|Acquire|Release))"
    r"|^(?:ceval|drop_gil|take_gil|tstate_\w+|_PyMem_Debug\w+)$"
)
SHUTDOWN = re.compile(r"at interpreter shutdown|interpreter finalization")
API = re.compile(r"^_?Py[A-Z]\w*_|^import_add_module$|^_PyEval|^new_(?:threadstate|reference)$")
RUNS_PYTHON = re.compile(
    r"^(?:pythread_wrapper|thread_run|t_bootstrap|Py_RunMain|Py_BytesMain|Py_Main|pymain_\w+|PyGILState_Ensure"
    r"|_PyEval_EvalFrameDefault|PyEval_EvalFrameEx)$"
)
THREAD_STARTS = re.compile(
    r"^(?:start_thread|clone3?|_pthread_start|thread_start|execute_native_thread_routine)$"
)
IMPORTS = re.compile(r"^(?:_call_with_frames_removed|create_module|exec_module|_find_and_load\w*)$")
BORROWED = frozenset({"_ctypes", "_cffi_backend", "_testcapi"})  # they carry others' calls


def called_api(case: Case, entered: Entered) -> str | None:
    """The function of the C API that the extension called: the outermost one above its frame."""
    for stack in case.all(Stack):
        if stack.crashed and stack.language == "native":
            above = list(takewhile(lambda f: f.function != entered.function, stack.frames))
            named = [f.function for f in above if API.match(f.function or "")]
            return named[-1] if named else entered.died_function
    return entered.died_function
