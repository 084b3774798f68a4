"""Which Python a library of the user's own was built for, by the headers that it was built with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.autopsy.entry import whose_file
from sigwhy.machine.regular_file import beginning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sigwhy.model.incident import Module

MOST_FILES, MOST_BYTES = 16, 16 << 20
# Debug information names the folder of the headers; a linked interpreter its library.
HEADERS = re.compile(rb"/include/python(3\.\d{1,2})|\blibpython(3\.\d{1,2})")


def built_for(modules: Iterable[Module], root: str) -> Iterator[tuple[str, str]]:
    """Path and version of each library of the user's own that tells it."""
    own = [m.path for m in modules if whose_file(m.path) == "own"]
    for path in own[:MOST_FILES]:
        versions = {
            (a or b).decode()
            for a, b in HEADERS.findall(
                beginning(root + path, MOST_BYTES) or beginning(path, MOST_BYTES)
            )
        }
        if len(versions) == 1:
            yield path, versions.pop()
