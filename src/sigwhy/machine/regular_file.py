"""Reads a file of somebody else's: a pipe or a device that has its name must not make us wait."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
CLOSED_BY_EXEC = getattr(os, "O_CLOEXEC", 0)


def beginning(path: str | Path, most: int) -> bytes:
    """The first bytes of a regular file, at most so many; nothing of anything else."""
    try:
        handle = os.open(path, FLAGS | CLOSED_BY_EXEC)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(handle, most) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(handle)
