"""A binary wants a newer C or C++ run-time library than this system has.

What happens: each function of glibc, libstdc++ and their like carries the version in which it
appeared. A binary built on a newer system asks for a version that the library found here does not
define, and the loader refuses.

How to tell: "version `GLIBC_2.32' not found (required by …)". GLIBC_ belongs to the C library, that
is, to the operating system. GLIBCXX_, CXXABI_ and GOMP_ belong to the compiler's run time, which
can be replaced alone; the library that the message names first is the one that is too old.

Fix: for GLIBC_: a newer system or container image, or an older wheel. For GLIBCXX_ and CXXABI_: a
newer libstdc++.so.6 found first (conda install -c conda-forge libstdcxx-ng).

Folklore: never put a foreign libc.so.6 on LD_LIBRARY_PATH; the loader and the C library must match.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import LoadFailure, Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="os-library-too-old",
    title="a library of this system is older than the binary needs",
    fix="Use a newer system or container image, or an older build of the package.",
)
LIBC = re.compile(r"^GLIBC_(?!PRIVATE)\d")
RUN_TIME = re.compile(r"^(?:GLIBCXX|CXXABI|GCC|GOMP|OMP|GFORTRAN|QUADMATH|LIBATOMIC|LIBGCC|OACC)_")
# Names that came late: C++ standard library, and the C library by version.
STANDARD = re.compile(
    r"^_{1,3}ZN?K?T?[VIS]?N?K?St|^_{1,3}ZT[VIS]N?St|^_?__cxa_|^_?__gxx_personality"
)
LATE = re.compile(
    r"^_?(?:__isoc23_\w+|fcntl64|gettid|getrandom|getentropy|pthread_cond_clockwait|arc4random\w*|strlcpy|strlcat"
    r"|__libc_single_threaded|_dl_find_object|__libc_start_main|secure_getenv|clock_gettime|memfd_create|statx|lstat64|stat64"
    r"|aligned_alloc|timespec_get|____chkstk_darwin|cblas_\w+\$NEWLAPACK\S*|OBJC_CLASS_\$_\w+|os_\w+|objc_\w+)$"
)
APPLE = re.compile(r"^/usr/lib/|^/System/Library/")
OF_THE_SYSTEM = re.compile(r"^/(?:usr/)?lib(?:32|64|x32)?/")
NEWER_CXX = (
    "Let a newer libstdc++.so.6 be found first: conda install -c conda-forge libstdcxx-ng, or a newer "
    "system; check LD_LIBRARY_PATH."
)
OWN_CXX = (
    "{0} is not the system's: update it (conda install -c conda-forge libstdcxx-ng), or take its "
    "folder off LD_LIBRARY_PATH so that the system's own is found."
)


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a system that is too old."""
    for failure in case.all(LoadFailure):
        missing = failure.missing or ""
        if failure.kind == "version":
            yield from _version(failure, missing)
        elif failure.kind == "symbol":
            yield from _symbol(failure, missing.split(",")[0].split("@")[0])
    for notice in case.all(Notice):
        if notice.topic == "kernel-too-old":
            yield Clue(Weight.PROOF, notice, "glibc refuses this kernel as too old")


def _version(failure: LoadFailure, missing: str) -> Iterator[Clue]:
    library, needed_by = failure.library, failure.needed_by
    if LIBC.match(missing):
        fix = f"The C library of this system lacks {missing}: take a newer system or container image, or an older wheel."
        says = f"the C library of this system does not have {missing}"
        yield Clue(Weight.PROOF, failure, says, _blame(needed_by or library), fix)
    elif RUN_TIME.match(missing):
        fix = NEWER_CXX
        if library and not OF_THE_SYSTEM.match(library):
            fix = OWN_CXX.format(library)
        says = f"{_name(library) or 'the run-time library'} does not have {missing}"
        yield Clue(Weight.PROOF, failure, says, _blame(library or needed_by), fix)
    elif "running OS" in failure.span.words or "load command" in missing:
        says = "it was built for a newer macOS than this one"
        yield Clue(Weight.PROOF, failure, says, _blame(library))


def _symbol(failure: LoadFailure, symbol: str) -> Iterator[Clue]:
    library = failure.needed_by or failure.library
    if failure.needed_by and failure.library and APPLE.match(failure.library):
        says = "a library of macOS does not have a name that the binary needs"
        yield Clue(Weight.PROOF, failure, says, _blame(failure.needed_by))
    elif STANDARD.match(symbol):
        says = "a name of the C++ standard library is missing"
        yield Clue(Weight.PROOF, failure, says, _blame(library), NEWER_CXX)
    elif LATE.match(symbol):
        says = "a name is missing that only newer systems have"
        yield Clue(Weight.PROOF, failure, says, _blame(library))


def _blame(path: str | None) -> Culprit | None:
    return Culprit(kind="library", name=_name(path), library=path) if path else None


def _name(path: str | None) -> str | None:
    return PurePosixPath(path).name if path else None
