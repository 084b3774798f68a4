"""The user's own C++ op, kernel or extension misuses memory or the interface of the framework.

What happens: code outside the framework, built by the user and loaded with `load_op_library`, as a
torch extension or through ctypes, writes past a buffer, uses freed memory, sets an output twice or
follows a null pointer. The process dies at once, or later in innocent code.

How to tell: a checker (AddressSanitizer, Valgrind, compute-sanitizer) or a stack names a source file
or a shared object of the user: not site-packages, not a source tree of a framework.

Fix: mend the line that is named. `sigwhy native test` builds the op under AddressSanitizer, runs it,
and names the line; without a checker the line of the crash may only be the victim.

Folklore: an output that is allocated and never written does not crash: it returns whatever was in
memory. Too small a buffer, a double delete or an ignored status crashes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.blame import crashed, owner, telling
from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.entry import of_own, whom
from sigwhy.model.fact import Checker, Death, Entered, Place, Stack, Stuck
from sigwhy.model.own_code import AN_OP, CALLED, FOREIGN, HOME, OVERRUN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Frame

CAUSE = Cause(
    id="custom-op-bug",
    title="your own C++ op or extension misuses memory or the framework's interface",
    fix="Mend the line that is named; build the op with -fsanitize=address to see every bad access.",
)
LOOP = "Look at the loop that is named: its condition never becomes false."
BAD = frozenset({"SIGSEGV", "SIGBUS", "SIGFPE", "SIGABRT", "SIGTRAP"})
ASIDE = re.compile(r"leak|lock-order|fishy")  # what a checker says that is no misuse of memory
KERNELS = "compute-sanitizer"  # it looks at kernels, and nobody else's kernel is in a user's file


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a bug in code of the user's own."""
    watched = case.first(Checker)
    if entered := case.first(Entered):
        yield from _entered(case, entered)
        return
    for stack in crashed(case.all(Stack), "native"):
        own = next(telling(stack.frames), None)
        if own and _is_own(own):
            yield _blame(stack, own, watched)
            yield from _turns(case, own)
            if watched and own.file and HOME.search(own.file) and OVERRUN.search(watched.kind):
                says = "its source lies in a folder of yours"
                yield Clue(Weight.FAIR, stack, says, _culprit(own))
            if told := _is_called(stack, own):
                yield Clue(Weight.STRONG, stack, told, _culprit(own))
                if death := next((d for d in case.all(Death) if d.signal in BAD), None):
                    yield Clue(Weight.SLIGHT, death, f"it died of {death.signal} there")
            elif any(f.function == "main" and HOME.search(f.file or "") for f in stack.frames):
                yield Clue(Weight.FAIR, stack, "the program that called it is your own as well")
            return


def _turns(case: Case, own: Frame) -> Iterator[Clue]:
    stuck = case.first(Stuck)
    if stuck and stuck.spinning:
        says = "the loop that never ends is in code of your own"
        yield Clue(Weight.STRONG, stuck, says, _culprit(own), LOOP)


def _entered(case: Case, entered: Entered) -> Iterator[Clue]:
    """A library that lies where no package is installed was entered, and the process died in it.

    Or in what it called: the system's functions and the interpreter do what they are told.
    """
    if entered.died_whose != "own" and not entered.through and entered.whose != "own":
        yield from _wrapped(entered)
        return
    blamed = of_own(entered)
    where = f"{blamed.file}:{blamed.line}" if blamed.file and blamed.line else blamed.library
    fix = f"Mend {where}." if where else None
    does = "it died in" if entered.died_whose == "own" else "it died in what was called by"
    says = f"{does} {blamed.function or '??'} of {blamed.library}, a library of your own"
    yield Clue(Weight.STRONG, entered, says, blamed, fix)
    for stuck in case.all(Stuck):
        if stuck.spinning:
            says = "the loop that never ends is in code of your own"
            yield Clue(Weight.STRONG, stuck, says, blamed, LOOP)
    for death in case.all(Death):
        if death.signal in BAD:
            says = f"{death.signal} is what native code that goes wrong dies of"
            yield Clue(Weight.FAIR, death, says, blamed)
    if place := next((p for p in case.all(Place) if p.relation != "guard"), None):
        yield Clue(Weight.SLIGHT, place, "no package that many people use is on the way", blamed)


def _wrapped(entered: Entered) -> Iterator[Clue]:
    """An op of a library of the user's own ran last, and has left the stack by now."""
    if entered.wrapper:
        blamed = whom(entered, name=entered.wrapper)
        says = f"it died in or right after {entered.wrapper}, an op of a library that your program loads"
        yield Clue(Weight.STRONG, entered, says, blamed)
        yield Clue(Weight.FAIR, entered, "no other op has such a wrapper", blamed)


def _blame(stack: Stack, own: Frame, watched: Checker | None) -> Clue:
    where = f"{own.file}:{own.line}" if own.file and own.line else own.file or own.library
    if watched and not ASIDE.search(watched.kind):
        says = f"a checker saw “{watched.kind}” in code of your own, {where}"
        weight = Weight.PROOF if watched.tool == KERNELS else Weight.STRONG
        return Clue(weight, watched, says, _culprit(own), _fix(own, watched))
    says = f"the first frame that tells anything is code of your own: {where}"
    return Clue(Weight.FAIR, stack, says, _culprit(own))


def _fix(own: Frame, watched: Checker) -> str | None:
    if not own.file:
        return None
    size = f" of {watched.size} bytes" if watched.size else ""
    access = "" if watched.access == "unknown" else f" ({watched.access}{size})"
    where = f"{own.file}:{own.line}" if own.line else own.file
    return f"Mend {where}: {watched.kind}{access}."


def _is_called(stack: Stack, own: Frame) -> str | None:
    words = (own.function, own.file, own.library)
    if any(AN_OP.search(word) for word in words if word):
        return "that frame is an op or an extension, by its name or its arguments"
    if any(CALLED.search(f.function or f.library or "") for f in stack.frames):
        return "Python called it as an op, an extension or through ctypes"
    return None


def _culprit(own: Frame) -> Culprit:
    return Culprit(
        kind="file" if own.file else "library",
        name=own.function or own.file or own.library,
        function=own.function,
        library=own.library,
        file=own.file,
        line=own.line,
    )


def _is_own(frame: Frame) -> bool:
    """Whether the user wrote this: by its path, else by its library."""
    path = frame.file or frame.library or ""
    if "torch_extensions" in path:
        return True
    if owner(frame).whose != "own" or FOREIGN.search(path) or FOREIGN.search(frame.library or ""):
        return False
    # A bare file name tells nothing: only an op by its own words is believed.
    return bool(HOME.search(path) or AN_OP.search(f"{frame.function or ''} {path}"))
