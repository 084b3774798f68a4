"""Which kind of subject a file is, by its name and its first bytes."""

from __future__ import annotations

import re
from pathlib import PurePath

HEAD = 64
SUFFIXES = {
    ".py": "py", ".tflite": "tflite", ".lite": "tflite",
    ".cc": "cc", ".cpp": "cc", ".cxx": "cc", ".h": "cc", ".hpp": "cc",
}  # fmt: skip
# Bytes at a place near the beginning, and what they show.
MAGIC = ((4, b"TFL3", "tflite"), (0, b"\x7fELF", "so"))
# libgomp.so.1, _umath.cpython-311-x86_64-linux-gnu.so
OBJECT = re.compile(r"\.so(?:\.\d[\w.-]{0,40})?$")
PYTHON = (b"#!/usr/bin/env python", b"#!/usr/bin/python", b"#!/usr/local/bin/python")


def by_name(path: str) -> str | None:
    """The kind that the name promises."""
    if OBJECT.search(path):
        return "so"
    return SUFFIXES.get(PurePath(path).suffix.lower())


def by_content(head: bytes) -> str | None:
    """The kind that the first bytes show."""
    if head.startswith(PYTHON):
        return "py"
    for at, magic, kind in MAGIC:
        if head[at : at + len(magic)] == magic:
            return kind
    return None
