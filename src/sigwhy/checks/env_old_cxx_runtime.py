"""A package brings a libstdc++ that is older than others need.

What happens: of libraries with the same name the loader keeps the first one. Where a package brings its own ``libstdc++.so.6``, an older
one, and is imported first, the import of another fails: ``version `GLIBCXX_3.4.30' not found``.

How to tell: a file in the environment that calls itself ``libstdc++.so.6`` and lacks a version that another library there wants.

Fix: update the package that brings it, or ``conda install -c conda-forge libstdcxx-ng``; wheels from PyPI should bring none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.machine.elf import NotElfError
from sigwhy.machine.loader import at
from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sigwhy.machine.elf import Elf
    from sigwhy.model.problem import Problem
    from sigwhy.subjects.python_environment import PythonEnvironment

CHECK = Check(
    id="env-old-cxx-runtime",
    title="an old libstdc++ may be loaded first",
    fix="update the package that brings it, or conda install -c conda-forge libstdcxx-ng",
    severity="warning",
)
NAME = "libstdc++.so.6"


def look(env: PythonEnvironment) -> Iterator[Problem]:
    """Yield each that is too old for its neighbours."""
    objects = [(path, elf) for path in env.objects if (elf := _elf(path))]
    for path, runtime in objects:
        if runtime.soname != NAME or not runtime.versions:
            continue
        for other, elf in objects:
            lacking = _lacking(elf, runtime)
            if lacking:
                yield CHECK.problem(
                    f"{env.shown(path)} does not have {lacking}, which {env.shown(other)} wants",
                    place=env.shown(path),
                )
                break


def _lacking(elf: Elf, runtime: Elf) -> str | None:
    wanted = (one.name for one in elf.needed_versions if one.library == NAME)
    return next((name for name in wanted if name not in runtime.versions), None)


def _elf(path: Path) -> Elf | None:
    try:
        elf = at(path)
    except (OSError, NotElfError):
        return None
    return elf if elf.bits == 64 else None
