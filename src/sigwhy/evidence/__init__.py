"""From what the user has (a text, a file, a folder, a stream) to lines that can be read.

The way of a source: ``source`` opens it, ``unpack`` decompresses it, ``decode`` makes it text,
``sieve`` leaves out what is boring in a long log, ``envelope`` peels off what other programs put
around the lines, ``wrap`` joins what a terminal broke.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING

from sigwhy.evidence.decode import decoded, is_utf8
from sigwhy.evidence.envelope import peel
from sigwhy.evidence.parts import LARGE_BYTES, in_parts
from sigwhy.evidence.sieve import WHOLE_BYTES, sieve
from sigwhy.evidence.source import Opened, opened, several
from sigwhy.evidence.unpack import block, is_packed, unpacked
from sigwhy.model.case import Gathered
from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    import os
    from collections.abc import Container, Iterable, Sequence

    from sigwhy.model.case import Evidence

    Source = str | os.PathLike[str] | IO[bytes]


def gather(*sources: Source, markers: Sequence[str] = (), but: Container[Path] = ()) -> Gathered:
    """The evidence of one case.

    A ``str`` is a text, or a path where it is one line that names a file. ``markers`` are the words
    around which a long log is kept; ``but`` are files of folders that are left out. Raises
    ``UsageError`` where a source cannot be read; what is no text inside a folder is passed over
    with a note.
    """
    evidence: list[Evidence] = []
    notes: list[str] = []
    for number, source in enumerate(sources, 1):
        if isinstance(source, str) and not _names_a_file(source):
            evidence.append(peel(f"text {number}", numbered(source)))
            continue
        for one in opened(source, but=but):
            try:
                lines, left_out = _sieved(one, markers)
            except UsageError as error:
                if not one.one_of_many:
                    raise UsageError(f"{one.name}: {error}") from None
                notes.append(f"{one.name}: {error}")
                continue
            evidence.append(peel(one.name, lines))
            if left_out:
                notes.append(
                    f"{one.name}: {left_out:,} lines that say nothing of a crash were passed over"
                )
    return Gathered(tuple(_named_apart(evidence)), tuple(notes))


def _sieved(one: Opened, markers: Sequence[str]) -> tuple[list[tuple[int, str]], int]:
    if one.path and one.path.stat().st_size >= LARGE_BYTES:
        head = block(one.stream, WHOLE_BYTES)
        one.stream.seek(0)
        if not is_packed(head) and is_utf8(head) and (done := in_parts(one.path, markers)):
            return done
    return sieve(decoded(unpacked(one)), markers)


def numbered(text: str) -> list[tuple[int, str]]:
    """The lines of a text with their numbers; a progress bar's pieces share one number."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [
        (n, piece)
        for n, line in enumerate(lines, 1)
        for piece in line.split("\r")
        if piece or not line
    ]


def _names_a_file(text: str) -> bool:
    if not text or len(text) > 4096 or "\n" in text or "\0" in text:
        return False
    try:
        return Path(text).is_file()
    except OSError:
        return False


def _named_apart(evidence: Iterable[Evidence]) -> Iterable[Evidence]:
    from dataclasses import replace

    names: dict[str, int] = {}
    for one in evidence:
        names[one.name] = names.get(one.name, 0) + 1
        yield one if names[one.name] == 1 else replace(one, name=f"{one.name} ({names[one.name]})")


__all__ = ["Opened", "gather", "numbered", "several"]
