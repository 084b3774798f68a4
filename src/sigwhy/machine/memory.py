"""Memory of a process that stands still or is dead: one way to read it, wherever it lies.

Reading what is not there raises ``Unreadable`` and nothing else, and never reads without bound.
Which pages were read is remembered: a small core must hold what an analysis needed.
"""

from __future__ import annotations

import bisect
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sigwhy.model.incident import Mapping

PAGE = 4096
LOWEST, HIGHEST = PAGE, 1 << 48  # ARM uses one bit more than x86
LONGEST_TEXT = 4096


class UnreadableError(Exception):
    """Nothing can be read there."""


class Memory:
    """Pages by address. Those who know where pages come from say so in ``fetch``."""

    def __init__(self, mappings: Sequence[Mapping] = ()) -> None:
        self.mappings = sorted(mappings, key=lambda m: m.start)
        self._starts = [m.start for m in self.mappings]
        self._pages: dict[int, bytes] = {}
        self.touched: set[int] = set()

    def fetch(self, address: int) -> bytes:
        """One page, or nothing where there is none."""
        raise NotImplementedError

    def page(self, address: int) -> bytes:
        """One page, read once."""
        kept = self._pages.get(address)
        if kept is None:
            kept = self._pages[address] = self.fetch(address)
        return kept

    def read(self, address: int, count: int) -> bytes:
        """So many bytes, all of them."""
        found = self.peek(address, count)
        self.touched.update(range(address & -PAGE, address + count, PAGE))
        return found

    def peek(self, address: int, count: int) -> bytes:
        """The same, for a look that may lead nowhere: a small core need not hold it."""
        if not LOWEST <= address < HIGHEST - count:
            raise UnreadableError(hex(address))
        found = b""
        while len(found) < count:
            here = address + len(found)
            start = here & -PAGE
            part = self.page(start)[here - start : here - start + count - len(found)]
            if not part:
                raise UnreadableError(hex(here))
            found += part
        return found

    def bulk(self, address: int, count: int) -> bytes:
        """Many bytes for somebody who keeps them himself: no page stays here, and none is remembered."""
        if not LOWEST <= address < HIGHEST - count:
            raise UnreadableError(hex(address))
        found = bytearray()
        while len(found) < count:
            here = address + len(found)
            part = self.fetch(here & -PAGE)[here % PAGE : here % PAGE + count - len(found)]
            if not part:
                raise UnreadableError(hex(here))
            found += part
        return bytes(found)

    def word(self, address: int) -> int:
        """Eight bytes as a number."""
        return int(struct.unpack("<Q", self.read(address, 8))[0])

    def half(self, address: int) -> int:
        """Four bytes as a number."""
        return int(struct.unpack("<I", self.read(address, 4))[0])

    def text(self, address: int, most: int = LONGEST_TEXT) -> str:
        """The characters up to a zero byte."""
        found = b""
        while len(found) < most:
            here = address + len(found)
            part = self.read(here, min(256, PAGE - here % PAGE))
            end = part.find(b"\0")
            if end >= 0:
                return (found + part[:end]).decode("utf-8", "replace")
            found += part
        raise UnreadableError(f"no end of the text at {address:#x}")

    def mapping(self, address: int) -> Mapping | None:
        """The mapping that holds an address."""
        n = bisect.bisect_right(self._starts, address) - 1
        return self.mappings[n] if n >= 0 and address < self.mappings[n].end else None

    def neighbours(self, address: int) -> tuple[Mapping | None, Mapping | None]:
        """The mappings that end below and begin above an address which none holds."""
        n = bisect.bisect_right(self._starts, address)
        below = self.mappings[n - 1] if n else None
        return below, self.mappings[n] if n < len(self.mappings) else None


def mappings_of(text: str) -> list[Mapping]:
    """The mappings of a ``/proc/PID/maps``."""
    from sigwhy.model.incident import Mapping

    found = []
    for line in text.splitlines():
        fields = line.split(None, 5)
        if len(fields) < 5:
            continue
        start, _, end = fields[0].partition("-")
        try:
            found.append(
                Mapping(
                    int(start, 16),
                    int(end, 16),
                    fields[1],
                    int(fields[2], 16),
                    fields[5] if len(fields) > 5 else "",
                )
            )
        except ValueError:
            continue
    return found
