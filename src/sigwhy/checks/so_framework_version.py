"""A library was built for another version of its framework than the one that is installed.

What happens: TensorFlow promises nothing about its C++ interface from one minor version to the next, and has the
release of Abseil in its names, so that a custom op of another version is refused: "undefined symbol …lts_20230802…". What is not refused calls functions whose arguments have
changed, and dies with SIGSEGV. An extension that was built with the headers of NumPy 1 cannot be imported under NumPy 2.

How to tell: of TensorFlow, the tag of Abseil in the names that the file wants, beside the one in the framework of the environment.
Of NumPy, the name of the module that its import function asks for: ``numpy.core`` until 1.26, ``numpy._core`` since 2.0.

Fix: build it anew against the installed version, or install the version that it was built for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.shared_object import SharedObject

CHECK = Check(
    id="so-framework-version",
    title="it was built for another version of its framework",
    fix="build it anew against the version that is installed",
)
# The release of Abseil, and the versions of TensorFlow that were seen to have it.
TENSORFLOW = {
    b"20230125": "2.13 has",
    b"20230802": "2.16 and 2.18 have",
    b"20250127": "2.20 has",
    b"20250814": "2.21 has",
}
OLD_NUMPY, NEW_NUMPY = b"numpy.core._multiarray_umath", b"numpy._core._multiarray_umath"
ASKS_NUMPY = b"PyCapsule_GetPointer"


def look(library: SharedObject) -> Iterator[Problem]:
    """Yield one problem for the framework, and one for NumPy."""
    yield from _tensorflow(library)
    yield from _numpy(library)


def _tensorflow(library: SharedObject) -> Iterator[Problem]:
    wrong = [one for one in library.missing if one.because == "framework"]
    told = next((one.library for one in wrong if one.library), None)
    built, there = library.abseil, library.runtime_abseil(told) if told else None
    if not built or not there or not told:
        return
    installed = library.env.version_of("tensorflow", "tensorflow-cpu") if library.env else None
    name = f"TensorFlow {installed.version}" if installed else told
    yield CHECK.problem(
        f"it was built {_for(built)}, Abseil {built.decode()}, and {name} has Abseil {there.decode()}:"
        f" {len(wrong)} of the names that it wants are not there",
        place=told,
    )


def _for(tag: bytes) -> str:
    known = TENSORFLOW.get(tag)
    return f"with what TensorFlow {known}" if known else "for another version"


def _numpy(library: SharedObject) -> Iterator[Problem]:
    numpy = library.env.version_of("numpy") if library.env else None
    if not numpy or numpy.number < (2,) or ASKS_NUMPY not in library.wants:
        return
    if library.holds(OLD_NUMPY, NEW_NUMPY) == {OLD_NUMPY}:
        yield CHECK.problem(
            f"it was built with the headers of NumPy 1, and NumPy {numpy.version} is installed:"
            " the import fails ('compiled using NumPy 1.x cannot be run in NumPy 2', or 'numpy.dtype size changed')",
            fix="build it anew with NumPy 2 (it runs under both), or pip install 'numpy<2'",
            place="numpy",
        )
