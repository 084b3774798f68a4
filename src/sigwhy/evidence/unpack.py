"""Decompresses gzip, xz, bzip2 and zstd, told apart by content, and refuses bombs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from typing import IO, TYPE_CHECKING, cast

from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sigwhy.evidence.source import Opened

BLOCK = 1 << 20
# A log shrinks to a tenth, seldom to a hundredth. A bomb shrinks to a thousandth.
HARMLESS_BYTES = 256 << 20
MOST_RATIO = 300


class Counted(io.RawIOBase):
    """A stream that knows how much was read from it, with the first bytes put back."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self.head = head
        self.stream = stream
        self.count = 0

    def readable(self) -> bool:
        """It can be read; that is all it can do."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The head first, then the stream."""
        size = BLOCK if size < 0 else size
        if self.head:
            data, self.head = self.head[:size], self.head[size:]
        else:
            data = block(self.stream, size)
        self.count += len(data)
        return data

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # typeshed -- wants WriteableBuffer
        """Fill a buffer, as buffered readers ask."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _zstd(stream: IO[bytes]) -> io.BufferedIOBase:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return cast("io.BufferedIOBase", zstd.open(stream))


def _gzip(stream: IO[bytes]) -> io.BufferedIOBase:
    return gzip.GzipFile(fileobj=stream)


def _xz(stream: IO[bytes]) -> io.BufferedIOBase:
    return lzma.LZMAFile(stream)


def _bzip2(stream: IO[bytes]) -> io.BufferedIOBase:
    return bz2.BZ2File(stream)


PACKERS: tuple[tuple[bytes, str, Callable[[IO[bytes]], io.BufferedIOBase]], ...] = (
    (b"\x1f\x8b", "gzip", _gzip),
    (b"\xfd7zXZ\x00", "xz", _xz),
    (b"BZh", "bzip2", _bzip2),
    (b"\x28\xb5\x2f\xfd", "zstd", _zstd),
)


def is_packed(head: bytes) -> bool:
    """Whether these are the first bytes of something compressed."""
    return any(head.startswith(magic) for magic, _, _ in PACKERS)


def unpacked(opened: Opened) -> Iterator[bytes]:
    """The blocks of a stream, decompressed where it is compressed."""
    head = block(opened.stream, BLOCK)
    counted = Counted(head, opened.stream)
    for magic, packer, unpack in PACKERS:
        if head.startswith(magic):
            yield from _expand(packer, counted, unpack)
            return
    while plain := counted.read(BLOCK):
        yield plain


def block(stream: IO[bytes], size: int) -> bytes:
    """The next bytes; a disk that fails, or a file that only looks like one, is refused."""
    try:
        return stream.read(size) or b""
    except OSError as error:
        raise UsageError(
            f"this cannot be read ({error.strerror or error}); copy it to another place and pass the copy"
        ) from None


def _expand(
    packer: str, counted: Counted, unpack: Callable[[IO[bytes]], io.BufferedIOBase]
) -> Iterator[bytes]:
    expanded = 0
    try:
        stream = unpack(cast("IO[bytes]", io.BufferedReader(counted)))
        # read1 gives what there is before it finds that the stream is torn; read would not.
        while piece := stream.read1(BLOCK):
            expanded += len(piece)
            _refuse_bomb(expanded, counted.count)
            yield piece
    except UsageError:
        raise
    except EOFError:  # torn off: what came before is evidence all the same
        if not expanded:
            raise UsageError(
                f"this is the beginning of a {packer} file, too short to hold a word; pass the whole file"
            ) from None
    except (OSError, zlib.error, lzma.LZMAError, ValueError, RuntimeError) as error:
        if not expanded:
            raise UsageError(
                f"this looks like {packer} but cannot be unpacked ({error}); pass the whole file"
            ) from None
    except Exception as error:  # noqa: BLE001 -- zstd has its own exception, with another name in each version
        raise UsageError(f"this looks like {packer} but cannot be unpacked ({error})") from None


def _refuse_bomb(expanded: int, packed: int) -> None:
    if expanded > HARMLESS_BYTES and expanded > MOST_RATIO * max(packed, 1):
        raise UsageError(
            f"this grows to more than {MOST_RATIO} times its size when unpacked, as no log does;"
            " unpack it yourself if you trust it"
        )
