"""Whose memory it was: the frames of an allocation that are the interpreter's own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sigwhy.model.fact import Frame

ALLOCATOR = re.compile(
    r"^_*(?:interceptor_|libc_|wrap_|interceptor_trampoline_)?(?:malloc|calloc|realloc|reallocarray|posix_memalign|memalign"
    r"|aligned_alloc|strdup|strndup|operator new.*|_?Zn[wa]\w*|pymalloc\w*|object_alloc)(?:\.\w+)*$"
)
# Also as perl and gcc write a clone of it: PyObject_Malloc.part.0
API = re.compile(r"^_*Py(?:[A-Z]\w*|_\w+)?(?:\.\w+)*$|^py(?:main|run)_\w+$")
STARTS = re.compile(r"^(?:main|_start|__libc_start\w*|start_thread|clone3?)$")
FILES = re.compile(
    r"(?:^|/)(?:Objects|Python|Parser|Programs)/[\w/.-]+\.[ch]$|/libsanitizer/|/compiler-rt/"
)
LIBRARIES = re.compile(
    r"(?:^|/)(?:libpython[\d.]*\w*\.so[\d.]*|python[\d.]*\w?|lib[al]san\.so[\d.]*|libc\.so\.6|libc-[\d.]+\.so|libclang_rt\S*)$"
)


def is_interpreter(frame: Frame) -> bool:
    """Whether a frame is the allocator or the interpreter itself, and no extension."""
    name = frame.function or ""
    return bool(
        not name
        or ALLOCATOR.match(name)
        or API.match(name)
        or STARTS.match(name)
        or FILES.search(frame.file or "")
        or LIBRARIES.search(frame.library or "")
    )
