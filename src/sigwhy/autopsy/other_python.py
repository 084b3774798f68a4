"""Libraries of the user's own that were built for another Python than the one that ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.autopsy.told import NO_SPAN, Told
from sigwhy.model.fact import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Incident


def tell(incident: Incident) -> Iterator[Told]:
    """Each with both versions."""
    ran = incident.python_version
    for path, wanted in incident.built_for.items():
        if ran and _release(ran) != _release(wanted):
            line = f"{path} was built for Python {wanted}, and Python {ran} loaded it"
            fact = Notice(span=NO_SPAN, topic="python-abi", text=line, subject=path)
            yield Told.of(line, fact, words=wanted)


def _release(version: str) -> list[str]:
    """``3.11`` of ``3.11.7``: what libraries are built for."""
    return version.split(".")[:2]
