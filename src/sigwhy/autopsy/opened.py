"""Tells an Incident, a core file and everything else apart, by content."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.machine.regular_file import beginning

if TYPE_CHECKING:
    import os

    from sigwhy.model.incident import Incident

ZIP, ELF = b"PK\x03\x04", b"\x7fELF"
HEAD_BYTES = 64
PACKED = (b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00", b"\x1f\x8b", b"BZh", b"\x04\x22\x4d\x18")


def opened(path: str | os.PathLike[str]) -> Incident | None:
    """The Incident that a file holds, or that a core file is; None where it is something else.

    Raises ``UsageError`` where it is one of them and cannot be read.
    """
    place = Path(path)
    first = head(place)
    match first[:4]:
        case b"PK\x03\x04":
            from sigwhy.autopsy import incident_file

            return incident_file.read(place)
        case b"\x7fELF":
            from sigwhy.autopsy import of_core

            return of_core.incident(place)
        case _ if first.startswith(PACKED):
            return _packed(place, first)
        case _:
            return None


def _packed(path: Path, first: bytes) -> Incident | None:
    """A core that was compressed; a log that was is none of ours."""
    from sigwhy.autopsy import of_core, packed_core
    from sigwhy.model.error import UsageError

    if not packed_core.is_packed_core(path, first):
        return None
    with packed_core.unpacked(path, first) as core:
        try:
            return of_core.incident(core)
        except UsageError as error:
            raise UsageError(str(error).replace(str(core), str(path))) from None


def head(path: Path) -> bytes:
    """The first bytes of a regular file; nothing of anything else."""
    return beginning(path, HEAD_BYTES)
