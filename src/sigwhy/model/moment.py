"""When in the life of a process its thread died: while it imported, or while it ended."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sigwhy.model.fact import Stack

IMPORTING = re.compile(
    r"^(?:PyInit_\w+|init\w+|_?PyImport_\w+|_?import_(?:array|umath|ufunc|find_and_load)\w*|_?PyModule_ExecDef"
    r"|exec_builtin_or_dynamic|_?dl_(?:init|open)(?:_internal|_worker)?|_?init|_*do_global_ctors_aux|_GLOBAL__sub_I_\S+|call_init|dlopen[\w@.]*|_find_and_load\w*|_load_unlocked|exec_module)$"
)
ENDING = re.compile(
    r"^(?:_?Py_Finalize\w*|finalize_modules\w*|_*run_exit_handlers|exit|_dl_fini|_*cxa_finalize\w*|_exithandler|interpreter_clear)$"
)


THROWS = re.compile(r"__cxa_throw|__throw_|_M_range_check|_Unwind_RaiseException")


def imports(stack: Stack) -> bool:
    """Whether a module was being loaded."""
    return any(IMPORTING.match(frame.function or "") for frame in stack.frames)


def ends(stack: Stack) -> bool:
    """Whether the interpreter, or the process, was being torn down."""
    return any(ENDING.match(frame.function or "") for frame in stack.frames)


def throws(stack: Stack) -> bool:
    """Whether a C++ exception was being thrown in the thread that died."""
    return stack.crashed and any(THROWS.search(frame.function or "") for frame in stack.frames)
