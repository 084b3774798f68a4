"""Packages bring different OpenMP runtimes into one process.

What happens: OpenMP keeps threads and locks for the whole process. LLVM's and Intel's abort when they find each other: ``OMP: Error #15:
Initializing libiomp5.so, but found libomp.so already initialized`` (SIGABRT). GNU's beside one of them gives wrong thread counts,
deadlocks after a fork, and sometimes SIGSEGV.

How to tell: the libraries of the environment that export an OpenMP runtime: ``__kmpc_fork_call`` (LLVM, Intel) or only ``GOMP_parallel``
(GNU). Whether both are loaded depends on what the program imports; so it is a warning.

Fix: let all packages come from one source (all of conda-forge, or all from PyPI), or import in the order in which it works.
``KMP_DUPLICATE_LIB_OK=TRUE`` hides the message, not the danger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.machine.elf import NotElfError
from sigwhy.machine.loader import at
from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.python_environment import PythonEnvironment

CHECK = Check(
    id="env-two-openmp",
    title="two OpenMP runtimes may meet in one process",
    fix="let all packages come from one source, or do without one of the two packages",
    severity="warning",
)
NAMES = ("libgomp", "libiomp", "libomp")
LLVM, GNU = b"__kmpc_fork_call", b"GOMP_parallel"


def look(env: PythonEnvironment) -> Iterator[Problem]:
    """Yield one problem for the environment."""
    found: dict[str, list[Path]] = {"LLVM": [], "GNU": []}
    for path in env.objects:
        if path.name.startswith(NAMES) and (kind := _kind(path)):
            found[kind].append(path)
    llvm = _different(found["LLVM"])
    if len(llvm) > 1:
        yield CHECK.problem(
            f"{_listed(env, llvm)} are runtimes of LLVM's kind; where both are loaded: 'OMP: Error #15', SIGABRT",
            place=env.shown(llvm[0]),
        )
    elif llvm and found["GNU"]:
        both = [llvm[0], found["GNU"][0]]
        yield CHECK.problem(
            f"{_listed(env, both)} are two OpenMP runtimes; where both are loaded threads may wait for ever after a fork",
            severity="warning" if {path.name for path in both} <= env.linked else "note",
            confidence="possible",
            place=env.shown(llvm[0]),
        )


def _kind(path: Path) -> str | None:
    try:
        elf = at(path)
    except (OSError, NotElfError):
        return None
    if elf.exported(LLVM):
        return "LLVM"
    return "GNU" if elf.exported(GNU) else None


def _different(paths: list[Path]) -> list[Path]:
    """Links and copies of the same size are one runtime."""
    return list({path.stat().st_size: path for path in reversed(paths)}.values())[::-1]


def _listed(env: PythonEnvironment, paths: list[Path]) -> str:
    return " and ".join(env.shown(path) for path in paths)
