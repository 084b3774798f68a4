"""One step needs more memory than there is: a batch, an image, a save, a huge shape.

What happens: a single piece of work asks for more than the machine, the container or the batch
system allows. Either the request itself fails (MemoryError, std::bad_alloc, ResourceExhausted), or
it is granted and the kernel kills the process with SIGKILL at the first touch: then nothing is
printed but "Killed".

How to tell: the same step always dies, at about the same place. An allocation message says how much
was asked for. After a bare "Killed" look at `dmesg`, at `memory.events` of the control group, at
`sacct` or `kubectl describe pod`. If memory rises from step to step, read `memory-leak` instead.

Fix: ask for less (smaller batch, smaller image, float32 for float64, a generator or a memory map
for a whole data set), or allow more (memory limit of the job, swap, a bigger machine).

Folklore: too little memory does not end in SIGSEGV. It is SIGKILL or an error message; a
segmentation fault needs a program that ignores the failure. A warning like "Allocation exceeds 10%
of free system memory" is no error: that allocation was granted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import (
    Allocation,
    Checker,
    Death,
    Exit,
    Growth,
    MemoryKill,
    Notice,
    Op,
    Platform,
    Stack,
    Uncaught,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="memory-demand",
    title="one step needs more memory than there is",
    fix="Ask for less at once (batch, image, dtype, lazy loading), or raise the memory limit.",
    usually={"SIGSEGV": "null-pointer"},
)
NO_MEMORY = {"STATUS_NO_MEMORY", "STATUS_COMMITMENT_LIMIT"}
GIB = 1 << 30
CRASHES = {"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGSYS", "SIGTRAP"}
WHO = {
    "kernel": "the Linux OOM killer", "cgroup": "the container", "slurm": "Slurm", "kubernetes": "Kubernetes",
    "ray": "Ray", "lsf": "LSF", "pbs": "PBS", "sge": "Grid Engine", "condor": "HTCondor",
    "yarn": "YARN", "android": "the low memory killer of Android", "macos": "macOS memory pressure",
    "colab": "Colab", "kaggle": "Kaggle", "dask": "Dask", "aws": "AWS", "heroku": "Heroku",
    "streamlit": "Streamlit", "databricks": "Databricks",
}  # fmt: skip
# How memory grew in the readings of a run that was watched.
SHAPES = {
    "step": (Weight.STRONG, "memory grew by a leap"),
    "steady": (Weight.EXCLUDES, "memory grew steadily, not in one step"),
    "flat": (Weight.AGAINST, "memory did not grow"),
}
SAYS = {"cgroup": "it used more memory than its container may"}
FIXES = {
    "slurm": "Ask for more in the job script (--mem or --mem-per-cpu), or make the step smaller.",
    "kubernetes": "Raise resources.limits.memory of the container, or make the step smaller.",
    "cgroup": "Raise the memory limit (docker run --memory), or make the step smaller.",
}


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a step that needs too much, and against it."""
    if _only_on_gpu(case):
        yield from _of_the_gpu(case)
        return
    seen = case.first(Growth) and any(stack.crashed for stack in case.all(Stack))
    for kill in case.all(MemoryKill):
        name = WHO.get(kill.by, kill.by)
        value = f"{kill.limit_bytes} bytes" if kill.limit_bytes else None
        whom = Culprit(kind="limit", name=name, argument="memory limit", value=value)
        says = SAYS.get(kill.by, f"it was killed for memory by {name}")
        # Where Python was looked at meanwhile, the line that asked is to blame.
        yield Clue(Weight.STRONG, kill, says, None if seen else whom, FIXES.get(kill.by))
    yield from _refused(case)
    yield from _killed(case)
    for growth in case.all(Growth):
        yield Clue(SHAPES[growth.shape][0], growth, SHAPES[growth.shape][1])
    for notice in case.all(Notice):
        if notice.topic == "memory-grows":
            yield Clue(Weight.AGAINST, notice, "memory grew step by step, not in one step")


def _refused(case: Case) -> Iterator[Clue]:
    named = case.first(Op) is not None
    for asked in (asked for asked in case.all(Allocation) if asked.device == "host"):
        yield _asked(asked, named=named)
    for thrown in case.all(Uncaught):
        if "bad_alloc" in (thrown.type or "") or "bad_alloc" in (thrown.what or ""):
            yield Clue(Weight.STRONG, thrown, "an allocation failed")
    for found in case.all(Checker):
        if "allocation-size-too-big" in found.kind or "out-of-memory" in found.kind:
            yield Clue(Weight.FAIR, found, f"{found.tool} refused an allocation")
    for notice in case.all(Notice):
        if notice.topic == "allocation-failed":
            yield Clue(Weight.FAIR, notice, "an allocation failed, it is not said where")


def _asked(asked: Allocation, *, named: bool) -> Clue:
    """An allocation that failed; the shape is to blame where no operation has a name."""
    shape = None if asked.shape is None or named else str(list(asked.shape))
    arena = asked.allocator == "TFLite arena"
    much = (asked.asked_bytes or 0) >= GIB
    return Clue(
        Weight.PROOF if much or arena else Weight.STRONG,
        asked,
        "an allocation failed",
        Culprit(kind="argument", name="shape", argument="shape", value=shape) if shape else None,
        "Make the tensor arena bigger." if arena else None,
    )


def _killed(case: Case) -> Iterator[Clue]:
    """SIGKILL leaves no word: who sent it must be told from what is around it."""
    crashed = any(death.signal in CRASHES for death in case.all(Death))
    mac = any(place.system == "macos" for place in case.all(Platform))
    grew = any(notice.topic == "memory-grows" for notice in case.all(Notice))
    weight = Weight.SLIGHT if crashed else Weight.FAIR if mac or grew else Weight.STRONG
    for death in case.all(Death):
        if death.signal == "SIGKILL":
            yield Clue(weight, death, "SIGKILL without a word is nearly always the OOM killer")
    for ended in case.all(Exit):
        if ended.means in NO_MEMORY:
            yield Clue(Weight.STRONG, ended, f"it ended with {ended.means}")
    yield from _beside_it(case)


def _beside_it(case: Case) -> Iterator[Clue]:
    """What others say of the death: that it was for memory, or was not."""
    for notice in case.all(Notice):
        if notice.topic == "not-out-of-memory":
            yield Clue(Weight.EXCLUDES, notice, "nobody was killed for memory")
        elif notice.topic in {"ended-from-outside", "kill-typed"} and not case.first(MemoryKill):
            yield Clue(Weight.AGAINST, notice, f"it was ended from outside: {notice.text}")
        elif notice.topic == "big-allocation":
            yield Clue(Weight.SLIGHT, notice, "a very big allocation went before")


def _only_on_gpu(case: Case) -> bool:
    devices = {asked.device for asked in case.all(Allocation)}
    return devices == {"gpu"} and not case.first(MemoryKill)


def _of_the_gpu(case: Case) -> Iterator[Clue]:
    for asked in case.all(Allocation):
        yield Clue(Weight.EXCLUDES, asked, "it was the memory of the GPU that ran out")
