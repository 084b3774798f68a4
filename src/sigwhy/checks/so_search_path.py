"""A library looks for others in a folder that is not there, or that anybody may fill.

What happens: a run path (RPATH, RUNPATH) that was written when the library was built goes before the folders of the system. One that is relative, or empty, means the
current folder: which library is loaded depends on where the program was started, and a foreign one runs with your rights. One that leads to the machine of
the builder finds nothing here, or something else.

How to tell: the dynamic table. Paths that begin with $ORIGIN lie beside the library and are as they should be. Between two colons the empty name stands for the current folder.
Of an installed package it is a note.

Fix: link with ``-Wl,-rpath,'$ORIGIN'``, or change it with ``patchelf --set-rpath '$ORIGIN' FILE``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.machine.loader import ORIGIN, expanded
from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem, Severity
    from sigwhy.subjects.shared_object import SharedObject

CHECK = Check(
    id="so-search-path",
    title="its run path leads nowhere, or anywhere",
    fix="set it with patchelf --set-rpath '$ORIGIN'",
    severity="warning",
)
FOR_ALL = ("/tmp/", "/var/tmp/", "/dev/shm/")  # noqa: S108 -- these are the folders that we warn of


def look(library: SharedObject) -> Iterator[Problem]:
    """Yield each folder that is relative, for everybody, or not there."""
    elf = library.elf
    if not elf or not library.is_readable or not elf.needed:
        return
    kind = "RUNPATH" if elf.runpath else "RPATH"
    paths = (*elf.runpath, *elf.rpath)
    severity: Severity = "note" if library.in_environment else "warning"  # a package's own affair
    for folder in dict.fromkeys(paths):
        if folder.startswith((*ORIGIN, "$LIB", "$PLATFORM")):
            continue
        if not folder.startswith("/"):
            says = f"the {kind} {':'.join(paths)!r} holds the folder where the program is started"
            yield CHECK.problem(says, severity=severity, place=kind)
        elif f"{folder}/".startswith(FOR_ALL):
            says = f"anybody may put libraries into the {kind} {folder}"
            yield CHECK.problem(says, severity=severity, place=folder)
        elif not library.in_environment and not expanded(folder, library.path).is_dir():
            says = f"the {kind} {folder} is not on this machine"
            yield CHECK.problem(says, severity="note", place=folder)
