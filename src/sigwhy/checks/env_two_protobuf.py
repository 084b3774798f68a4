"""Two packages bring protobuf for C++, and show it to each other.

What happens: protobuf keeps one list of message types for the whole process. Two libraries that export it share it by accident, of
different versions: ``File already exists in database``, ``CHECK failed``, SIGABRT, or SIGSEGV while the second one is imported.

How to tell: libraries of different packages that export ``google::protobuf::DescriptorPool::generated_pool``. It matters when one of them
is loaded for all (RTLD_GLOBAL), as TensorFlow's framework was; so it is possible, not certain.

Fix: keep to versions whose packages hide it; import TensorFlow first; or use the packages in two processes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.machine.elf import NotElfError
from sigwhy.machine.loader import at
from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.python_environment import PythonEnvironment

CHECK = Check(
    id="env-two-protobuf",
    title="two protobuf libraries may meet in one process",
    fix="import TensorFlow first, or use the packages in two processes",
    severity="warning",
)
POOL = b"_ZN6google8protobuf14DescriptorPool14generated_poolEv"


def look(env: PythonEnvironment) -> Iterator[Problem]:
    """Yield one problem for the environment."""
    found: dict[str, Path] = {}
    for path in env.objects:
        if _exports(path):
            found.setdefault(Path(env.shown(path)).parts[0].removesuffix(".libs"), path)
    if len(found) > 1:
        names = [env.shown(path) for path in found.values()]
        yield CHECK.problem(
            f"{' and '.join(names[:4])} each export a protobuf for C++",
            confidence="possible",
            place=names[0],
        )


def _exports(path: Path) -> bool:
    try:
        return at(path).exported(POOL) is not None
    except (OSError, NotElfError):
        return False
