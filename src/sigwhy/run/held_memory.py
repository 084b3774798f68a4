"""Memory of a process that is held, through /proc/PID/mem."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sigwhy.machine.memory import PAGE, Memory, mappings_of
from sigwhy.run import proc

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self


class HeldMemory(Memory):
    """A context: the file is given back at its end. Without the right to read, every page is empty."""

    def __init__(self, pid: int) -> None:
        super().__init__(mappings_of(proc.text(f"/proc/{pid}/maps", 64 << 20)))
        try:
            self._handle: int | None = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._handle = None

    @property
    def is_readable(self) -> bool:
        """Whether the kernel lets us look."""
        return self._handle is not None

    def fetch(self, address: int) -> bytes:
        """One page of the process."""
        if self._handle is None:
            return b""
        try:
            return os.pread(self._handle, PAGE, address)
        except (OSError, OverflowError):
            return b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
