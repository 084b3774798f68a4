"""What files are looked at against: the environment, the system and the CPU that they are meant for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What was named; what was not is the one that is found here.

    ``env`` is the folder of a virtual environment, of its packages, or the interpreter itself; ``own`` is the one in use.
    ``library_path`` is what LD_LIBRARY_PATH says.
    """

    env: str | None = None
    own: str | None = None
    target_os: str | None = None
    target_cpu: str | None = None
    library_path: tuple[str, ...] = ()
