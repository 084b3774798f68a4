"""What libraries say about a file that they cannot read because it is damaged, cut or another's.

Looks like::

    google.protobuf.message.DecodeError: Error parsing message with type 'tensorflow.SavedModel'
    DataLossError: Unable to open table file m/variables.index: Data loss: not an sstable (bad magic number)
    _pickle.UnpicklingError: invalid load key, 'v'.
    safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge
    InvalidArgumentError: Unknown image file format. One of JPEG, PNG, GIF, BMP required. [Op:DecodeImage]
    DataLossError: corrupted record at 1048576
    OSError: image file is truncated (12 bytes not processed)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Notice, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

MARKERS = (
    "hecksum", "ould not parse", "rror parsing", "Invalid:", "eserializ", "underflow", "decompress", "inflate()", "end-of-stream", "HeaderToo", "Deserialization", "IncompleteBuffer", "marker type", "reshape array of size", "bytes than requested", "runcated", "Invalid WebP", "greater than file size", "bytes per sample", "audio format", "Bad CRC", "gzipped", "ata Loss", "ataLoss", "ataloss", "ata loss", "Header mismatch", "too short", "corrupted",
    "arsing message", "annot parse file", "DecodeError", "sstable", "ata loss", "DataLoss", "DATA_LOSS",
    "load key", "pickle data", "Ran out of input", "SafetensorError", "safetensors", ".keras", "image", "Image", "JPEG",
    "PNG", "GIF", "BMP", "record at", "serialized Example", "example input", "libpng", "zip file", "zlib",
    "malformed input", "Parquet", "thrift", "gguf", "GGUF", "TFRecord", "wire type", "saved_model.pb", "TensorBundle",
    "Checksum", "checkpoint", "arrow", "Uncompress", "WAV", "memory map", "invalid magic", "magic",
)  # fmt: skip
SUSPICIOUS = "input-suspicious"
# The sentence, its topic, and what kind of file it speaks of.
ROWS = (
    # models
    (re.compile(r"Error parsing message(?: with type 'tensorflow\.(?P<about>\w+)')"), "model-damaged", "SavedModel"),
    (re.compile(r"Cannot parse file .{0,300}?(?:saved_model|\.pb)\b"), "model-damaged", "SavedModel"),
    (re.compile(r"Can't parse .{0,200}saved_model\.pb|Could not parse .{0,200}?\.pb(?:txt)? ?as|Wrong wire type in tag"), "model-damaged", "protobuf"),
    (re.compile(r"not an sstable \(bad magic number\)|file is too short to be an sstable"), "model-damaged", "checkpoint"),
    (re.compile(r"TensorBundle at .{1,300}? shard \d+ \(\d+ bytes\)|Checksum does not match: stored|Read fewer bytes than requested"), "model-damaged", "checkpoint"),
    (re.compile(r"[Dd]ata ?[Ll]oss:? .{0,120}(?:variables|ckpt|checkpoint|block checksum mismatch)"), "model-damaged", "checkpoint"),
    (re.compile(r"invalid load key, '(?P<about>.{1,6}?)'"), "model-damaged", "pickle"),
    (re.compile(r"unexpected EOF, expected \d{1,15} more bytes\. The file might be corrupted"), "model-damaged", "checkpoint"),
    (re.compile(r"pickle data was truncated|EOFError: Ran out of input|unpickling stack underflow"), "model-damaged", "pickle"),
    (re.compile(r"Error while deserializing header: ?(?P<about>\w+)|MetadataIncompleteBuffer|InvalidHeaderDeserialization|HeaderTooLarge|HeaderTooSmall"), "model-damaged", "safetensors"),
    (re.compile(r"accessible `?\.keras`? zip"), "model-damaged", ".keras"),
    (re.compile(r"(?:invalid magic (?:characters|number)|bad magic|failed to read magic).{0,60}(?:gguf|ggml|GGUF|llama)|gguf_init_from_file: .{0,40}(?:invalid|failed|bad)"), "model-damaged", "GGUF"),
    (re.compile(r"[Dd]eserialize(?:r)?Cuda(?:Engine)?.{0,80}(?:[Mm]agic tag|failed)|Serialization assertion .{0,60}magicTag"), "model-damaged", "TensorRT engine"),
    # data
    (re.compile(r"Unknown image file format"), "input-damaged", "image"),
    (re.compile(r"Expected image \(JPEG, PNG, (?:or GIF|GIF,? or BMP)\), got (?P<about>.{1,40})"), "input-damaged", "image"),
    (re.compile(r"Invalid (?:JPEG|PNG|GIF|BMP|WebP)(?: data|\.)|jpeg::Uncompress failed|Uncompress failed\. Invalid JPEG|Trying to decode BMP format"), "input-damaged", "image"),
    (re.compile(r"image file is truncated|cannot identify image file|broken data stream when reading image|Truncated File Read"), "input-damaged", "image"),
    (re.compile(r"Corrupt JPEG data|Premature end of JPEG file|libpng error: |Unsupported marker type 0x"), "input-suspicious", "image"),
    (re.compile(r"(?:corrupted|truncated) record at \d+"), "input-damaged", "TFRecord"),
    (re.compile(r"Could not parse example input|Can't parse serialized Example|Error parsing (?:serialized )?(?:Example|tf\.Example)"), "input-damaged", "TFRecord"),
    (re.compile(r"File is not a zip file|Bad CRC-32 for file|Error -3 while decompressing data|inflate\(\) failed with error -[35]"), "input-damaged", "archive"),
    (re.compile(r"Compressed file ended before the end-of-stream|Not a gzipped file"), "input-damaged", "archive"),
    (re.compile(r"Buffer overflow caught - possible malformed input file"), "input-damaged", "CSV"),
    (re.compile(r"Parquet magic bytes not found|Couldn't deserialize thrift|Not a Parquet file|Invalid: (?:Not an Arrow file|Corrupted? (?:message|snappy|lz4))"), "input-damaged", "Parquet"),
    (re.compile(r"Bad (?:audio format|bytes per sample)|(?:Data too short when trying to read|Header mismatch: Expected RIFF)"), "input-damaged", "WAV"),
    (re.compile(r"mmap length is greater than file size|cannot reshape array of size \d+ into shape .{0,60}memmap"), "input-damaged", "array file"),
)  # fmt: skip


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield one notice for each line that says so."""
    for n, line in enumerate(evidence.lines):
        for pattern, topic, subject in ROWS:
            if found := pattern.search(line):
                words = found[0].strip()
                span = Span(evidence=evidence.name, first=n, last=n, words=words)
                ends = None if topic == SUSPICIOUS else "no-crash"
                yield Notice(span=span, topic=topic, text=words, subject=subject, mechanism=ends)
                break
