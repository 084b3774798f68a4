"""The file behind the page that could not be provided: its size now, and the room where it lies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sigwhy.run import proc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.incident import Mapping, Signal

DELETED = " (deleted)"
FREE, WHOLE = "free:", "whole:"  # before the path: of the file system that holds it


def sizes(pid: int, mappings: Sequence[Mapping], signal: Signal | None) -> dict[str, int]:
    """Bytes of the file whose page a SIGBUS is about, and of its file system, free and in all.

    The process may live in another mount namespace, and the file may have lost its name: so it is
    asked for by way of the process.
    """
    address = signal.address if signal and signal.name == "SIGBUS" else None
    mapping = next((m for m in mappings if address and m.start <= address < m.end), None)
    if mapping is None or not mapping.path.startswith("/"):
        return {}
    found: dict[str, int] = {}
    for place in _places(pid, mapping):
        try:
            if mapping.path not in found:
                found[mapping.path] = os.stat(place).st_size  # noqa: PTH116 -- a link of the kernel's
            room = os.statvfs(place)
        except OSError:
            continue
        found[FREE + mapping.path] = room.f_bavail * room.f_frsize
        found[WHOLE + mapping.path] = room.f_blocks * room.f_frsize
        break
    return found


def _places(pid: int, mapping: Mapping) -> Iterator[str]:
    """Where the file can be asked: as it is mapped, as it is open, by its name."""
    yield f"/proc/{pid}/map_files/{mapping.start:x}-{mapping.end:x}"
    folder = f"/proc/{pid}/fd"
    try:
        handles = os.listdir(folder)  # noqa: PTH208 -- names are all that is wanted
    except OSError:
        handles = []
    for handle in handles:
        if proc.link(f"{folder}/{handle}") == mapping.path:
            yield f"{folder}/{handle}"
    if not mapping.path.endswith(DELETED):
        yield f"/proc/{pid}/root{mapping.path}"
