"""How the thread that died came from Python into native code: by which call, into whose library."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from sigwhy.autopsy.told import NO_SPAN, Told
from sigwhy.autopsy.user_line import user_line
from sigwhy.autopsy.written import written
from sigwhy.model.blame import (
    CARRIER_LIBRARIES,
    carries,
    owner,
    package_of,
)
from sigwhy.model.fact import Entered, Frame
from sigwhy.model.own_code import HOME
from sigwhy.operations.packages import FRAMEWORKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.incident import Incident, NativeFrame, PythonFrame, Thread

Way = Literal["ctypes", "cffi", "extension", "thread", "interpreter"]

MAIN = re.compile(r"^(?:Py_RunMain|Py_BytesMain|Py_Main|pymain_\w+|Py_FinalizeEx|Py_Exit)$")
EVAL = re.compile(r"^_?PyEval_(?:EvalFrame\w*|EvalCode\w*)$")
INTERPRETER = re.compile(r"(?:^|/)(?:libpython[\d.]+\w*\.so[\d.]*|python[\d.]*\w?)$")
FFI = re.compile(r"(?:^|/)libffi[\w.-]*$|(?:^|/)_ctypes\.[\w.-]+$")
CTYPES, CFFI = re.compile(r"(?:^|/)_ctypes\.[\w.-]+$"), re.compile(r"(?:^|/)_cffi_backend[\w.-]*$")
OF_CTYPES = frozenset({"string_at", "wstring_at", "memoryview_at"})
ENDS = re.compile(
    r"^_*(?:raise|abort|GI_raise|GI_abort|pthread_kill\w*|libc_message|malloc_printerr|kill|tgkill)"
)
# Functions of ctypes and of the C library that Python code calls by these very names.
OF_THE_SYSTEM = frozenset(
    {"string_at", "wstring_at", "memmove", "memset", "memoryview_at", "cast", "from_address"}
    # On a stack these go by other names: memcpy is __memmove_avx_unaligned_erms.
    | {"memcpy", "mempcpy", "bcopy", "bzero", "atoi", "atol", "atoll", "atof", "cfree", "fputs"}
    | {"puts", "strncpy", "stpcpy", "index", "rindex", "qsort", "printf", "sprintf", "snprintf"}
)
LINES = {
    "itself": "your line",
    "trace": "your line, which TensorFlow noted when the operation was called,",
    "main": "your line in the main thread, which waits,",
}
WHERE = {
    "own": "code of your own",
    "python": "the interpreter",
    "system": "a library of the system",
    "nobody": "memory that belongs to no library",
}


def tell(incident: Incident) -> Iterator[Told]:
    """The way into native code, if the crashed thread has native frames."""
    thread = next((t for t in incident.threads if t.crashed), None)
    if thread is None or not thread.native:
        return
    found = entered(incident, thread)
    yield Told.of(_sentence(found), found, words=found.written or found.function or "")


def entered(incident: Incident, thread: Thread) -> Entered:
    """Between the innermost Python call and the instruction that failed."""
    part, has_python = above_python(thread)
    way, into = _way(part, has_python=has_python)
    inner = part[: part.index(into) + 1] if into in part and way in {"ctypes", "cffi"} else part
    innermost = next((f for f in inner if not ENDS.match(f.function or "")), None)
    died = next((f for f in inner if not _only_carries(f)), innermost)
    own = next((f for f in part if whose(f) == "own"), None)
    fact = Entered(
        span=NO_SPAN,
        way=way,
        whose=whose(into),
        died_whose=whose(died),
        function=into.function if into else None,
        library=into.library if into else None,
        died_function=died.function if died else None,
        died_library=died.library if died else None,
        died_file=died.file if died else None,
        died_line=died.line if died else None,
        package=_package(died) or _package(into),
        caller=thread.python[0].function if thread.python else None,
        gil=thread.holds_gil,
        through=own.library if own else None,
        through_function=own.function if own else None,
        wrapper=_wrapper(thread.python),
    )
    user, came_from = user_line(incident, thread)
    if user is None:
        return fact
    call = written(incident, user)
    fact = replace(
        fact,
        written=call,
        file=user.file,
        line=user.line,
        of_line=user.function,
        line_from=came_from,
        api=_api(incident),
    )
    return _jumped_on(incident, fact) if call and way == "ctypes" else fact


def _api(incident: Incident) -> str | None:
    """The function of a package that was called, where memory told which one it is."""
    calls = (one for one in incident.operations if one.framework in FRAMEWORKS)
    return next((one.op for one in calls if not one.is_hint), None)


def _wrapper(frames: Sequence[PythonFrame]) -> str | None:
    """The generated function by which Python calls a custom op: the only code without a file."""
    first = frames[0] if frames else None
    generated = first and first.file == "<string>" and first.function != "<module>"
    return first.function if first and generated else None


def _jumped_on(incident: Incident, fact: Entered) -> Entered:
    """A function that ends by jumping into the C library is on no stack, but your line names it."""
    wanted = (fact.written or "").rpartition(".")[2]
    own = [m for m in incident.modules if whose_file(m.path) == "own"]
    known = wanted in OF_THE_SYSTEM or wanted in (fact.function or "") or wanted == fact.written
    if fact.whose != "system" or known or not wanted.isidentifier() or len(own) != 1:
        return fact
    return replace(fact, whose="own", function=wanted, library=own[0].path)


def _only_carries(frame: NativeFrame) -> bool:
    """Whether a frame is of the C library, the C++ run time or libffi, which do as they are told."""
    if whose(frame) == "python":
        return False
    carried = CARRIER_LIBRARIES.search(frame.library or "") or (
        frame.library and frame.function and carries(frame.as_frame())
    )
    return bool(carried) or _is_ffi(frame)


def above_python(thread: Thread) -> tuple[Sequence[NativeFrame], bool]:
    """The native frames above the first one that runs Python code."""
    for n, frame in enumerate(thread.native):
        if EVAL.match(frame.function or ""):
            return thread.native[:n] or thread.native[:1], True
    end = next((n for n, f in enumerate(thread.native) if MAIN.match(f.function or "")), None)
    if end is not None:
        return thread.native[:end] or thread.native[:1], True
    outermost = thread.native[-1]
    began = outermost.function == "_start" and INTERPRETER.search(outermost.library or "")
    return thread.native, bool(thread.python or began)


def _way(part: Sequence[NativeFrame], *, has_python: bool) -> tuple[Way, NativeFrame | None]:
    for n, frame in enumerate(part):
        if _is_ffi(frame):
            by_cffi = any(CFFI.search(f.library or "") for f in part[n:])
            called = part[n - 1] if n else frame
            if n == 0 and frame.function in OF_CTYPES:
                called = frame
            return ("cffi" if by_cffi else "ctypes"), called
    if not has_python:
        return "thread", _outermost([f for f in part if not carries(f.as_frame())] or part)
    foreign = [f for f in part if f.library and not INTERPRETER.search(f.library)]
    foreign = [f for f in foreign if whose(f) != "system"] or foreign
    if foreign:
        return "extension", _outermost(foreign)
    nameless = any(f.library is None for f in part)
    return ("extension" if nameless else "interpreter"), part[-1] if part else None


def _outermost(frames: Sequence[NativeFrame]) -> NativeFrame | None:
    return frames[-1] if frames else None


def _is_ffi(frame: NativeFrame) -> bool:
    return bool(FFI.search(frame.library or ""))


def whose(frame: NativeFrame | None) -> str:
    """Whose code a frame is, by the file that it lies in."""
    if frame is None or not frame.library:
        return "nobody"
    return whose_file(frame.library, frame.function)


def whose_file(library: str, function: str | None = None) -> str:
    """Whose code a file holds."""
    if INTERPRETER.search(library) or "/lib-dynload/" in library:
        return "python"
    found: str = owner(Frame(function=function, library=library)).whose
    if found in {"package", "framework"} and not package_of(library):
        found = _by_place(library, found)
    return "system" if found == "unknown" else found


def _by_place(library: str, found: str) -> str:
    """A name tells less than a place: your own library may have an ``array_sum``, or a kernel of TensorFlow."""
    by_place = owner(Frame(library=library)).whose
    if by_place == "framework":
        return "own" if HOME.search(library) else by_place
    return found if by_place == "unknown" else by_place


def _package(frame: NativeFrame | None) -> str | None:
    return package_of(frame.library) if frame and frame.library else None


def _sentence(found: Entered) -> str:
    by = {
        "ctypes": "by ctypes",
        "cffi": "by cffi",
        "extension": "by a compiled module",
        "thread": "in a thread that native code had started",
        "interpreter": "inside the interpreter",
    }[found.way]
    call = f"; {LINES[found.line_from]} calls {found.written}" if found.written else ""
    if found.line_from != "itself" and not found.written and found.line:
        call = f"; {LINES[found.line_from]} is {found.file}:{found.line}"
    place = WHERE.get(found.died_whose) or (found.package or found.died_whose)
    return f"it came there {by}, into {found.function or '??'}, and died in {found.died_function or '??'}, {place}{call}"
