"""Memory grows with every step until the limit is reached.

What happens: something is kept that nobody needs: tensors in a list, a graph that gets new nodes
in a loop, a new tf.function per call, a C extension that forgets to free. Memory rises in a straight
line; at the limit the kernel sends SIGKILL and nothing is printed.

How to tell: the process dies after a long time, later with a smaller batch; readings of memory
only rise. LeakSanitizer names the function that allocated. A cache that fills (tf.data shuffle,
changing input shapes) also rises, but it flattens.

Fix: keep numbers, not tensors (`loss.item()`, `float(loss)`, `.numpy()`), write results to disk per
batch, build graphs and functions outside of the loop, call `model(x)` instead of `model.predict(x)`
in loops, free what the extension allocates.

Folklore: leaks do not end in segmentation faults. They end in SIGKILL, in an error, or in "cannot
create thread". A few bytes that LeakSanitizer finds in PyObject_Malloc at exit are no leak.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.allocators import is_interpreter
from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Allocation, Checker, Death, Growth, MemoryKill, Notice, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Fact

CAUSE = Cause(
    id="memory-leak",
    title="memory grows with every step",
    fix="Release what is kept from step to step: numbers instead of tensors, nothing built in loops.",
)
# How memory grew in the readings of a run that was watched.
SHAPES = {
    "steady": (Weight.PROOF, "memory grew steadily until the end"),
    "step": (Weight.AGAINST, "memory grew by a leap, not from step to step"),
    "flat": (Weight.EXCLUDES, "memory did not grow"),
}
CRASHES = {"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT"}


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for memory that grows, and against it."""
    devices = {asked.device for asked in case.all(Allocation)}
    if devices == {"gpu"} and not case.first(MemoryKill):
        yield Clue(
            Weight.EXCLUDES,
            next(case.all(Allocation)),
            "it was the memory of the GPU that ran out",
        )
        return
    ended = _ended(case)
    if ended:
        yield Clue(Weight.FAIR, ended, "it ended for lack of memory")
    yield from _grew(case)
    yield from _named(case)


def _ended(case: Case) -> Fact | None:
    kills = (death for death in case.all(Death) if death.signal == "SIGKILL")
    return case.first(MemoryKill) or next(kills, None) or case.first(Allocation)


def _grew(case: Case) -> Iterator[Clue]:
    for growth in case.all(Growth):
        weight, says = SHAPES[growth.shape]
        yield Clue(weight, growth, says)
    for notice in case.all(Notice):
        if notice.topic == "not-out-of-memory":
            yield Clue(Weight.EXCLUDES, notice, "nobody was killed for memory")
        elif notice.topic == "memory-grows":
            yield Clue(Weight.STRONG, notice, "memory grew step by step")
        elif notice.topic == "retracing":
            yield Clue(
                Weight.FAIR,
                notice,
                "a tf.function is traced again and again, and each trace is kept",
                culprit=Culprit(kind="api", name="tf.function"),
                fix="Define the tf.function once, outside of the loop, and pass tensors to it.",
            )
        elif notice.topic == "keeps-tensors":
            yield Clue(Weight.FAIR, notice, "tensors are kept from step to step")


def _named(case: Case) -> Iterator[Clue]:
    """What a leak checker found, if somebody other than the interpreter is above the allocator."""
    leaks = [found for found in case.all(Checker) if "leak" in found.kind]
    stacks = [stack for stack in case.all(Stack) if stack.role == "leaked"]
    crashed = any(death.signal in CRASHES for death in case.all(Death))
    worse = crashed or any("leak" not in found.kind for found in case.all(Checker))
    for stack in stacks:
        if owner := next((frame for frame in stack.frames if not is_interpreter(frame)), None):
            yield Clue(
                Weight.SLIGHT if worse else Weight.PROOF,
                stack,
                f"what {owner.function} allocated was never freed",
                culprit=Culprit(
                    kind="api",
                    name=owner.function,
                    function=owner.function,
                    library=owner.library,
                    file=owner.file,
                    line=owner.line,
                ),
            )
    if leaks and not stacks and not worse:
        yield Clue(Weight.FAIR, leaks[0], f"{leaks[0].tool} found memory that was never freed")
