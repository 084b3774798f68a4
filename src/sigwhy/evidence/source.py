"""Opens files, folders, globs and streams, and nothing that could hang or surprise."""

from __future__ import annotations

import glob
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

MOST_FILES = 500
KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


@dataclass(frozen=True, slots=True)
class Opened:
    """A stream of bytes with the name under which it is quoted."""

    name: str
    stream: IO[bytes]
    path: Path | None = None
    one_of_many: bool = False


def opened(
    source: str | os.PathLike[str] | IO[bytes], *, but: Container[Path] = ()
) -> Iterator[Opened]:
    """Each stream that a source stands for: one file, or all files of a folder or a glob.

    ``but`` are files of a folder or a glob that are left out.
    """
    if not isinstance(source, str | os.PathLike):
        yield Opened("standard input", source)
        return
    path = Path(source)
    many = several(path)
    if many is None:
        yield from _file(path)
    else:
        what = f"the folder {path}" if path.is_dir() else str(path)
        yield from _many([file for file in many if file not in but], what)


def several(source: str | os.PathLike[str]) -> list[Path] | None:
    """The files that a folder or a glob stands for; None where the source is one file."""
    path = Path(source)
    try:
        if path.is_dir():
            return [p for p in _below(path) if p.is_file()]
        if not path.exists() and glob.has_magic(str(path)):
            found = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 -- a pattern may be absolute
            return [p for p in map(Path, found) if p.is_file()]
    except (OSError, ValueError):  # a closed folder, a name too long or with a zero byte in it
        return None  # whoever opens it says why it cannot be read
    return None


def _many(files: list[Path], what: str) -> Iterator[Opened]:
    if not files:
        raise UsageError(
            f"{what} holds no file that can be read; pass a log, or - for standard input"
        )
    if len(files) > MOST_FILES:
        raise UsageError(
            f"{what} holds {len(files)} files, at most {MOST_FILES} make one case; pass the logs of one crash"
        )
    for path in files:
        yield from _file(path, one_of_many=True)


def _below(folder: Path) -> list[Path]:
    """The files of a folder and of those in it, three deep, without hidden ones."""

    def refuse(error: OSError) -> None:
        raise UsageError(_refusal(Path(error.filename or folder), error))

    found: list[Path] = []
    for here, folders, files in os.walk(folder, onerror=refuse):
        depth = len(Path(here).relative_to(folder).parts)
        folders[:] = sorted(f for f in folders if not f.startswith(".") and depth < 3)
        found += [Path(here, f) for f in sorted(files) if not f.startswith(".")]
        if len(found) > 10 * MOST_FILES:
            break
    return found


def _file(path: Path, *, one_of_many: bool = False) -> Iterator[Opened]:
    try:
        # O_NONBLOCK: a pipe must not make us wait for its writer before we know that it is one.
        descriptor = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    except (OSError, ValueError) as error:
        raise UsageError(_refusal(path, error)) from None
    mode = os.fstat(descriptor).st_mode
    for is_kind, word in KINDS:
        if is_kind(mode):
            os.close(descriptor)
            raise UsageError(
                f"{path} is {word}, not a file; to read a stream, pass - and pipe it in"
            )
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        yield Opened(str(path), stream, path, one_of_many)


def _refusal(path: Path, error: Exception) -> str:
    match error:
        case FileNotFoundError():
            return f"{path} does not exist; pass a log file, a folder, or - for standard input"
        case PermissionError():
            return f"{path} may not be read by you; ask its owner, or copy it with sudo"
        case _:
            reason = getattr(error, "strerror", None) or str(error)
            return f"{path} cannot be opened ({reason}); pass a log file, or - for standard input"
