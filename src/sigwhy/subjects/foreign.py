"""What a file is that is not what its name says: most often something went wrong while it was fetched."""

from __future__ import annotations

# How a file begins, what it is then, and what to do.
BEGINNINGS = (
    (b"version https://git-lfs", "a Git LFS pointer: the file itself was not fetched; type git lfs pull"),
    (b"<!DOCTYPE", "an HTML page: the download gave a page instead of the file; fetch it again"),
    (b"<!doctype", "an HTML page: the download gave a page instead of the file; fetch it again"),
    (b"<html", "an HTML page: the download gave a page instead of the file; fetch it again"),
    (b"<HTML", "an HTML page: the download gave a page instead of the file; fetch it again"),
    (b"<?xml", "an XML text, such as the error of a file server; fetch it again"),
    (b"{", "a JSON text, such as the answer of a server; fetch the file itself"),
    (b"\x1f\x8b", "packed with gzip; unpack it with gunzip"),
    (b"PK\x03\x04", "a zip archive; unpack it and use the model inside"),
    (b"\xfd7zXZ", "packed with xz; unpack it with xz -d"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd; unpack it with zstd -d"),
    (b"BZh", "packed with bzip2; unpack it with bunzip2"),
    (b"\x89HDF", "an HDF5 file, as Keras writes its .h5; convert it with TFLiteConverter"),
    (b"\x08\x01\x12", "a TensorFlow graph or SavedModel; convert it with TFLiteConverter"),
    (b"\x7fELF", "an ELF program or library"),
    (b"\x80\x02", "a pickle; do not load it unless you trust who made it"),
    (b"\x93NUMPY", "a NumPy array"),
)  # fmt: skip


def looks_like(data: memoryview) -> str:
    """What the bytes look like, as words that read on after "this is"."""
    if not len(data):
        return "an empty file; the download or the export was cut short"
    head = bytes(data[:64])
    for beginning, words in BEGINNINGS:
        if head.lstrip(b"\xef\xbb\xbf \n").startswith(beginning):
            return words
    if not any(head):
        return "a file of zeros, as a download leaves that was cut short; fetch it again"
    shown = head[4:8].decode("latin-1").encode("ascii", "backslashreplace").decode()
    return f"no model: byte 4 has {shown!r} where TFL3 must stand"
