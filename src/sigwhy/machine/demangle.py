"""C++ names as people write them: ``_ZN3fooC2Ev`` is ``foo::foo()``.

The demangler of the C++ run time that is on this machine does it. Where there is none (Windows), or
where a name is made to explode, the names inside are read off, and a name that is no C++ stays.
"""

from __future__ import annotations

import ctypes
import re
import sys
from functools import cache, lru_cache
from typing import Any

# libstdc++ first: it knows what the clang of a wheel and gcc itself have mangled.
RUN_TIMES = {
    "linux": ("libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"),
    "darwin": ("/usr/lib/libc++abi.dylib", "libc++abi.dylib", "libc++.1.dylib"),
}
LONGEST = 16 * 1024
# A reference repeats what stood before. k of them can make a name e**(k/e) times longer:
# 250 letters become 570 MB (seen with libstdc++ of gcc 12). 24 make at most some thousand times.
REFERENCE = re.compile(r"[ST][0-9A-Z]*_")
MOST_REFERENCES = 24
MANGLED = re.compile(r"^_{1,4}Z[A-Za-z0-9_.$]{2,}(?:@@?[\w.]+)?$")
NESTED = re.compile(r"^_{1,4}Z(?:TV|TI|TS|GV)?(?:N[VKrRO]*(?:St)?|L|St)?(?=\d)")
LENGTH = re.compile(r"\d{1,4}")
SHOWN = 400


@lru_cache(maxsize=4096)
def demangled(name: str) -> str:
    """The name as it stands in the source, or the name as it is."""
    if not MANGLED.match(name) or len(name) > LONGEST:
        return name
    symbol = name.partition("@")[0].partition(".")[0]
    symbol = "_Z" + symbol.lstrip("_").removeprefix("Z")
    full = None if _explodes(symbol) else _by_the_run_time(symbol)
    return _shortened(full) if full else _names_inside(symbol) or name


def _explodes(symbol: str) -> bool:
    return len(REFERENCE.findall(symbol)) > MOST_REFERENCES


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def _names_inside(symbol: str) -> str | None:
    """``tensorflow::Foo::Compute`` of ``_ZN10tensorflow3Foo7Compute...``: no arguments, no types."""
    start = NESTED.match(symbol)
    at, names = (start.end() if start else len(symbol)), []
    while length := LENGTH.match(symbol, at):
        at = length.end() + int(length[0])
        names.append(symbol[length.end() : at])
        if not symbol.startswith("_ZN"):
            break
    if not names or at > len(symbol) or not all(names):
        return None
    return "::".join("(anonymous namespace)" if n.startswith("_GLOBAL__N") else n for n in names)


def _by_the_run_time(symbol: str) -> str | None:
    demangle = _run_time()
    if demangle is None:
        return None
    status = ctypes.c_int()
    found = demangle(symbol.encode(), None, None, ctypes.byref(status))
    if not found:
        return None
    try:
        return ctypes.string_at(found).decode(errors="replace") if status.value == 0 else None
    finally:
        _free()(found)


@cache
def _run_time() -> Any:
    for library in RUN_TIMES.get(sys.platform, ()):
        try:
            demangle = ctypes.CDLL(library)["__cxa_demangle"]
        except (OSError, AttributeError):
            continue
        demangle.restype = ctypes.c_void_p
        demangle.argtypes = [
            ctypes.c_char_p,
            ctypes.c_char_p,
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int),
        ]
        return demangle
    return None


@cache
def _free() -> Any:
    free = ctypes.CDLL(None).free
    free.restype = None
    free.argtypes = [ctypes.c_void_p]
    return free
