"""Amounts of memory as programs print them."""

from __future__ import annotations

import re
from typing import Final

UNITS: Final = {"": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
# "37.3 GiB", "2.00G", "1,048,576 bytes", "0x14006f28400 bytes"
SIZE: Final = r"(?:0x[0-9a-fA-F]{1,16}|\d[\d,]{0,24}(?:\.\d{0,6})?)\s?(?:[KMGTPkmgtp]i?[Bb]?\b|[Bb](?:ytes?)?\b)?"
PARTS = re.compile(
    r"(?P<number>0x[0-9a-fA-F]{1,16}|\d[\d,]{0,24}(?:\.\d{0,6})?)\s?(?P<unit>[A-Za-z]?)"
)


def bytes_of(text: str | None, *, unit: str = "") -> int | None:
    """How many bytes an amount is; ``unit`` is meant where none is written."""
    found = PARTS.match((text or "").strip())
    if not found:
        return None
    number = found["number"]
    if number.startswith("0x"):
        return int(number, 16)
    power = UNITS.get((found["unit"] or unit).lower(), 0)
    return int(float(number.replace(",", "")) * 1024**power)
