"""A native library which somebody else wrote, and which is no framework, has a fault of its own.

What happens: Python packages with C or C++ inside (parsers, image and audio codecs, databases, MPI)
touch memory themselves. A fault there kills the whole process, whatever the Python code around does.

How to tell: the innermost telling frame of the dead thread (below the C library, allocators and
signal handlers, above the interpreter) lies in the package's own library, or a sanitizer names a
line of it. It speaks against it when the process was still importing (then two builds do not fit
together), when it was ending, or when the frame is a line of your own sources.

Fix: upgrade that package alone, or install the version before; if it goes on, send its authors the
native stack. Until then call it in a child process, so that its death does not take yours along.

Folklore: reinstalling everything helps only by chance: it changes the version of one package.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sigwhy.model import fact
from sigwhy.model.blame import crashed, owner, telling
from sigwhy.model.blame import whom as whom_of
from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.entry import whom
from sigwhy.model.moment import ends, imports
from sigwhy.model.packages import BETTER_KNOWN, COUNTED, DAMAGE, MUCH_USED, OF_PYTHON, SOURCES
from sigwhy.model.typed import imported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.blame import Owner
    from sigwhy.model.case import Case
    from sigwhy.model.fact import Frame, Stack

CAUSE = Cause(
    id="native-extension-bug",
    title="a native library that somebody else wrote has a fault of its own",
    fix="Upgrade that package (or go back one version), and report the native stack to its authors.",
)
IN_OTHERS = {
    "own": "the first frame that tells anything is in your own code",
    "framework": "the first frame that tells anything is in a framework",
}
OTHER_ENDS: dict[type[fact.Fact], str] = {
    fact.MemoryKill: "memory ran out",
    fact.Allocation: "memory ran out",
    fact.LoadFailure: "a library could not even be loaded",
}
MEMORY = frozenset({"SIGSEGV", "SIGBUS", "SIGFPE"})


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a fault of somebody else's library, and against it."""
    yield from _other_ends(case)
    yield from _miscounted(case)
    if entered := case.first(fact.Entered):
        yield from _entered(case, entered)
        return
    for stack in (s for s in crashed(case.all(fact.Stack), "native") if len(s.frames) < 200):
        frame = next(telling([f for f in stack.frames if f.language == "native"]), None)
        if frame:
            yield from _where(case, stack, frame, owner(frame))
        return


def _entered(case: Case, entered: fact.Entered) -> Iterator[Clue]:
    """It died in a package: the less it is used by others, the likelier it is its own fault."""
    if entered.died_whose != "package" or not entered.package:
        return
    name = entered.package
    if BETTER_KNOWN.search(f"{name} {entered.died_library or ''}"):
        return
    blamed = whom(entered, kind="package", name=name, argument=entered.written)
    much_used = bool(MUCH_USED.match(name))
    says = f"it died in {name}, in {entered.died_function or 'a function without a name'}"
    fix = f"Upgrade {name} (or go back one version), and report this stack to its authors."
    yield Clue(Weight.FAIR if much_used else Weight.STRONG, entered, says, blamed, fix)
    if much_used:
        says = f"{name} is used by millions: a call with odd arguments is likelier"
        yield Clue(Weight.DOUBT, entered, says)
    elif death := next((d for d in case.all(fact.Death) if d.signal in MEMORY), None):
        yield Clue(Weight.FAIR, death, f"it died of {death.signal} inside {name}", blamed)


def _where(case: Case, stack: Stack, frame: Frame, whose: Owner) -> Iterator[Clue]:
    name = whose.name or ""
    known = f"{name} {frame.library or ''}"
    if whose.whose in ("own", "unknown") and not BETTER_KNOWN.search(known):
        yield from _of_unknown_hand(case, stack, frame)
        if whose.whose == "own" and frame.file and not SOURCES.search(frame.file):
            return  # a bare file name does not tell whose it is
    if whose.whose in ("own", "framework"):
        yield Clue(Weight.AGAINST, stack, IN_OTHERS[whose.whose])
    if whose.whose in ("own", "framework", "unknown") or not name or BETTER_KNOWN.search(known):
        return
    told = bool(frame.function or case.first(fact.StackSmashed))  # it checks its own stack
    calm = not (imports(stack) or ends(stack))
    exact = told and whose.whose == "package" and calm
    says = "the first frame that tells anything is "
    says += f"{frame.function}, in {name}" if frame.function else f"in {name}"
    fix = f"Upgrade {name} (or go back one version), and report this stack to its authors."
    yield Clue(Weight.STRONG if exact else Weight.FAIR, stack, says, whom_of(frame, whose), fix)
    yield from _how(case, name, exact=exact)
    if not calm:
        yield Clue(Weight.AGAINST, stack, f"{name} was just being imported, or the process ended")


def _miscounted(case: Case) -> Iterator[Clue]:
    """A reference count that went wrong after a module had been imported and called."""
    counts = (f for f in case.all(fact.PythonFatal) if COUNTED.search(f"{f.function} {f.text}"))
    if (fatal := next(counts, None)) and (used := imported(case)):
        module, ran = used[-1]
        who = Culprit(kind="package", name=module)
        says = f"a reference was given away once too often after {module} was called"
        yield from (
            Clue(Weight.PROOF, fatal, says, who),
            Clue(Weight.FAIR, ran, f"{module} was in use", who),
        )


def _of_unknown_hand(case: Case, stack: Stack, frame: Frame) -> Iterator[Clue]:
    """Code of which only a function and a bare file name are known, caught by a checker."""
    damage = (c for c in case.all(fact.Checker) if DAMAGE.search(c.kind) and c.tool != "lsan")
    seen = next(damage, None)
    functions = [frame.function or "" for frame in stack.frames]
    known = "main" in functions or any(owner(f).whose == "framework" for f in stack.frames)
    if not seen or known or not (frame.function and frame.file) or SOURCES.search(frame.file):
        return
    who = replace(whom_of(frame, owner(frame)), kind="api", name=frame.function)
    says = f"{seen.tool} saw the bad access in {frame.function}, which is no part of Python"
    yield Clue(Weight.STRONG, seen, says, who)
    called = any(OF_PYTHON.search(f) for f in functions)
    says = "Python called it as an extension" if called else "no framework is on the stack"
    yield Clue(Weight.FAIR if called else Weight.SLIGHT, stack, says, who)


def _how(case: Case, name: str, *, exact: bool) -> Iterator[Clue]:
    for checker in case.all(fact.Checker):
        if DAMAGE.search(checker.kind) and checker.tool != "lsan":
            yield Clue(Weight.FAIR, checker, f"{checker.tool} saw the bad access happen in {name}")
    if exact and (fault := case.first(fact.Fault)):
        yield Clue(Weight.SLIGHT, fault, f"{name} touched memory that is not there")
    elif exact and (damage := case.first(fact.HeapDamage)):
        yield Clue(Weight.SLIGHT, damage, f"{name} handed the allocator what it refused")
    elif exact and (died := next((d for d in case.all(fact.Death) if d.signal in MEMORY), None)):
        yield Clue(Weight.SLIGHT, died, f"it died of {died.signal} inside {name}")


def _other_ends(case: Case) -> Iterator[Clue]:
    for death in case.all(fact.Death):
        if death.signal in ("SIGILL", "SIGKILL", "SIGTERM"):
            yield Clue(Weight.AGAINST, death, f"{death.signal} is no fault of memory")
    for kind, says in OTHER_ENDS.items():
        yield from (Clue(Weight.AGAINST, told, says) for told in case.all(kind))
