"""A function or variable that a shared object uses is defined by nobody.

What happens: Python loads extensions so that every name must be found at once. One that is not ends the import with
"undefined symbol"; ``tf.load_op_library`` raises NotFoundError. A library that is loaded lazily dies later, with exit status 127, in the
first call of the missing function.

How to tell: the name is in the symbol table without a definition, it is not weak, and neither the libraries that are
loaded with the file, nor the interpreter, nor any library of the environment has it. A plug-in of an installed package is a note only.

Fix: name the library that has it when you link; compile the source that should define it; or build anew against the
package that is installed, when a newer version has dropped the name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.machine.demangle import demangled
from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem, Severity
    from sigwhy.subjects.shared_object import SharedObject

CHECK = Check(
    id="so-missing-symbol",
    title="it uses a name that nobody defines",
    fix="link it with the library that has the name, or build it anew against what is installed",
)
SHOWN = 3
LONGEST = 100


def look(library: SharedObject) -> Iterator[Problem]:
    """Yield one problem for all names of a file: they have one reason more often than not."""
    names = [one.name for one in library.missing if one.because == "absent"]
    if not names:
        return
    shown = "; ".join(_readable(name) for name in names[:SHOWN])
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    yield CHECK.problem(
        f"nothing that is loaded with it defines {shown}{more}: 'undefined symbol'",
        severity=_severity(library),
        confidence="certain" if library.named else "likely",
        place=names[0].decode("utf-8", "replace")[:LONGEST],
    )


def _severity(library: SharedObject) -> Severity:
    if library.is_plugin:
        return "note"
    return "error" if library.named or not library.env else "warning"


def _readable(name: bytes) -> str:
    words = demangled(name.decode("utf-8", "replace"))
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}…"
