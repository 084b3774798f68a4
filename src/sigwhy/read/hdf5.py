"""What HDF5 says, by itself and through h5py, Keras, netCDF4 and PyTables.

Looks like::

    HDF5-DIAG: Error detected in HDF5 (1.14.3) thread 140012345678912:
      #000: H5F.c line 620 in H5Fopen(): unable to open file
        major: File accessibility
        minor: Unable to open file
    OSError: Unable to synchronously open file (truncated file: eof = 96, sblock->base_addr = 0, stored_eof = 2048)
    OSError: Unable to open file (file signature not found)
    Warning! ***HDF5 library version mismatched error***
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Fact, Log, Notice, Span, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence

MARKERS = (
    "Not a ", "heap version", "table node version", "collection version", "free block of", "address size", "address of object", "address overflow",
    "identifier", "left on device", "errno = 28", "already open for", "library is", "not a file", "not a location", "not a dataset", "signature", "version number", "metadata checksum", "addr overflow", "inflate() failed", "free block size", "Invalid ",
    "free list", "HDF5", "H5", "h5", "truncated file: eof", "signature not found", "object header", "nable to ", "an't ",
    "Unable to synchronously", "closing library",
)  # fmt: skip
DIAG = re.compile(r"HDF5-DIAG: Error detected in HDF5 \((?P<version>\d[\w.-]{0,20})\)")
DETAIL = re.compile(
    r"#\d{3}: (?P<file>\S{0,300}?H5\w{1,20}\.c) line (?P<line>\d{1,6}) in (?P<function>\w{1,60})\(\): (?P<text>.*)"
)
# The sentence, its topic, and the mechanism that it proves.
ROWS = (
    (re.compile(r"truncated file: eof = \d+, sblock->base_addr = \d+, stored_e(?:of|oa) = \d+"), "hdf5-truncated", "no-crash"),
    (re.compile(r"file signature not found"), "hdf5-not-hdf5", "no-crash"),
    (re.compile(r"bad object header version number|wrong (?:B-tree|local heap|fractal heap|superblock|symbol table node) (?:signature|version number)|bad (?:heap|symbol table node|global heap collection) (?:signature|version|free list)|incorrect metadata checksum|(?:free block|address) (?:size|of object) (?:is zero|past end of allocation)|addr(?:ess)? overflow, addr = |can't read (?:superblock|metadata)|unable to read superblock|inflate\(\) failed|unable to load object header"), "hdf5-damaged", "no-crash"),
    (re.compile(r"(?:errno = 28|No space left on device)"), "hdf5-disk-full", None),
    (re.compile(r"unable to (?:lock file|truncate a file which is already open)|file is already open for (?:write|read)"), "hdf5-file-in-use", "no-crash"),
    (re.compile(r"HDF5 library version mismatched error"), "hdf5-versions-differ", "check-failed"),
    (re.compile(r"Headers are (?P<built>\d[\d.]{2,10}), library is (?P<found>\d[\d.]{2,10})"), "hdf5-versions-differ", "check-failed"),
    (re.compile(r"HDF5: infinite loop closing library"), "hdf5-closed-late", None),
    (re.compile(r"Not a (?:file|datatype|dataset|group|dataspace) \(not a (?:file|datatype|dataset|group|dataspace)\)|Not a (?:location|dataset|file|group) \(invalid object ID\)|Invalid (?:location|file|dataset) identifier|not a (?:location|file) ID|identifier is not of specified type|Unable to create \w+ \(invalid file ID\)"), "hdf5-used-after-close", "no-crash"),
)  # fmt: skip
# A weights file that does not belong to the model is whole, but another's.
OPENING = re.compile(r"\bH5F?\w*|h5py|HDF5|[Uu]nable to (?:synchronously )?\w+|[Cc]an't \w+")


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the version, the records of the error stack, and the sentences that are known."""
    for n, line in enumerate(evidence.lines):
        if found := DIAG.search(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
            yield Version(span=span, package="HDF5", version=found["version"])
        if found := DETAIL.search(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0].strip())
            text, row = found["text"].strip(), int(found["line"])
            yield Log(
                span=span,
                framework="hdf5",
                level="error",
                text=text,
                file=found["file"],
                line=row,
            )
        yield from _notices(evidence, n, line)


def _notices(evidence: Evidence, n: int, line: str) -> Iterator[Notice]:
    for pattern, topic, mechanism in ROWS:
        if (found := pattern.search(line)) and _speaks_of_hdf5(topic, line):
            words = found[0].strip()
            span = Span(evidence=evidence.name, first=n, last=n, words=words)
            yield Notice(span=span, topic=topic, text=words, subject="HDF5", mechanism=mechanism)
            return


def _speaks_of_hdf5(topic: str, line: str) -> bool:
    """Whether the line is of HDF5: a full disk, say, is reported by many."""
    return topic not in {"hdf5-disk-full", "hdf5-damaged"} or bool(OPENING.search(line))
