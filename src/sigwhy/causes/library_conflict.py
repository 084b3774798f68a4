"""Two libraries in one process claim the same thing: names, memory, or the little there is of TLS.

What happens: the loader gives every name to the library that came first. Where two packages bring
the same functions (libstdc++ linked statically, libuv, zlib), one calls the other's copy, with
other data behind it. Two allocators free each other's memory. Or the room for static thread-local
storage, shared out at start, is used up. So the order of imports decides.

How to tell: "static TLS"; a crash that goes away when imports change places; an invalid free in
tcmalloc; a function of one library that lies in the file of another.

Fix: import the library that crashes first; take both from one source; remove LD_PRELOAD.

Folklore: reinstalling one of the two rarely helps; a crash at import proves no conflict (SIGILL).
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from sigwhy.model import fact
from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.home import CXX, LOCALE, NATIVE, ONCE, STREAM, borrowed, user, where
from sigwhy.model.typed import imported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Frame, HeapDamage, LoadFailure, Ran, Stack

CAUSE = Cause(
    id="library-conflict",
    title="two libraries in one process are in each other's way",
    fix="Import the library that crashes first, or take both from one source; remove LD_PRELOAD.",
)
TLS_FIX = "Import this library before all others, or start Python with LD_PRELOAD={0}."
ALLOCATOR_FIX = "Let one allocator serve the whole process: preload it from the start or never."
TOPICS = {
    "run-time-brought-along": (Weight.STRONG, "it died in a C++ run time that a package brought along, not in that of Windows"),
    "class-twice": (Weight.FAIR, "macOS found one class in two libraries"),
    "two-glibcs": (Weight.FAIR, "parts of two C libraries were mixed"),
    "llvm-twice": (Weight.PROOF, "two copies of LLVM are in the process"),
    "flags-twice": (Weight.PROOF, "two copies of one library defined the same flags"),
    "framework-twice": (Weight.PROOF, "two copies of the framework registered the same thing"),
    "binding-twice": (Weight.PROOF, "two modules registered the same class"),
    "library-loaded-twice": (Weight.SLIGHT, "two copies of a library are loaded, which often goes well"),
    "other-version-first": (Weight.PROOF, "another version of the library than it was built for came first"),
}  # fmt: skip
# Versions that are no part of the compiler's or the system's run time: somebody's other copy.
RUN_TIME = re.compile(r"^(?:GLIBC(?!_PRIVATE)|GLIBCXX|CXXABI|GCC|GOMP|OMP|GFORTRAN|QUADMATH|LIBATOMIC|OACC)_")  # fmt: skip
NVIDIA = re.compile(r"nvJitLink|libcu(?!rl)|libnv|libnccl")
DATA = re.compile(r"^(?:PyArray_API|_PyRuntime|PyUFunc_API|_ZTV\w+|PyExc_\w+)(?:\(\))?$")
STARTS = re.compile(r"_GLOBAL__sub_I|call_init|_dl_init|dl_open_worker|_import_array|__static_initialization|ImageLoaderMachO|^_?dlopen")  # fmt: skip
# A library of a package, not the run time itself; apps on Android have their own by design.
OWN_COPY = re.compile(r"^(?!.*(?:libstdc\+\+|libc\+\+|/data/)).*\.(?:so|dylib|pyd)\b")
NOWHERE = re.compile(rf"^(?:\?\?)?$|{DATA.pattern}")
BESIDE = (fact.Death, fact.HeapDamage, fact.Ran, fact.Exit, fact.Platform, fact.Version, fact.Log)
LOADERS = {"create_module", "load_dynamic", "_call_with_frames_removed"}


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for two libraries in each other's way."""
    for failure in case.all(fact.LoadFailure):
        yield from _refused(failure)
    for damage in case.all(fact.HeapDamage):
        yield from _damaged(case, damage)
    for notice in (n for n in case.all(fact.Notice) if n.topic in TOPICS):
        weight, says = TOPICS[notice.topic]
        yield Clue(weight, notice, says, Culprit(kind="library", name=notice.subject))
    for stack in case.all(fact.Stack):
        if stack.crashed and stack.role == "fault" and stack.language == "native":
            yield from _frames(stack)
    yield from _imports(case)


