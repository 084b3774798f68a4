"""The call of an installed package that the user's code made, by the Python frames of a thread.

The outermost frame of the package is what the user called: ``scipy.sparse.csr_matrix.__matmul__``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.model.blame import WRAPS, is_installed
from sigwhy.model.fact import Frame
from sigwhy.operations.packages import framework_of
from sigwhy.operations.variables import is_own

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sigwhy.model.incident import PythonFrame
    from sigwhy.model.operation import Framework

INSTALLED = re.compile(r"/(?:site|dist)-packages/(?P<path>[\w./-]+)\.py$")
OBJECT = re.compile(r"^<(?:[\w.]*\.)?(?P<kind>\w+) at 0x")
UNNAMED = frozenset({"core", "lib"})  # folders that are private, whatever they are called
METHODS = re.compile(r"/numpy/_?core/_methods\.py$")  # what the methods of arrays go on to
BUILT_IN = re.compile(r"^<built-in (?P<name>\w+)>$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonCall:
    """What was called, of which framework, and the built-in function that the package went on to."""

    framework: Framework
    name: str
    inner: str = ""


def python_call(frames: Sequence[PythonFrame]) -> PythonCall | None:
    """The call of a package that is running; None where the user's code called native code itself."""
    first = next((n for n, frame in enumerate(frames) if is_own(frame)), len(frames))
    calls = [f for f in frames[:first] if _is_installed(f) and not _carries(f)]
    if not calls:
        return None
    outermost, innermost = calls[-1], calls[0]
    framework = framework_of(outermost.file)
    if framework is None:
        return None
    found = (BUILT_IN.match(value) for value in innermost.locals.values())
    built_in = next((one["name"] for one in found if one), "")
    return PythonCall(framework=framework, name=name(outermost), inner=built_in)


def name(frame: PythonFrame) -> str:
    """What a user calls a function of a package: private folders and files are left out."""
    found = INSTALLED.search(frame.file)
    parts = found["path"].split("/") if found else []
    shown: list[str] = []
    for part in parts:
        if part.startswith("_") or part in UNNAMED:
            break  # what is private is no part of a name, nor what lies below it
        shown += [part] if part not in shown[-1:] else []
    of = OBJECT.match(frame.locals.get("self", ""))
    if of and len(shown) == len(parts) > 1:
        shown.pop()  # a class is imported from the package, and not from the file
    return ".".join((*shown, *((of["kind"],) if of else ()), frame.function.rpartition(".")[2]))


def _carries(frame: PythonFrame) -> bool:
    return bool(WRAPS.match(frame.function) or METHODS.search(frame.file))


def _is_installed(frame: PythonFrame) -> bool:
    return is_installed(Frame(function=frame.function, file=frame.file, language="python"))
