"""An environment variable sends Python or the loader to the wrong place.

What happens: PYTHONHOME, PYTHONPATH, LD_LIBRARY_PATH and LD_PRELOAD decide where the interpreter
finds its own modules and which libraries come first. Set for one program and inherited by another,
they mix two Pythons or two sets of libraries.

How to tell: "No module named 'encodings'", "Could not find platform independent libraries", "SRE
module mismatch" (modules of another Python were found), a traceback that runs through the folders
of two Python versions, GLIBC_PRIVATE symbols that are missing.

Fix: unset the variable (env -u PYTHONHOME -u PYTHONPATH …), and run again; `python -I` ignores
Python's own variables.

Folklore: reinstalling Python does not help while the variable is set.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Notice, PythonError, PythonFatal, Ran, Stack, Uncaught

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="environment",
    title="an environment variable sends the process to the wrong place",
    fix="Unset PYTHONHOME and PYTHONPATH (and LD_PRELOAD, LD_LIBRARY_PATH) and run again.",
)
HOME_FIX = "Unset PYTHONHOME (env -u PYTHONHOME …); it names a folder that is not this Python's."
# topic: weight, what it says, variable, fix
TOPICS = {
    "no-encodings": (Weight.PROOF, "Python did not find its own modules at start", None, None),
    "python-home-lost": (Weight.FAIR, "Python did not find the folder it was installed in", "PYTHONHOME", HOME_FIX),
    "pythonhome-set": (Weight.FAIR, "PYTHONHOME was set", "PYTHONHOME", HOME_FIX),
    "pythonpath-set": (Weight.SLIGHT, "PYTHONPATH was set", "PYTHONPATH", None),
    "stdlib-of-other-python": (Weight.PROOF, "modules of another Python version were loaded", "PYTHONPATH", "Unset PYTHONPATH and PYTHONHOME: they name the library of another Python."),
    "no-site": (Weight.FAIR, "Python could not import its site module", None, None),
    "two-glibcs": (Weight.FAIR, "parts of two C libraries were mixed", "LD_LIBRARY_PATH", "Take the foreign libc off LD_LIBRARY_PATH and LD_PRELOAD."),
    "numpy-other-python": (Weight.SLIGHT, "NumPy's compiled part is for another Python", "PYTHONPATH", None),
    "preload-refused": (Weight.SLIGHT, "a library of LD_PRELOAD was refused", "LD_PRELOAD", None),
}  # fmt: skip
LOST = re.compile(r"init_fs_encoding|initfsencoding|filesystem (?:codec|encoding)")
VERSION = re.compile(r"[/\\][Pp]ython(?P<version>\d\.\d{1,2}|[23]\d{1,2})[/\\]")
SET = re.compile(r"\b(?P<name>PYTHONHOME|PYTHONPATH|LD_LIBRARY_PATH|LD_PRELOAD|DYLD_\w+)=\S")


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a misleading environment."""
    for notice in case.all(Notice):
        if row := TOPICS.get(notice.topic):
            weight, says, name, fix = row
            yield Clue(weight, notice, says, _variable(name), fix)
    yield from _start_failed(case)
    for stack in case.all(Stack):
        if stack.language == "python":
            yield from _two_pythons(stack)
    for ran in case.all(Ran):
        if found := SET.search(ran.command):
            says = f"{found['name']} was set for the command"
            yield Clue(Weight.SLIGHT, ran, says, _variable(found["name"]))


def _start_failed(case: Case) -> Iterator[Clue]:
    for uncaught in case.all(Uncaught):
        if "_S_create_c_locale" in (uncaught.what or ""):
            says = "the locale that the environment names is not installed"
            yield Clue(Weight.PROOF, uncaught, says, _variable("LC_ALL"), "export LC_ALL=C.UTF-8")
    for fatal in case.all(PythonFatal):
        if LOST.search(f"{fatal.function} {fatal.text}"):
            yield Clue(Weight.STRONG, fatal, TOPICS["no-encodings"][1])
    for error in case.all(PythonError):
        if error.type == "ModuleNotFoundError" and "'encodings'" in error.text:
            yield Clue(Weight.STRONG, error, TOPICS["no-encodings"][1])


def _two_pythons(stack: Stack) -> Iterator[Clue]:
    found = {
        match["version"].replace(".", "")
        for frame in stack.frames
        if (match := VERSION.search(frame.file or ""))
    }
    if len(found) > 1:
        says = "the traceback runs through the folders of two Python versions"
        yield Clue(Weight.FAIR, stack, says, _variable("PYTHONPATH"))


def _variable(name: str | None) -> Culprit | None:
    return Culprit(kind="argument", name=name, argument=name) if name else None