def _damaged(case: Case, damage: HeapDamage) -> Iterator[Clue]:
    if damage.allocator in ("tcmalloc", "jemalloc", "mimalloc"):
        says = f"{damage.allocator} was given memory that another allocator made"
        whom = Culprit(kind="library", name=f"lib{damage.allocator}")
        yield Clue(Weight.STRONG, damage, says, whom, ALLOCATOR_FIX)
    loading = (s for s in case.all(fact.Stack) if s.crashed and s.language == "python")
    if any(f.function in LOADERS for s in loading for f in s.frames[:2]):
        says = "the heap was damaged while a compiled module was being loaded"
        yield Clue(Weight.STRONG, damage, says)


def _refused(failure: LoadFailure) -> Iterator[Clue]:
    library = failure.library
    name = PurePosixPath(library).name if library else None
    whom = Culprit(kind="library", name=name, library=library) if name else None
    missing = failure.missing or ""
    if failure.kind == "tls":
        says = "there is no room left for its static thread-local storage"
        yield Clue(Weight.PROOF, failure, says, whom, TLS_FIX.format(library or "THE_LIBRARY"))
    elif failure.kind in ("version", "symbol") and not NVIDIA.search(f"{library} {missing}"):
        version = missing if failure.kind == "version" else missing.partition(", version ")[2]
        if (
            version
            and not RUN_TIME.match(version)
            and not re.search("running OS|load command", failure.span.words)
        ):
            says = "another copy of the library was found first, without the version that is wanted"
            yield Clue(Weight.STRONG, failure, says, whom)


def _frames(stack: Stack) -> Iterator[Clue]:
    frames = stack.frames
    yield from _two_standard_libraries(stack, frames[:10])
    if frames and DATA.match(frames[0].function or ""):
        says = "it jumped into data: a name of one library was taken from another"
        yield Clue(Weight.STRONG, stack, says, _owner(frames[0]))
    if any(ONCE.search(f.function or "") for f in frames[1:4]) and NOWHERE.match(
        frames[0].function or ""
    ):
        says = "call_once jumped into nothing: two C++ run times share its thread-local pointer"
        yield Clue(Weight.STRONG, stack, says, user(frames))
    if any(STARTS.search(f.function or "") for f in frames[:25]):
        yield Clue(Weight.FAIR, stack, "it died while a library was being loaded", user(frames))
    for frame, name in borrowed(frames):
        says = f"functions of {name} were taken from another package's library"
        yield Clue(Weight.PROOF, stack, says, _owner(frame))


def _two_standard_libraries(stack: Stack, frames: tuple[Frame, ...]) -> Iterator[Clue]:
    inner = [f for f in frames if LOCALE.search(f.function or "")]
    streams = [f for f in frames if STREAM.search(f.function or "")]
    if own := next((f for f in inner if OWN_COPY.search(where(f))), None):
        whom = Culprit(kind="library", name=where(own), library=where(own), function=own.function)
        says = "the C++ standard library was called inside a package's own copy of it"
        yield Clue(Weight.STRONG, stack, says, whom)
    elif (inner or streams) and CXX.search(where(frames[0])) and (whose := user(frames)):
        whom = Culprit(kind="library", name="libstdc++", library=whose.library, function=whose.name)
        says = "it died in the streams and locales of libstdc++, which a package calls with its own"
        yield Clue(Weight.STRONG if inner else Weight.FAIR, stack, says, whom)


def _imports(case: Case) -> Iterator[Clue]:
    """A crash while nothing was done but to import several native packages."""
    deaths = (d for d in case.all(fact.Death) if d.signal in ("SIGSEGV", "SIGABRT", "SIGBUS"))
    died = case.first(fact.HeapDamage) or next(deaths, None)
    if not died or not all(isinstance(f, BESIDE) for f in case.facts):
        return
    names: dict[str, Ran] = {}
    for name, ran in imported(case):
        if name in NATIVE or isinstance(died, fact.HeapDamage):
            names.setdefault(name, ran)
    typed = [ran.command for ran in case.all(fact.Ran) if ran.language == "python"]
    if len(names) > 1 and names.keys() & NATIVE and (not typed or "import " in typed[-1]):
        first = next(iter(names))
        says = f"it died when {' and '.join(names)} were imported one after the other"
        fix = f"Import {list(names)[-1]} before {first}, or take both from one source."
        yield Clue(Weight.STRONG, names[first], says, Culprit(kind="package", name=first), fix)


def _owner(frame: Frame) -> Culprit:
    path = PurePosixPath(where(frame))
    name = "numpy" if "numpy" in path.parts else path.name
    return Culprit(kind="library", name=name, library=where(frame), function=frame.function)
