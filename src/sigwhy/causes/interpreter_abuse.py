"""Python code reached past Python's protection: ctypes, reference counts, byte code, internals.

What happens: ctypes reads and writes whatever address it is given, without a check. Byte code that no
compiler made, damaged marshal data and wrong reference counts make the interpreter follow pointers which
are none. It dies where the damage shows, which may be long after it was done.

How to tell: the innermost Python frame is string_at or its like, or the native stack has ffi_call under the
crash; "deallocating None", a negative reference count, "object already tracked"; code objects made by hand.

Fix: check the address, the length and the argtypes and restype of the ctypes call. Let the compiler make
byte code. An object needs one reference for each owner: no Py_DecRef by hand.

Folklore: ctypes without restype cuts pointers to 32 bits. That works as long as memory is mapped low,
and is the classic crash when the same script moves to another machine.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from sigwhy.model.by_hand import ASSERTS, CALLS, COUNTS, CTYPES, CTYPES_NAMES, FFI, READS, STRINGS
from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.entry import whom
from sigwhy.model.fact import (
    Death,
    Entered,
    Exit,
    Fault,
    Notice,
    Place,
    PythonFatal,
    Ran,
    Stack,
    Wrote,
)
from sigwhy.model.shape import blame, name
from sigwhy.model.typed import imported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Fact

CAUSE = Cause(
    id="interpreter-abuse",
    title="Python code reached past Python's protection",
    fix=(
        "Check the address, the length, argtypes and restype of the ctypes call; leave reference "
        "counts and byte code to the interpreter."
    ),
)
API = re.compile(r"^_?Py[A-Z]\w*_?\w*$")
SIGN_EXTENDED = 0xFFFF_FFFF_8000_0000  # a negative 32-bit number, taken for an address


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for Python code that went past its protection, and against it."""
    extensions = any(n.topic == "extension-modules" for n in case.all(Notice))
    for fact, words in _counts(case):
        weight = Weight.FAIR if imported(case) else Weight.STRONG if extensions else Weight.PROOF
        yield Clue(weight, fact, f"a reference count is wrong: {words[:80]}", _innermost(case))
    yield from _stacks(case)
    died = case.first(Death) or case.first(Exit)
    for ran in case.all(Ran):
        if died and (found := CALLS.search(ran.command)):
            api = Culprit(kind="api", name=next(g for g in found.groups() if g))
            yield Clue(Weight.PROOF, ran, f"{api.name} was called in what was run", api)


def _stacks(case: Case) -> Iterator[Clue]:
    entered = case.first(Entered)
    for stack in case.all(Stack):
        if stack.crashed and stack.role == "fault":
            python = stack.language == "python"
            yield from _python(stack) if python else () if entered else _native(stack)
    if entered:
        yield from _entered(case, entered)


def _entered(case: Case, entered: Entered) -> Iterator[Clue]:
    """Python called into the system, the interpreter or bare memory by itself, and that died."""
    if entered.way == "ctypes" and entered.whose in {"system", "python", "nobody"}:
        called = entered.function or "an address that is no function"
        says = f"ctypes called {called}, and that died of what it was given"
        unheld = entered.gil is False and entered.whose == "python"
        weight = Weight.STRONG if unheld else Weight.PROOF
        yield Clue(weight, entered, says, _caller(entered, _argument(case)))
    counts = next((w for w in case.all(Wrote) if w.topic == "counts"), None)
    pokes = next((w for w in case.all(Wrote) if w.topic == "pokes"), None)
    bare = entered.whose == entered.died_whose == "nobody" or entered.package == "_cffi_backend"
    inside = entered.way == "interpreter" and entered.died_whose == "python"
    if counts and entered.died_whose == "python":
        says = f"{counts.call} is called by hand, and the interpreter died over an object"
        yield Clue(Weight.PROOF, counts, says, _written(counts))
    elif pokes and ((bare and entered.way == "extension") or inside):
        says = f"no library is on the way, and {pokes.call} is called by hand"
        blamed = _caller(entered, None) if entered.written else _written(pokes)
        yield Clue(Weight.PROOF, pokes, says, blamed)


def _written(wrote: Wrote) -> Culprit:
    return Culprit(kind="api", name=wrote.call, file=wrote.file, line=wrote.line)


def _argument(case: Case) -> str | None:
    """A 32-bit number for a pointer: the default restype of ctypes."""
    cut = any(place.cut for place in case.all(Place))
    cut = cut or any((f.address or f.pointer or 0) >= SIGN_EXTENDED for f in case.all(Fault))
    return "restype" if cut else None


def _caller(entered: Entered, argument: str | None) -> Culprit:
    function = entered.died_function or entered.function or ""
    known = next((api for part, api in CTYPES_NAMES.items() if part in function), None)
    pointer = "ctypes.CFUNCTYPE" if entered.whose == "nobody" else None
    return whom(entered, name=pointer or entered.written or known, argument=argument)


def _counts(case: Case) -> Iterator[tuple[Fact, str]]:
    for notice in case.all(Notice):
        if notice.topic == "python-assert" and COUNTS.search(notice.text):
            yield notice, notice.text
            return
    for fatal in case.all(PythonFatal):
        if COUNTS.search(fatal.text) or fatal.function in ASSERTS:
            yield fatal, fatal.text
            return


def _python(stack: Stack) -> Iterator[Clue]:
    first = stack.frames[0] if stack.frames else None
    if not (first and READS.match(name(first)) and CTYPES.search(first.file or "")):
        return
    caller = blame(next((f for f in stack.frames if not CTYPES.search(f.file or "")), first))
    api = replace(caller, kind="api", name=f"ctypes.{name(first)}")
    says = f"it died inside {api.name}, which trusts the address that it is given"
    yield Clue(Weight.PROOF, stack, says, api)


def _native(stack: Stack) -> Iterator[Clue]:
    """A memory function or the C API itself was called through ctypes, and died."""
    names = [name(frame) for frame in stack.frames]
    called = next((n for n, named in enumerate(names) if FFI.match(named)), None)
    if not called:
        return
    entry = next((n for n in reversed(names[:called]) if n), "")
    if STRINGS.match(entry) or API.match(entry):
        says = f"ctypes called {entry}, and that died of what it was given"
        api = next((api for part, api in CTYPES_NAMES.items() if part in entry), entry)
        yield Clue(Weight.PROOF, stack, says, Culprit(kind="api", name=api, function=entry))


def _innermost(case: Case) -> Culprit | None:
    for stack in case.all(Stack):
        if stack.crashed and stack.language == "python" and stack.frames:
            return blame(stack.frames[0])
    return None
