"""Two OpenMP run times are in one process.

What happens: NumPy with MKL brings Intel's libiomp5, PyTorch, scikit-learn, XGBoost or LightGBM bring
libomp or libgomp of their own. Each keeps threads and barriers for itself and believes to be alone.
Intel's and LLVM's recognise each other and abort; others run on and may hang or crash in a worker.

How to tell: "OMP: Error #15: Initializing X, but found Y already initialized"; scikit-learn's warning
that Intel OpenMP and LLVM OpenMP are loaded together; on macOS a crash in libomp's own functions
(__kmp_suspend, __kmp_fork_barrier).

Fix: one run time: install all packages from one source (all conda-forge, or all pip), remove the
copy inside a package, or on macOS link to the one libomp of Homebrew. OMP_NUM_THREADS=1 avoids most
crashes.

Folklore: KMP_DUPLICATE_LIB_OK=TRUE only silences the check. The two run times are still there, and
results may be wrong without a word.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Notice, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Frame

CAUSE = Cause(
    id="openmp-duplicate",
    title="two OpenMP run times are in one process",
    fix="Keep one: install all packages from one source (all conda-forge or all pip), or remove the second copy.",
    usually={"SIGABRT": "check-failed"},
)
# topic: weight, what it says
TOPICS = {
    "openmp-twice": (Weight.PROOF, "an OpenMP run time found another one in the process"),
    "openmp-both": (Weight.STRONG, "two incompatible OpenMP run times are loaded"),
    "openmp-layer": (Weight.STRONG, "MKL wants Intel's OpenMP and found GNU's"),
    "openmp-frame": (Weight.STRONG, "it died inside the OpenMP run time itself"),
    "openmp-loaded-twice": (Weight.SLIGHT, "two OpenMP run times are loaded, which often goes well"),
    "openmp-assert": (Weight.SLIGHT, "the OpenMP run time found itself damaged"),
    "openmp-system-call": (Weight.DOUBT, "a system call failed: that is the sandbox, not a second run time"),
}  # fmt: skip
INTEL = re.compile(r"^_{0,2}(?:kmp|ompc?|kmpc|__kmp|__kmpc)_|^kmp_flag")
GNU = re.compile(r"^(?:GOMP|gomp)_")
LIBRARY = re.compile(
    r"(?:^|/)(?P<name>lib(?:iomp5?|omp\d*|gomp)(?:-[\w+-]+)?(?=\.|$)|libiomp5md|vcomp\d+)\b"
)
WAITING = re.compile(
    r"^_*(?:psynch_\w+|pthread_cond_\w+|futex\w*|poll|select|nanosleep|swtch_pri|syscall)"
)
INNERMOST = 3


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for two OpenMP run times."""
    for notice in case.all(Notice):
        if row := TOPICS.get(notice.topic):
            name = notice.subject or "OpenMP"
            yield Clue(row[0], notice, row[1], Culprit(kind="library", name=name, library=name))
    for stack in case.all(Stack):
        if stack.crashed and stack.role == "fault" and stack.language == "native":
            yield from _frames(stack)


def _frames(stack: Stack) -> Iterator[Clue]:
    inner = stack.frames[:INNERMOST]
    if any(WAITING.match(f.function or "") for f in inner):
        return
    own = next((f for f in inner if _is_openmp(f)), None)
    if own and own in inner[:2]:
        apple = any(
            ".dylib" in (f.library or "") or (f.library or "") in ("libomp", "libiomp5")
            for f in inner
        )
        says = TOPICS["openmp-frame"][1]
        yield Clue(Weight.STRONG if apple else Weight.FAIR, stack, says, _blame(own))
    homes = {found["name"] for f in stack.frames if (found := LIBRARY.search(f.library or ""))}
    kinds = {bool(GNU.match(f.function or "")) for f in stack.frames if _is_openmp(f)}
    whom = _blame(own) if own else None
    if len(homes) > 1 or len(kinds) > 1:
        yield Clue(Weight.STRONG, stack, "two OpenMP run times are on one stack", whom)


def _is_openmp(frame: Frame) -> bool:
    function = frame.function or ""
    return bool(INTEL.match(function) or GNU.match(function) or LIBRARY.search(frame.library or ""))


def _blame(frame: Frame) -> Culprit:
    found = LIBRARY.search(frame.library or "")
    name = found["name"] if found else "OpenMP"
    return Culprit(kind="library", name=name, library=frame.library, function=frame.function)
