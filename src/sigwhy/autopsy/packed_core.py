"""Cores that were compressed, as systemd keeps them (zstd, lz4, xz) and people mail them (gzip).

A core is unpacked into a file of holes: pages of zeros take no room. How much is unpacked is bounded
by a limit and by half of what is free.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import sys
import tempfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias, cast

from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_BYTES = 16 << 30
BLOCK = 1 << 20
PAGE = 4096
ELF = b"\x7fELF"
LZ4 = b"\x04\x22\x4d\x18"
LZ4_HEAD = 64  # an ELF head does not repeat itself, so lz4 leaves its first bytes as they are


Unpacking: TypeAlias = "gzip.GzipFile | lzma.LZMAFile | bz2.BZ2File"


def _zstd(path: Path) -> Unpacking:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return cast("Unpacking", zstd.ZstdFile(path))


PACKERS: tuple[tuple[bytes, Callable[[Path], Unpacking]], ...] = (
    (b"\x28\xb5\x2f\xfd", _zstd),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
    (b"\x1f\x8b", gzip.GzipFile),
    (b"BZh", bz2.BZ2File),
)
DAMAGED = (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError, RuntimeError)


def is_packed_core(path: Path, head: bytes) -> bool:
    """Whether a file is a core or another ELF file that was compressed."""
    if head.startswith(LZ4):
        return ELF in head[:LZ4_HEAD]
    packer = _packer(head)
    if packer is None:
        return False
    try:
        with packer(path) as stream:
            return stream.read(len(ELF)) == ELF
    except Exception:  # noqa: BLE001 -- it is no packed core, whatever else it is; zstd has its own error
        return False


@contextmanager
def unpacked(path: Path, head: bytes) -> Iterator[Path]:
    """The core as a file of its own for as long as the context lasts."""
    packer = _packer(head)
    if packer is None:
        raise UsageError(
            f"{path} is a core packed with lz4; unpack it first: lz4 -d {path.name} core"
        )
    with tempfile.TemporaryDirectory(prefix="sigwhy-") as folder:
        place = Path(folder, "core")
        most = min(MOST_BYTES, shutil.disk_usage(folder).free // 2)
        try:
            with packer(path) as stream, place.open("wb") as out:
                whole = _copy(stream, out, most)
        except DAMAGED as error:
            raise UsageError(f"{path} cannot be unpacked ({error}); copy it once more") from None
        if not whole:
            raise UsageError(
                f"{path} holds more than the {most >> 30} GiB that can be unpacked here; "
                "unpack it where there is room, and pass the core"
            )
        yield place


def _packer(head: bytes) -> Callable[[Path], Unpacking] | None:
    return next((packer for magic, packer in PACKERS if head.startswith(magic)), None)


def _copy(stream: Unpacking, out: IO[bytes], most: int) -> bool:
    """Copy page by page, leaving holes for zeros; False where there is more than ``most``."""
    nothing = bytes(PAGE)
    size = 0
    for block in _blocks(stream):
        size += len(block)
        if size > most:
            return False
        for at in range(0, len(block), PAGE):
            page = block[at : at + PAGE]
            if page == nothing:
                out.seek(PAGE, os.SEEK_CUR)
            else:
                out.write(page)
    out.truncate(size)
    return True


def _blocks(stream: Unpacking) -> Iterator[bytes]:
    """Blocks of whole pages; of a stream that was cut off, what there is."""
    rest = b""
    try:
        while part := stream.read1(BLOCK):  # read would lose what comes before a tear
            rest += part
            whole = len(rest) // PAGE * PAGE
            if whole:
                yield rest[:whole]
                rest = rest[whole:]
    except EOFError:
        pass
    yield rest
