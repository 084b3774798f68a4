"""The files below the paths that were named."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.model.error import UsageError
from sigwhy.subjects.kind import HEAD, SUFFIXES, by_content, by_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Folders that hold nobody's own sources.
PASSED_OVER = {
    "__pycache__", "node_modules", "site-packages", "build", "dist", "venv", "env",
}  # fmt: skip
MOST_FILES = 1_000_000


@dataclass(frozen=True, slots=True)
class Found:
    """One file and its kind; ``named`` when the user named it himself."""

    path: Path
    kind: str
    size: int
    named: bool = False


def found(paths: Iterable[Path]) -> list[Found]:
    """Every file that can be checked, once, in a fixed order. Raises ``UsageError`` for what is none."""
    seen: dict[Path, Found] = {}
    for path in paths:
        for file in _below(path):
            seen.setdefault(file.path, file)
            if len(seen) > MOST_FILES:
                raise UsageError(
                    f"{path} holds more than {MOST_FILES:,} files; name a folder in it"
                )
    return list(seen.values())


def of_host(env: str) -> list[Found]:
    """This machine, and the environment in use."""
    return [Found(Path("this machine"), "host", 0, named=True), Found(Path(env), "env", 0)]


def of_environment(path: Path) -> list[Found]:
    """The shared objects of a Python environment, and the environment itself. Raises ``UsageError``."""
    from sigwhy.subjects.python_environment import environment

    env = environment(path)
    objects = (Found(one, "so", one.stat().st_size) for one in env.objects)
    return [Found(path, "env", 0, named=True), *objects]


def _below(path: Path) -> Iterator[Found]:
    try:
        if path.is_dir():
            yield from _walked(path)
            return
        if not path.exists():
            raise UsageError(f"there is no {path}; name files or folders that exist")
        if not path.is_file():
            raise UsageError(f"{path} is no regular file; name a file or a folder")
        yield _named(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None


def _named(path: Path) -> Found:
    """A file that was named: its content decides where its name says nothing."""
    kind = by_name(str(path))
    if not kind:
        with path.open("rb") as stream:
            kind = by_content(stream.read(HEAD))
    if not kind:
        known = ", ".join(sorted([*SUFFIXES, ".so"]))
        raise UsageError(f"{path} is nothing that sigwhy checks; it checks {known} files")
    return Found(path, kind, path.stat().st_size, named=True)


def _walked(top: Path) -> Iterator[Found]:
    def broken(error: OSError) -> None:
        if error.filename == str(top):
            raise error

    for folder, folders, files in os.walk(top, onerror=broken):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in PASSED_OVER)
        for name in sorted(files):
            kind = by_name(name)
            path = Path(folder, name)
            if kind and path.is_file():  # a fifo would be waited for for ever
                yield Found(path, kind, path.stat().st_size)
