"""A file, an image, a record or a serialised tensor is damaged, cut short or hostile.

What happens: a decoder believes the sizes that stand in the data. If they are wrong it refuses,
which is an exception, or it reads and writes past its buffers, which is a crash.

How to tell: the decoder says so ("corrupted record", "Invalid JPEG data"), or the dead thread
stands inside a decoder (libjpeg, libpng, GIF, BMP, TIFF, a parser of records).

Fix: find the file by decoding one at a time in a child process, and re-create or delete it. Decode
what strangers send in a process that may die, and keep the decoding libraries new.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from sigwhy.model.argument_words import DECODES
from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.entry import whom
from sigwhy.model.fact import Checker, Death, Entered, Notice, Opened, PythonError, Stack, Wrote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="malformed-input",
    title="the input data is damaged",
    fix="Find the damaged file by decoding one at a time in a child process; re-create or delete it.",
)
DECODERS = re.compile(
    r"\b(?:jpeg_(?:read|start|finish|fill|decode)\w*|jdhuff\w*|decode_mcu\w*|png_(?:read|process|inflate|combine)\w*|DGif\w+|gif_\w+|TIFF(?:Read|Fetch|Decode|Visit)\w*|_?TIFF\w+"
    r"|Decode(?:Bmp|Png|Jpeg|Gif|Image|WebP|Wav|Proto|Raw|Compressed|Csv|JSON)\w*|VP8\w+|WebPDecode\w*|av_read_frame|avcodec_\w+|ff_h264\w*|opj_\w+|heif_\w+|Parse(?:Single)?(?:Sequence)?Example\w*|FastParse\w*"
    r"|ReadProtoHelper|parquet::|arrow::ipc::|arrow::(?:json|csv)::|tokenize_bytes|inflate\w*|ZSTD_decompress\w*|snappy::\w*)\b"
)
NEAR = 6
CRASHES = frozenset({"SIGSEGV", "SIGABRT", "SIGFPE", "SIGBUS"})
MODEL = re.compile(r"\.(?:h5|hdf5|keras|tflite|pb|pt|pth|onnx)$")
# Libraries that do nothing but read files and streams, and what they read.
PARSERS = (
    (re.compile(r"(?:^|/)(?:lib)?hdf5[\w.-]*$|/h5py/|libhdf5"), "HDF5", re.compile(r"\.(?:h5|hdf5|keras|he5|nc)$")),
    (re.compile(r"libpng|libjpeg|turbojpeg|libtiff|libwebp|libgif|openjp2|libheif|libavif|_imaging|libraw"), "image", re.compile(r"\.(?:png|jpe?g|tiff?|webp|gif|jp2|heic|avif|bmp)$", re.IGNORECASE)),
    (re.compile(r"libav(?:codec|format)|libsndfile|libvorbis|libmpg123|libFLAC"), "media", re.compile(r"\.(?:mp4|mkv|avi|mov|wav|mp3|flac|ogg)$", re.IGNORECASE)),
    (re.compile(r"libparquet|libnetcdf|libgdal|libsqlite3|libxml2|liblzma|libz[.-]|libzstd|liblz4|libbz2|expat"), "data", re.compile(r"\.(?:parquet|arrow|feather|nc|tif|db|sqlite3?|xml|gz|xz|zst|bz2|lz4|zip)$", re.IGNORECASE)),
)  # fmt: skip


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for damaged input data."""
    for notice in case.all(Notice):
        culprit = Culprit(kind="file", name=notice.subject)
        if notice.topic == "input-damaged":
            says = f"the {notice.subject} data could not be decoded"
            yield Clue(Weight.PROOF, notice, says, culprit)
        elif notice.topic == "input-suspicious":
            says = "the decoder met damaged data"
            yield Clue(Weight.FAIR, notice, says, culprit)
        elif notice.topic in {"hdf5-truncated", "hdf5-damaged", "hdf5-not-hdf5"}:
            yield Clue(Weight.FAIR, notice, "an HDF5 file is damaged", culprit)
    for stack in case.all(Stack):
        if stack.crashed and stack.role == "fault":
            yield from _frames(case, stack)
    for entered in case.all(Entered):
        yield from _parsing(case, entered)
        yield from _decoding(case, entered)


def _decoding(case: Case, entered: Entered) -> Iterator[Clue]:
    """Your line calls a function that decodes data, and the process died of it."""
    died = next((d for d in case.all(Death) if d.signal in CRASHES), None)
    if died and entered.written and DECODES.search(entered.written) and not entered.through:
        blamed = whom(entered)
        says = f"your line calls {entered.written}, which believes the data that it is given"
        yield Clue(Weight.STRONG, entered, says, blamed)
        yield Clue(Weight.FAIR, died, f"it died of {died.signal} there", blamed)


def _parsing(case: Case, entered: Entered) -> Iterator[Clue]:
    """It died in a library whose trade is to read files."""
    died = next((d for d in case.all(Death) if d.signal in CRASHES), None)
    row = next((r for r in PARSERS if r[0].search(entered.died_library or "")), None)
    if (
        not died
        or not row
        or any(DECODERS.search(f.function or "") for s in case.all(Stack) for f in s.frames[:NEAR])
    ):
        return
    what = row[1]
    blamed = whom(entered)
    says = f"it died in a library that reads {what} files, which believes what they say"
    yield Clue(Weight.STRONG, entered, says, blamed)
    for opened in case.all(Opened):
        if MODEL.search(opened.path):
            yield Clue(Weight.AGAINST, opened, "the file that was open is rather a model")
            return
        if row[2].search(opened.path):
            yield Clue(
                Weight.FAIR, opened, f"{opened.path} was open", replace(blamed, value=opened.path)
            )
            return
    if wrote := next((w for w in case.all(Wrote) if w.topic == "damages"), None):
        yield Clue(Weight.SLIGHT, wrote, "a file is patched byte by byte there")


def _frames(case: Case, stack: Stack) -> Iterator[Clue]:
    for frame in stack.frames[:NEAR]:
        found = DECODERS.search(frame.function or "")
        if found and not case.first(PythonError):
            culprit = Culprit(
                kind="api", name=found[0], function=frame.function, library=frame.library
            )
            yield Clue(Weight.STRONG, stack, f"it died while decoding data, in {found[0]}", culprit)
            if end := case.first(Checker) or case.first(Death):
                says = "it died of memory, as decoders do which believe the sizes in their data"
                yield Clue(Weight.FAIR, end, says)
            return
