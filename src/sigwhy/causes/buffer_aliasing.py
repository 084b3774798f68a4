"""Memory was shared without a copy, and its owner freed, resized or changed it.

What happens: two objects look at the same bytes. DLPack, __array_interface__, frombuffer, memmap,
shared memory and ctypes hand out such views. When the owner dies or moves, the other one reads what
is gone.

How to tell: the dead thread stands in from_dlpack, in a DLPack deleter, in memmap or shared_memory;
or a sanitizer says use-after-free and the block had been allocated for an array.

Fix: copy (np.array(x), tf.identity, x.clone()), or keep the owner alive and unchanged as long as
anybody looks at its memory.

Folklore: tf.constant(array) copies on every version; changing the array afterwards is harmless. So
are results read after the session has been closed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.entry import whom
from sigwhy.model.fact import (
    Checker,
    Death,
    Entered,
    HeapDamage,
    Notice,
    Place,
    PythonError,
    Ran,
    Stack,
    Wrote,
)
from sigwhy.model.lent import given_on
from sigwhy.model.sharing import CLOSES, NUMPY_BLOCK, REFUSALS, SHARING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Fact, Frame

CAUSE = Cause(
    id="buffer-aliasing",
    title="memory was shared without a copy and then freed or changed",
    fix="Copy the data, or keep its owner alive and unchanged while anybody uses it.",
    usually={"SIGSEGV": "use-after-free"},
)
LENDS = {
    "frees": "{call} takes memory away that something else may still use",
    "borrows": "{call} lends memory without a copy: it must stay where it is",
}
NEAR = 8
FIRST_PAGES = 1 << 16
LAST_WORDS = 4
OF_MEMORY = ("SIGSEGV", "SIGBUS")


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for memory that two shared."""
    dead = next((d for d in case.all(Death) if d.signal in OF_MEMORY), None)
    end = dead or case.first(Checker) or case.first(HeapDamage)
    if end:
        yield from _shared(case, end)
    for error in case.all(PythonError):
        if REFUSALS.search(error.text):
            yield Clue(Weight.PROOF, error, "Python refused to pull memory away from a view")
    for notice in case.all(Notice):
        if notice.topic == "view-held":
            yield Clue(Weight.SLIGHT, notice, "an array looks into somebody else's memory")
    yield from _freed_array(case)
    for entered in case.all(Entered):
        yield from _entered(case, entered)


def _entered(case: Case, entered: Entered) -> Iterator[Clue]:
    """It died on memory inside a package or the system, and your source lends memory or takes it away."""
    place = next((p for p in case.all(Place) if p.relation != "guard"), None)
    died = next((d for d in case.all(Death) if d.signal == "SIGSEGV" and d.code != "SI_USER"), None)
    if died is None or entered.died_whose in {"own", "nobody"} or entered.whose == "own":
        return
    wrote = [w for topic in LENDS for w in case.all(Wrote) if w.topic == topic]
    if place and place.address is not None and place.address < FIRST_PAGES:
        # Nobody ever lent what lies there; but what was taken away may be null by now.
        called = entered.written or ""
        wrote = [w for w in wrote if w.topic == "frees" or w.call in called]
    if place and place.relation == "gone":
        lent = whom(entered, name=wrote[0].call if wrote else None, argument=place.owner)
        says = f"the memory of {place.owner} is gone while it is used"
        yield Clue(Weight.PROOF, place, says, lent)
    for found in wrote[:1]:
        blamed = replace(
            whom(entered, name=found.call, argument=entered.written),
            file=found.file,
            line=found.line,
        )
        yield Clue(Weight.STRONG, found, LENDS[found.topic].format(call=found.call), blamed)
        if found.topic == "frees" or entered.way != "ctypes":
            says = "it died of memory, as it does when memory is gone"
            yield Clue(Weight.FAIR, died, says, blamed)
        if name := given_on(case, found, entered):
            yield Clue(Weight.FAIR, entered, f"the call uses {name}, made by {found.call}", blamed)
        yield from _not_there(place, entered) if place else ()


def _not_there(place: Place, entered: Entered) -> Iterator[Clue]:
    if place.relation not in {"inside", "gone"}:
        yield Clue(Weight.FAIR, place, "the memory that was touched is not there (any more)")
    if place.relation == "nowhere" and entered.way != "ctypes":
        yield Clue(Weight.FAIR, place, "no memory of the process lies near it")


def _shared(case: Case, end: Fact) -> Iterator[Clue]:
    for ran in case.all(Ran):
        if name := _sharing(ran.command):
            culprit = Culprit(kind="api", name=name)
            yield Clue(Weight.FAIR, ran, f"the program shares memory through {name}", culprit)
            typed = [one for one in case.all(Ran) if one.language == "python"]
            if ran in typed[-LAST_WORDS:]:
                says = f"{name} was among the last things that were typed"
                yield Clue(Weight.FAIR, ran, says, culprit)
                yield Clue(Weight.FAIR, end, "it died of memory right after that", culprit)
            if any(CLOSES.search(one.command) for one in typed):
                yield Clue(Weight.FAIR, ran, "what owned the memory was closed or deleted", culprit)
    for stack in case.all(Stack):
        if stack.crashed and stack.role == "fault" and (found := _frame(stack)):
            name, frame = found
            at = (frame.function, frame.file, frame.line)
            culprit = Culprit(kind="api", name=name, function=at[0], file=at[1], line=at[2])
            says = f"the dead thread is in {name}, which shares memory"
            yield Clue(Weight.STRONG, stack, says, culprit)
            yield Clue(Weight.FAIR, end, "it died of memory, as it does when memory is gone")
            if frame is stack.frames[0]:
                says = f"nothing was called from {name} any more"
                yield Clue(Weight.SLIGHT, stack, says, culprit)


def _frame(stack: Stack) -> tuple[str, Frame] | None:
    for frame in stack.frames[:NEAR]:
        if name := _sharing(f"{frame.file or ''} {frame.function or ''}"):
            return name, frame
    return None


def _freed_array(case: Case) -> Iterator[Clue]:
    found = next((c for c in case.all(Checker) if "use-after-free" in c.kind), None)
    for stack in case.all(Stack) if found else ():
        of_array = any(NUMPY_BLOCK.search(f.function or "") for f in stack.frames[:NEAR])
        if found and of_array and stack.role in {"freed", "allocated"}:
            yield Clue(Weight.STRONG, stack, "the block that was gone belonged to an array")
            yield Clue(Weight.FAIR, found, "the checker saw it used after that")


def _sharing(words: str) -> str | None:
    return next((name for pattern, name in SHARING if pattern.search(words)), None)
