"""Where Incidents are kept: how they are called, and how many stay.

Others may write into the same folder. So a name is never followed where it is a link, a file never
appears under its name before it is whole, and nothing is removed that does not look like ours, is
not a plain file, or belongs to somebody else.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sigwhy.model.incident import Incident

KEEP, KEEP_BYTES = 20, 200 << 20
# train-20261119-214503-811.sigwhy
NAME = re.compile(r"^[\w.+][\w.+-]{0,79}-\d{8}-\d{6}-\d{1,10}(?:\.\d{1,3})?\.sigwhy$")
UNFINISHED = re.compile(r"^\.writing-\w{1,32}\.sigwhy$")
UNFINISHED_SECONDS = 3600
ODD = re.compile(r"[^\w.+-]+", re.ASCII)
SCRIPT = re.compile(r"\.(?:py|pyw|sh|bash|pl|rb)$")
MOST_NAME = 60
MOST_ALIKE = 100


@dataclass(frozen=True, slots=True)
class Kept:
    """Where an Incident was put, or why it was not; ``word`` is what the user should know of it."""

    path: Path | None
    word: str | None = None


@dataclass(frozen=True, slots=True)
class Shelf:
    """A folder for Incidents, with how many and how many bytes of them stay in it."""

    folder: Path
    keep: int = KEEP
    keep_bytes: int = KEEP_BYTES

    def put(self, incident: Incident, core: Path | None) -> Kept:
        """Keep an Incident; whatever fails is told and never raised."""
        try:
            _make(self.folder)
            kept = self._write(incident, core)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            return Kept(None, f"the Incident could not be kept in {self.folder} ({reason})")
        with contextlib.suppress(OSError):
            self._clear(kept.path)
        return kept

    def _write(self, incident: Incident, core: Path | None) -> Kept:
        from sigwhy.autopsy import incident_file

        path = self._free(name(incident))
        try:
            incident_file.write(path, incident, core)
        except OSError as error:
            if core is None or error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            incident_file.write(path, incident, None)
            return Kept(path, f"there was no room for the core in {self.folder}: kept without it")
        return Kept(path)

    def _free(self, wanted: str) -> Path:
        """A name that nobody has."""
        for n in range(MOST_ALIKE):
            path = self.folder / f"{wanted}{f'.{n}' if n else ''}.sigwhy"
            if not os.path.lexists(path):
                return path
        raise ValueError(f"{MOST_ALIKE} of the same name are there")

    def _clear(self, newest: Path | None) -> None:
        """Remove the oldest until as many stay as may."""
        handle = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            left, size = self.keep, self.keep_bytes
            for _, one, found in sorted(_ours(handle), reverse=True):
                left, size = left - 1, size - found
                if (left < 0 or size < 0) and (newest is None or one != newest.name):
                    os.unlink(one, dir_fd=handle)
            for one in _torn(handle):
                os.unlink(one, dir_fd=handle)
        finally:
            os.close(handle)


def name(incident: Incident) -> str:
    """``PROGRAM-DATE-TIME-PID``, of letters that every file system takes."""
    digits = re.sub(r"\D", "", incident.at[:19]) or time.strftime("%Y%m%d%H%M%S", time.gmtime())
    words = incident.command
    script = next((SCRIPT.sub("", w) for w in words[1:4] if SCRIPT.search(w)), None)
    program = (script or (words[0] if words else "command")).rpartition("/")[2]
    plain = ODD.sub("_", program)[:MOST_NAME].lstrip(".-") or "command"
    return f"{plain}-{digits[:8]}-{digits[8:14]:0<6}-{incident.pid or 0}"


def _make(folder: Path) -> None:
    """The folder, for its owner alone where it is new."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)


def _ours(folder: int) -> Iterator[tuple[float, str, int]]:
    """The Incidents of this user: when they were written, their names and sizes."""
    for one in os.listdir(folder):
        if NAME.match(one) and (found := _plain(folder, one)):
            yield found.st_mtime, one, found.st_size


def _torn(folder: int) -> Iterator[str]:
    """What was left when sigwhy itself was killed while it wrote."""
    for one in os.listdir(folder):
        found = _plain(folder, one) if UNFINISHED.match(one) else None
        if found and time.time() - found.st_mtime > UNFINISHED_SECONDS:
            yield one


def _plain(folder: int, one: str) -> os.stat_result | None:
    """A plain file of this user; nothing where it is a link, or another's."""
    try:
        found = os.stat(one, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    return found if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() else None
