"""Makes bytes text: UTF-8 with damage, UTF-16 of either order; refuses what is no text."""

from __future__ import annotations

import codecs
from itertools import chain
from typing import TYPE_CHECKING

from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = 4096
CONTROLS = bytes(set(range(32)) - {7, 8, 9, 10, 11, 12, 13, 27}) + b"\x7f"
TOO_MANY = 0.1
MAGIC = (
    (
        b"\x7fELF",
        "a core file or a program",
        "pass its stack as text: gdb -batch -ex 'thread apply all bt' PROGRAM CORE",
    ),
    (b"PK\x03\x04", "a zip archive", "unpack it and pass the log"),
    (b"%PDF", "a PDF", "copy the text out of it"),
    (b"\x89PNG", "a picture", "copy the text, or type the last lines by hand"),
    (b"\xff\xd8\xff", "a picture", "copy the text, or type the last lines by hand"),
    (b"MDMP", "a Windows minidump", "pass the text of !analyze -v"),
    (b"\x1f\x8b", "packed twice", "unpack it once and pass that"),
    (b"\xfd7zXZ\x00", "packed twice", "unpack it once and pass that"),
    (b"\x28\xb5\x2f\xfd", "packed twice", "unpack it once and pass that"),
    (b"SQLite format 3", "a database", "pass a log"),
    (b"\x89HDF", "an HDF5 file", "pass the log of the crash"),
)


def decoded(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The same text as UTF-8 bytes, whatever it was; it is decoded for good after the sieve."""
    head = b""
    for block in blocks:
        head += block
        if len(head) >= HEAD:
            break
    encoding = _utf16(head)
    if encoding:
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        for block in chain([head], blocks):
            yield decoder.decode(block).lstrip("\ufeff").encode("utf-8", "replace")
        return
    _refuse_rubbish(head)
    yield head.removeprefix(codecs.BOM_UTF8)
    yield from blocks


def is_utf8(head: bytes) -> bool:
    """Whether a text that begins so is UTF-8, or near enough; rubbish is refused."""
    if _utf16(head):
        return False
    _refuse_rubbish(head)
    return True


def _utf16(head: bytes) -> str | None:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16-le" if head.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
    sample = head[:HEAD]
    for encoding, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[0::2])):
        if (
            len(zeros) >= 8
            and zeros.count(0) > 0.7 * len(zeros)
            and sample.count(0) < 0.6 * len(sample)
        ):
            return encoding
    return None


def _refuse_rubbish(head: bytes) -> None:
    sample = head[:HEAD]
    for magic, what, do in MAGIC:
        if sample.startswith(magic):
            raise UsageError(f"this is {what}, not a text; {do}")
    controls = len(sample) - len(sample.translate(None, CONTROLS))
    damaged = sample.decode("utf-8", "replace").count("\ufffd")
    # Latin-1 and the like damage single letters; rubbish damages every second one.
    if controls > TOO_MANY * len(sample) or damaged > 0.3 * max(len(sample), 1):
        raise UsageError(
            f"this is not a text (it begins with {sample[:8]!r}); pass a log or a pasted terminal text"
        )
