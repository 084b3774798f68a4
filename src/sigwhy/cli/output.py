"""Where a document goes: to the terminal, or whole or not at all into a file."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from sigwhy.model.error import UsageError

STANDARD = "-"


def has_colour() -> bool:
    """Whether standard output is to be coloured, by the customs of NO_COLOR and FORCE_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return bool(sys.stdout and sys.stdout.isatty()) and os.environ.get("TERM") != "dumb"


def width() -> int:
    """How many cells a line may have: those of the terminal, or 80."""
    return shutil.get_terminal_size((80, 24)).columns


def write(document: str, path: str | None) -> None:
    """Write a document to a file, or to standard output where there is none or it is ``-``."""
    if path in (None, STANDARD):
        print(document)
        return
    target = Path(path or "")
    if target.is_dir():
        raise UsageError(f"{target} is a folder; name a file in it, such as {target}/report.html")
    if target.exists() and not target.is_file():
        target.write_text(document + "\n", encoding="utf-8")  # /dev/stderr and other devices
        return
    _replace(target, document + "\n")


def _replace(target: Path, text: str) -> None:
    """Write beside the file and then swap, so that nobody ever sees half a document."""
    target = target.resolve()  # a link stays a link, and what it points to is replaced
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:80]}.")
    except OSError as error:
        raise UsageError(_refusal(target, error)) from None
    beside = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as stream:
            stream.write(text)
        beside.chmod(_mode(target))
        beside.replace(target)
    except OSError as error:
        raise UsageError(_refusal(target, error)) from None
    finally:
        beside.unlink(missing_ok=True)


def _mode(target: Path) -> int:
    """The rights the file has, or those that a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _refusal(target: Path, error: OSError) -> str:
    match error:
        case FileNotFoundError() if not target.parent.is_dir():
            return f"cannot write {target}: there is no folder {target.parent}; make it first"
        case PermissionError():
            return f"cannot write {target}: you may not write there; choose another place"
        case _:
            return f"cannot write {target}: {error.strerror or error}; choose another place"
