"""A save was cut short, or two wrote the same path.

What happens: .h5, .keras, npz, pickle and torch files are rewritten in place. If the process is killed,
the disk fills or Ctrl-C comes while it writes, the old copy is already gone and the new one is not
whole. Two processes that save to one path destroy each other's file the same way.

How to tell: the file is shorter than its own header says ("truncated file: eof = …"), the zip directory
is missing, temporary names are left behind, or HDF5 cannot lock the file.

Fix: load an older copy. Save atomically: write beside the target, fsync, rename; only one process
(rank 0) saves; keep two copies.

Folklore: model.save does not keep the old file until the new one is complete. Of 22 to 34 moments at
which a save of .keras or .h5 was killed, all but two or three destroyed the only copy.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Death, MemoryKill, Notice, PythonError, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="interrupted-save",
    title="a save was cut short, or two wrote the same path",
    fix="Load an older copy; save atomically (write beside, fsync, rename), from one process only.",
)
CUT_SHORT = re.compile(
    r"truncated file: eof|failed finding central directory|pickle data was truncated|unexpected EOF, expected"
    r"|Ran out of input|incomplete metadata|MetadataIncompleteBuffer|invalid header or archive is corrupted|File is not a zip file"
    r"|EOF(?:Error)?\b[^\n]{0,20}(?:truncat|before)|Truncated (?:or oversized )?(?:file|record)"
)
LOCKED = re.compile(r"unable to lock file|[Rr]esource temporarily unavailable'?\)|BlockingIOError")
FILE = re.compile(r"(?:name = |file |b')'?(?P<file>[^\s'\",]{3,200}\.\w{1,12})")
SAVING = re.compile(
    r"save(?:_model|_weights|_state_dict|_checkpoint|_pretrained|_file|z|z_compressed)?$|dump$|torch_save|write_checkpoint|_save_\w+|export_saved_model"
)
KILLS = {"SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"}


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a save that was cut short, and against it."""
    for error in case.all(PythonError):
        if CUT_SHORT.search(error.text):
            yield Clue(Weight.FAIR, error, "the file ends too early", culprit=_file(error))
        elif "lock file" in error.text and LOCKED.search(error.text):
            yield Clue(
                Weight.PROOF, error, "another process has the file open for writing", _file(error)
            )
    for notice in case.all(Notice):
        if notice.topic == "torn-save":
            yield Clue(Weight.PROOF, notice, "a half-written file was left behind")
        elif notice.topic == "hdf5-file-in-use":
            yield Clue(Weight.PROOF, notice, "another process has the file open for writing")
    yield from _while_saving(case)


def _while_saving(case: Case) -> Iterator[Clue]:
    """A death from outside, while the stack was saving."""
    frame = next(
        (
            frame
            for stack in case.all(Stack)
            for frame in stack.frames
            if frame.language == "python" and SAVING.search(frame.function or "")
        ),
        None,
    )
    ended = (
        next((death for death in case.all(Death) if death.signal in KILLS), None)
        or case.first(MemoryKill)
        or next((e for e in case.all(PythonError) if e.type == "KeyboardInterrupt"), None)
    )
    if frame and ended:
        culprit = Culprit(kind="api", name=frame.function, file=frame.file, line=frame.line)
        yield Clue(Weight.FAIR, ended, "it was ended while it was saving", culprit)


def _file(error: PythonError) -> Culprit | None:
    """The file that the error names."""
    found = FILE.search(error.text)
    return Culprit(kind="file", name=found["file"], file=found["file"]) if found else None
