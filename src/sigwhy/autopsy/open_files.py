"""The files of data that were open when it died."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.autopsy.told import NO_SPAN, Told
from sigwhy.model.fact import Opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Incident

# What is open in every process: devices, pipes, sockets, libraries, sources.
EVERYDAY = re.compile(
    r"^(?:/dev/(?!shm/)|/proc/|/sys/|pipe:|socket:|anon_inode:|/?memfd:)|\.(?:so[\d.]*|py|pyc|pyd|log|txt|out|err)(?: \(deleted\))?$"
)
MOST = 40
OUTPUT = frozenset({"1", "2"})  # where the process writes what it says


def tell(incident: Incident) -> Iterator[Told]:
    """Each of them once."""
    paths = dict.fromkeys(
        path
        for descriptor, path in incident.files.items()
        if descriptor not in OUTPUT and path.startswith("/") and not EVERYDAY.search(path)
    )
    for path, _ in zip(paths, range(MOST), strict=False):
        yield Told.of(
            f"it had {path} open",
            Opened(span=NO_SPAN, path=path, size=incident.sizes.get(path)),
            words=path,
        )
