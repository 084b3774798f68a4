"""What the table ``[tool.sigwhy.check]`` of the nearest pyproject.toml says.

Looks like::

[tool.sigwhy.check]
select = ["py", "tflite"]        # ids, or first words of ids; all checks without it
ignore = ["py-tensors-kept"]
target = ["litert==2.3.0"]
memory-limit = "256MB"
per-file-ignores = { "tests/*" = ["py"] }
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.machine.sizes import bytes_of
from sigwhy.model.check import KINDS
from sigwhy.model.error import UsageError
from sigwhy.model.target import Target

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

NAME = "pyproject.toml"
KEYS = ("select", "ignore", "target", "memory-limit", "per-file-ignores")
LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project wants; ``folder`` is where its patterns begin."""

    folder: Path = Path()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    targets: tuple[Target, ...] = ()
    memory_limit: int | None = None

    def wanted(self, path: Path, known: Collection[str]) -> frozenset[str]:
        """The ids of the checks that look at a file."""
        chosen = {i for i in known if not self.select or _named(i, self.select)}
        away = [*self.ignore]
        for pattern, ids in self.per_file.items():
            if _matches(path, self.folder, pattern):
                away += ids
        return frozenset(i for i in chosen if not _named(i, away))


def nearest(path: Path, known: Collection[str], seen: dict[Path, Settings]) -> Settings:
    """The settings for the files of a folder; ``seen`` remembers what was read."""
    folder = path if path.is_dir() else path.parent
    passed = []
    for one in (folder, *folder.parents):
        if one in seen:
            settings = seen[one]
            break
        passed.append(one)
        if (file := one / NAME).is_file():
            settings = _read(file, known)
            break
    else:
        settings = Settings()
    seen.update(dict.fromkeys(passed, settings))
    return settings


def ids(words: Iterable[str], known: Collection[str], where: str) -> tuple[str, ...]:
    """Ids or first words of ids. Raises ``UsageError`` for what is neither."""
    found = []
    for word in words:
        name = word.strip().replace("_", "-")
        if name not in known and name not in KINDS:
            near = get_close_matches(name, [*known, *KINDS], n=2)
            hint = f"did you mean {' or '.join(near)}" if near else "sigwhy cause lists all checks"
            raise UsageError(f"{where}: no check is called {word[:80]!r}; {hint}")
        found.append(name)
    return tuple(found)


def _named(check: str, words: Collection[str]) -> bool:
    return check in words or check.split("-", 1)[0] in words


def _matches(path: Path, folder: Path, pattern: str) -> bool:
    try:
        inside = path.relative_to(folder).as_posix()
    except ValueError:
        inside = path.as_posix()
    return fnmatch(inside, pattern) or fnmatch(path.name, pattern)


def _read(file: Path, known: Collection[str]) -> Settings:
    table = _table(file)
    where = f"{file}, [tool.sigwhy.check]"
    if unknown := sorted(set(table) - set(KEYS)):
        raise UsageError(f"{where}: nothing is called {unknown[0]!r}; there is {', '.join(KEYS)}")
    per_file = table.get("per-file-ignores", {})
    if not isinstance(per_file, dict):
        raise UsageError(f'{where}: per-file-ignores must be a table, {{ "tests/*" = ["py"] }}')
    limit = table.get("memory-limit")
    return Settings(
        folder=file.parent,
        select=ids(_words(table, "select", where), known, where),
        ignore=ids(_words(table, "ignore", where), known, where),
        per_file={
            str(pattern): ids(_words(per_file, pattern, where), known, where)
            for pattern in per_file
        },
        targets=tuple(Target.of(word) for word in _words(table, "target", where)),
        memory_limit=None if limit is None else size(str(limit)),
    )


def size(words: str) -> int:
    """A size in bytes. Raises ``UsageError``."""
    found = bytes_of(words)
    if not found or found <= 0:
        raise UsageError(f"{words[:40]!r} is no size; wanted is a number such as 256MB or 2G")
    return int(found)


def _words(table: Mapping[str, object], key: str, where: str) -> list[str]:
    match table.get(key, []):
        case str(word):
            return [word]
        case list(words) if all(isinstance(word, str) for word in words):
            return words
        case _:
            raise UsageError(f'{where}: {key} must be a list of words, {key} = ["py"]')


def _table(file: Path) -> dict[str, object]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        data = file.read_bytes()[:LARGEST]
        found = tomllib.loads(data.decode("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    for key in ("tool", "sigwhy", "check"):
        found = found.get(key, {})
        if not isinstance(found, dict):
            raise UsageError(f"{file}: [tool.sigwhy.check] must be a table")
    return found
