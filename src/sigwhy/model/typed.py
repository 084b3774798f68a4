"""What was typed before it died: the modules that were imported by hand."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from sigwhy.model.fact import Ran

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

# import a.b as c, d        from e import f        python -c "import g; g.run()"
IMPORT = re.compile(
    r"(?:^|[;\"'\s])(?:import +(?P<names>[\w.]+(?:[ \w.]*,[ \w.]+)*)|from +(?P<whole>[\w.]+) +import\b)"
)
STANDARD = frozenset(sys.stdlib_module_names)


def imported(case: Case) -> list[tuple[str, Ran]]:
    """The modules, outside of the standard library, in the order of their imports."""
    return [
        (name, ran)
        for ran in case.all(Ran)
        for name in _names(ran.command[:2000])
        if name not in STANDARD
    ]


def _names(command: str) -> Iterator[str]:
    for found in IMPORT.finditer(command):
        for name in (found["whole"] or found["names"]).split(","):
            if words := name.split():
                yield words[0].split(".")[0]
