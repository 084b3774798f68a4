"""Places as programs print them: ``LIB(SYMBOL+0x1d) [0x7f12]``, ``FILE:LINE``, a bare number."""

from __future__ import annotations

import re

from sigwhy.machine.demangle import demangled
from sigwhy.model.fact import Frame

# One token of a line, then perhaps a symbol in brackets, then the address.
SYMBOLISED = re.compile(
    r"(?:^|(?<=\s))(?P<library>[^\s()\[\]]+)"
    r"(?P<inside>\((?P<symbol>[^\s()+]*(?:\(\))?)(?:\+(?P<offset>0x[0-9a-fA-F]+|\d+))?\))?"
    r"\s?\[(?P<pc>0x[0-9a-fA-F]{1,16})\]"
)
HEX = re.compile(r"^(?:0x)?[0-9a-fA-F]{1,16}$")


def number(text: str | None) -> int | None:
    """A hexadecimal number of at most 64 bits, with or without ``0x``."""
    if not text or not text.isascii() or not HEX.match(text):
        return None
    return int(text, 16)


def count(text: str | None) -> int | None:
    """A decimal number of at most 18 digits."""
    if not text or not text.isascii() or not text.isdigit() or len(text) > 18:
        return None
    return int(text)


def symbolised(line: str) -> Frame | None:
    """The frame of a line as ``backtrace_symbols()`` writes it, wherever it stands in the line."""
    found = SYMBOLISED.search(line)
    if not found:
        return None
    if found["inside"] is None and not ("/" in found["library"] or ".so" in found["library"]):
        return None
    symbol = (found["symbol"] or "").removesuffix("()")
    return Frame(
        function=demangled(symbol) if symbol else None,
        library=found["library"],
        offset=None if symbol else number(found["offset"]),
    )


def file_and_line(text: str) -> tuple[str | None, int | None]:
    """``FILE:LINE[:COLUMN]`` in two; what is not there is None."""
    place, line = text.strip(), None
    for _ in range(2):
        head, colon, tail = place.rpartition(":")
        if not colon or not tail.isdigit() or count(tail) is None:
            break
        place, line = head, count(tail)
    return (place, line) if place and not place.startswith("??") else (None, None)
