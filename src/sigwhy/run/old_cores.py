"""Core files that lie on this machine: where the kernel, systemd or gcore put them."""

from __future__ import annotations

import glob
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.run import proc

if TYPE_CHECKING:
    from collections.abc import Iterator

SYSTEMD = "/var/lib/systemd/coredump"
APPORT = "/var/crash"
PATTERN = "/proc/sys/kernel/core_pattern"
# core.python3.1000.4f0e1c2d3b4a59687786950413223140.811.1763588703000000.zst
OF_SYSTEMD = re.compile(
    r"^core\.(?P<program>.{1,200})\.\d+\.[0-9a-f]{32}\.(?P<pid>\d{1,10})\.\d+(?:\.\w+)?$"
)
NUMBER = re.compile(r"(?:^|[._-])(?P<pid>\d{2,10})(?:[._]|$)")
WILD = re.compile(r"%(?P<letter>.)")
MOST = 200
ELF = b"\x7fELF"
ELF_CORE = 4


@dataclass(frozen=True, slots=True)
class OldCore:
    """A core file: when it was written, and of which process, as far as its name or its notes say."""

    path: Path
    at: float
    pid: int | None = None
    program: str = ""


def pattern() -> str:
    """What the kernel does with a core: the name of a file, or ``|`` and a program."""
    return proc.text(PATTERN).strip()


def places(pattern: str, here: Path) -> list[str]:
    """Where cores may lie, as patterns of glob(3)."""
    found = [str(here / "core"), str(here / "core.*"), f"{SYSTEMD}/core.*"]
    if pattern and not pattern.startswith("|"):
        wild = WILD.sub(lambda m: "%" if m["letter"] == "%" else "*", glob.escape(pattern))
        path = wild if wild.startswith("/") else str(here / wild)
        found += [path, path + ".*"]
    return found


def cores(here: Path, since: float) -> Iterator[OldCore]:
    """The cores that were written since then (time.time), the newest first."""
    paths = {path for place in places(pattern(), here) for path in glob.glob(place)[:MOST]}  # noqa: PTH207 -- patterns of whole paths
    known = [(at, path) for path in paths if (at := _written(path)) >= since]
    for at, path in sorted(known, reverse=True):
        if core := _core(Path(path), at):
            yield core


def _written(path: str) -> float:
    """When a plain file was written; never, where it is none."""
    try:
        found = Path(path).lstat()
    except OSError:
        return float("-inf")
    return found.st_mtime if stat.S_ISREG(found.st_mode) and found.st_size else float("-inf")


def _core(path: Path, at: float) -> OldCore | None:
    if told := OF_SYSTEMD.match(path.name):
        return OldCore(path, at, int(told["pid"]), told["program"])
    from sigwhy.autopsy.opened import PACKED, head

    first = head(path)
    number = NUMBER.search(path.name)
    pid = int(number["pid"]) if number else None
    if first.startswith(PACKED):
        return OldCore(path, at, pid)
    if first[:4] != ELF or int.from_bytes(first[16:18], "little") != ELF_CORE:
        return None
    return _by_its_notes(path, at) or OldCore(path, at, pid)


def _by_its_notes(path: Path, at: float) -> OldCore | None:
    from sigwhy.autopsy.core import Core
    from sigwhy.model.error import UsageError

    try:
        core = Core(path)
    except (UsageError, OSError):
        return None
    told = core.contents
    core.close()
    return OldCore(path, at, told.pid, told.arguments or told.program)
