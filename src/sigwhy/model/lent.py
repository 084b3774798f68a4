"""Whether what was made of lent memory is what a call was given, by the names in the source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sigwhy.model.case import Case
    from sigwhy.model.fact import Entered, Wrote

# What stands left of the equals sign in: column = pa.foreign_buffer(at, size)
ASSIGNED = re.compile(r"^\s*(?P<name>[A-Za-z_]\w*)\s*=(?!=)")
NAME = re.compile(r"[A-Za-z_]\w*")


def given_on(case: Case, wrote: Wrote, entered: Entered) -> str | None:
    """The name to which a line gives lent memory, where the line of the call speaks of it."""
    found = ASSIGNED.match(case.quote(wrote.span).text) if wrote.topic == "borrows" else None
    return found["name"] if found and found["name"] in _names_on(case, entered) else None


def _names_on(case: Case, entered: Entered) -> set[str]:
    for piece in case.evidence:
        if piece.name == entered.file:
            rows = zip(piece.places, piece.lines, strict=True)
            lines = [line for (first, _), line in rows if first == entered.line]
            return set(NAME.findall(" ".join(lines)))
    return set()
