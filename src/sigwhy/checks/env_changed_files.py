"""A library of a package is not the one that was installed.

What happens: an installation that was cut short (a full disk, a stopped pip), or a second package that wrote over the first, leaves
libraries that do not fit each other. They end in ``file too short``, ``undefined symbol``, SIGBUS or SIGSEGV during import.

How to tell: the size of each library against the list that the package brought (RECORD). Of a file that two packages claim, only the last
one can be right.

Fix: ``pip install --force-reinstall --no-deps --no-cache-dir PACKAGE==VERSION``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.python_environment import PythonEnvironment

CHECK = Check(
    id="env-changed-files",
    title="a library is not the one that was installed",
    fix="pip install --force-reinstall --no-deps --no-cache-dir PACKAGE",
)


def look(env: PythonEnvironment) -> Iterator[Problem]:
    """Yield each library that is shorter, longer, or gone."""
    for one in env.installed:
        for name, size in one.objects.items():
            path = env.site / name
            there = _size(path)
            if there == size:
                continue
            says = (
                "is gone"
                if there is None
                else f"has {there:,} bytes, and was installed with {size:,}"
            )
            torn = there is not None and there < size
            yield CHECK.problem(
                f"{name} of {one.name} {one.version} {says}",
                severity="error" if torn else "warning",
                confidence="likely",
                fix=f"pip install --force-reinstall --no-deps --no-cache-dir {one.name}=={one.version}",
                place=name,
            )


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
