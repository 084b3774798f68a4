"""Results that are kept from one time to the next, by the content of the file and by what was asked."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sigwhy.inspection.plan import Result

if TYPE_CHECKING:
    from sigwhy.inspection.plan import Plan

PACKAGE = Path(__file__).parents[1]
KNOWLEDGE = (
    "checks/*.py",
    "subjects/*.py",
    "inspection/*.py",
    "model/*.py",
    "known_bugs.py",
    "causes/*.toml",
)
DAYS_KEPT = 30
DAY_SECONDS = 86_400
LARGEST = 10_000_000


def folder() -> Path:
    """Where the results of this user are, by the custom of XDG."""
    root = os.environ.get("XDG_CACHE_HOME") or ""
    home = Path(root) if Path(root).is_absolute() else Path.home() / ".cache"
    return home / "sigwhy" / "check"


def key(plan: Plan, data: bytes) -> str:
    """The name of a result: the content, what was asked, and the knowledge that answered."""
    asked = (plan.kind, sorted(plan.wanted), plan.targets, plan.memory_limit, knowledge())
    return hashlib.sha256(data + msgspec.json.encode(asked)).hexdigest()


@cache
def knowledge() -> str:
    """What changes when a check does: names, sizes and times of the files that know something."""
    files = sorted(path for some in KNOWLEDGE for path in PACKAGE.glob(some))
    told = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(repr(told).encode()).hexdigest()


def fetch(shelf: Path, name: str, path: str) -> Result | None:
    """A kept result, for the file that now has this path."""
    try:
        data = (shelf / name[:2] / name).read_bytes()[:LARGEST]
        kept = msgspec.json.decode(data, type=Result)
    except (OSError, msgspec.MsgspecError):
        return None
    problems = tuple(replace(problem, path=path) for problem in kept.problems)
    return replace(kept, path=path, problems=problems)


def keep(shelf: Path, name: str, result: Result) -> None:
    """Keep a result. Where that is not possible nothing is lost."""
    target = shelf / name[:2] / name
    with contextlib.suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, beside = tempfile.mkstemp(dir=target.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(msgspec.json.encode(result))
        Path(beside).replace(target)


def sweep(shelf: Path) -> None:
    """Once a day, take away what nobody wanted for a month."""
    stamp = shelf / "swept"
    now = time.time()
    with contextlib.suppress(OSError):
        if stamp.exists() and now - stamp.stat().st_mtime < DAY_SECONDS:
            return
        shelf.mkdir(parents=True, exist_ok=True, mode=0o700)
        stamp.touch()
        for path in shelf.glob("??/*"):
            if now - path.stat().st_mtime > DAYS_KEPT * DAY_SECONDS:
                path.unlink()
