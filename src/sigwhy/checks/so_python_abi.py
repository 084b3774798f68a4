"""An extension module was built for another Python.

What happens: Python looks only at files whose names carry its own tag, so a module for 3.11 does not exist for 3.13 (ModuleNotFoundError). A file without a
tag, or one that was renamed, is loaded, and ends with "undefined symbol: _PyUnicode_Ready" or the like, or with "dynamic module does not define module
export function". What is loaded in spite of all that reads the interpreter's structures at wrong places, and dies with SIGSEGV. A module that brings
a second libpython has two interpreters in one process.

How to tell: the tag of the file name, the names ``Py…`` that it wants, and the function ``PyInit_`` that it has, against the interpreter of
the environment.

Fix: install or build the package with the interpreter that will load it; ``pip install --force-reinstall --no-deps PACKAGE``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.python_environment import PythonEnvironment
    from sigwhy.subjects.shared_object import SharedObject

CHECK = Check(
    id="so-python-abi",
    title="it was built for another Python",
    fix="install or build it with the Python that will load it",
)
# libpython3.9.so.1.0
LIBPYTHON = re.compile(r"^libpython3\.(\d{1,2})")
SHOWN = 3


def look(library: SharedObject) -> Iterator[Problem]:
    """Yield what of name, entry and symbols does not fit."""
    if not library.is_readable:
        return
    yield from _entry(library)
    env = library.env
    if env and env.version:
        yield from _tag(library, env)
        yield from _symbols(library, env)
        yield from _second(library, env.version)


def _tag(library: SharedObject, env: PythonEnvironment) -> Iterator[Problem]:
    told = library.module
    if not told or not told["minor"] or not (library.named or library.in_environment):
        return
    wanted = (3, int(told["minor"])), "t" in (told["flags"] or "")
    if wanted == (env.version, env.free_threaded) or _has_sibling(library, env):
        return
    yield CHECK.problem(
        f"its name says Python 3.{told['minor']}{told['flags'] or ''}; {_python(env)} does not look at it (ModuleNotFoundError)",
        severity="warning",
    )


def _has_sibling(library: SharedObject, env: PythonEnvironment) -> bool:
    """Whether the same module is there for this Python: some packages bring all."""
    name = library.module["name"] if library.module else ""
    tag = f"cpython-3{env.version[1] if env.version else ''}{'t' if env.free_threaded else ''}-"
    here = library.path.parent.glob(f"{name}.*so")
    return any(p.name.startswith((f"{name}.{tag}", f"{name}.abi3.", f"{name}.so")) for p in here)


def _entry(library: SharedObject) -> Iterator[Problem]:
    told = library.module
    if not told or not told["tag"] or not library.elf or not told["name"].isascii():
        return
    entry = f"PyInit_{told['name']}"
    wants_python = any(name.startswith(b"Py") for name in library.wants)
    if wants_python and not library.elf.exported(entry.encode()):
        yield CHECK.problem(
            f"it has no {entry}(): it was renamed, or is no module; importing it fails",
            fix=f"give the file its own name back, or build it with the module name {told['name']}",
        )


def _symbols(library: SharedObject, env: PythonEnvironment) -> Iterator[Problem]:
    names = [
        one.name.decode("utf-8", "replace") for one in library.missing if one.because == "python"
    ]
    if names:
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        yield CHECK.problem(
            f"{_python(env)} does not have {', '.join(names[:SHOWN])}{more}: it was built for another Python",
            severity="error" if library.named or library.in_environment else "warning",
            place=names[0],
        )


def _second(library: SharedObject, version: tuple[int, int]) -> Iterator[Problem]:
    for name in library.elf.needed if library.elf else ():
        told = LIBPYTHON.match(name)
        if told and (3, int(told[1])) != version:
            yield CHECK.problem(
                f"it loads {name}, a second interpreter, into Python {version[0]}.{version[1]}: SIGSEGV in the first call of either",
                fix="link it without -lpython, and build it with the Python that will load it",
                place=name,
            )


def _python(env: PythonEnvironment) -> str:
    version = f"Python {env.version[0]}.{env.version[1]}" if env.version else "this Python"
    return f"{version}{'t' if env.free_threaded else ''}"
