"""A limit of the operating system was met: threads, files, processes, file size, CPU time.

What happens: the kernel refuses a new thread, a file descriptor or a bigger file. Libraries often do
not expect that: OpenBLAS, OpenMP and TensorFlow print one line and abort or crash, PyTorch says
"received 0 items of ancdata".

How to tell: the message names it: "Resource temporarily unavailable", "can't start new thread",
"Too many open files", "File size limit exceeded". `ulimit -a` and `cat /sys/fs/cgroup/pids.max` show
the numbers.

Fix: raise the limit that is named (`ulimit -n`, `ulimit -u`, `docker run --pids-limit`, /etc/security/
limits.conf), or need less: OMP_NUM_THREADS, OPENBLAS_NUM_THREADS, fewer workers, close files.

Folklore: "cannot create thread" is rarely lack of memory. In a container of an old Docker it can
be a forbidden call instead ("Operation not permitted"): upgrade Docker, see `sandbox`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Death, Limit, Notice, Place, Wrote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="os-limit",
    title="a limit of the operating system was met",
    fix="Raise the limit that is named, or use fewer threads, processes or open files.",
)
# How each limit is called, and what to do about it.
NAMES = {
    "threads": "number of threads (ulimit -u, pids.max)",
    "processes": "number of processes (ulimit -u, pids.max)",
    "descriptors": "open files (ulimit -n)",
    "file-size": "file size (ulimit -f)",
    "cpu-time": "CPU time (ulimit -t)",
    "stack": "stack size (ulimit -s)",
    "address-space": "address space (ulimit -v)",
    "data-segment": "data segment (ulimit -d)",
    "locked-memory": "locked memory (ulimit -l)",
    "maps": "memory maps (vm.max_map_count)",
    "watches": "file watches (fs.inotify.max_user_watches)",
}
FEWER = (
    "Raise the limit of processes (ulimit -u, docker run --pids-limit=-1), or use fewer threads: "
    "OMP_NUM_THREADS=4 OPENBLAS_NUM_THREADS=4, fewer workers."
)
FIXES = {
    "threads": FEWER,
    "processes": FEWER,
    "descriptors": "Raise `ulimit -n`, close files, or in PyTorch use "
    'torch.multiprocessing.set_sharing_strategy("file_system").',
    "file-size": "Raise `ulimit -f`, or write smaller files.",
    "cpu-time": "Raise `ulimit -t`, or ask the batch system for more CPU time.",
    "watches": "Raise fs.inotify.max_user_watches with sysctl.",
}
OF_THREADS = frozenset({"threads", "processes"})
SIGNALS = {"SIGXCPU": "cpu-time", "SIGXFSZ": "file-size"}


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a limit that was met."""
    for limit in case.all(Limit):
        if name := NAMES.get(limit.resource):
            yield Clue(
                Weight.PROOF,
                limit,
                f"the limit of {name} was met",
                culprit=_set_by_hand(case, limit)
                or Culprit(
                    kind="limit",
                    name=limit.who or name,
                    argument=limit.resource,
                    value=None if limit.limit is None else str(limit.limit),
                ),
                fix=_forbidden(limit) or FIXES.get(limit.resource),
            )
    for notice in case.all(Notice):
        if notice.topic == "memory-limit-met":
            yield _small(notice)
    yield from _stack_of_threads(case)
    for death in case.all(Death):
        if death.signal == "SIGKILL" and "ulimit -t" in (death.command or ""):
            yield Clue(
                Weight.PROOF,
                death,
                "`ulimit -t` sets the hard limit too, and that ends with SIGKILL",
                culprit=Culprit(kind="limit", name=NAMES["cpu-time"], argument="cpu-time"),
            )
        if resource := SIGNALS.get(death.signal):
            yield Clue(
                Weight.PROOF,
                death,
                f"{death.signal} means that the limit of {NAMES[resource]} was met",
                culprit=Culprit(kind="limit", name=NAMES[resource], argument=resource),
                fix=FIXES.get(resource),
            )


def _set_by_hand(case: Case, limit: Limit) -> Culprit | None:
    """A line of the user's own that asks for hundreds of threads, or that sets a limit."""
    if limit.resource not in OF_THREADS:
        return None
    for topic in ("threads", "limits"):
        for wrote in case.all(Wrote):
            if wrote.topic == topic:
                return Culprit(
                    kind="argument" if topic == "threads" else "limit",
                    name=wrote.call,
                    argument=limit.resource,
                    file=wrote.file,
                    line=wrote.line,
                )
    return None


def _stack_of_threads(case: Case) -> Iterator[Clue]:
    """A thread of OpenMP ran out of a stack whose size somebody had set."""
    guard = next((p for p in case.all(Place) if p.relation == "guard"), None)
    setting = next((n for n in case.all(Notice) if (n.subject or "").endswith("_STACKSIZE")), None)
    if guard and setting:
        name, _, value = setting.text.partition("=")
        blamed = Culprit(kind="limit", name=name, argument="stack", value=value)
        says = f"{setting.text} made the stacks of OpenMP's threads, and one of them ran out"
        yield Clue(Weight.PROOF, setting, says, blamed, f"Raise {name} (or unset it).")


def _small(notice: Notice) -> Clue:
    """A limit of memory that stood where the program failed."""
    resource, _, value = notice.text.partition(" ")
    return Clue(
        Weight.PROOF,
        notice,
        f"the limit of {NAMES[resource]} left no room",
        Culprit(
            kind="limit", name=notice.subject, argument=NAMES[resource], value=f"{value} bytes"
        ),
        f"Raise the limit ({NAMES[resource]}), or need less.",
    )


def _forbidden(limit: Limit) -> str | None:
    """Another fix, where the words are those of a refusal and not of a limit."""
    if "not permitted" not in limit.span.words:
        return None
    return (
        "Upgrade Docker (20.10.10 or newer) or libseccomp: the old ones forbid the call that newer "
        "C libraries make for a thread; `--security-opt seccomp=unconfined` proves it."
    )
