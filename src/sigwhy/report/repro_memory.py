"""Memory that a script makes as bad as it was: taken away, or not to be touched.

An anonymous mapping of its own is unmapped or protected by the C library, behind the back of whoever
has a view of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sigwhy.report.repro_script import Script

BAD = ("gone", "protected")
CODE = '''\
libc = ctypes.CDLL(None)
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
held = []


def spoil(address, size, how):
    """Take memory away, or forbid to touch it."""
    start = address & -mmap.PAGESIZE
    size += address - start
    status = libc.munmap(start, size) if how == "gone" else libc.mprotect(start, size, 0)
    assert status == 0


def mapped(size):
    """New memory, kept for as long as the script runs."""
    held.append(mmap.mmap(-1, max(size, 1)))
    return held[-1]
'''


def use(script: Script) -> None:
    """Have the functions in the script, once."""
    script.use("import ctypes")
    script.use("import mmap")
    if not any(line.startswith("def spoil") for line in script.lines):
        script.add(*CODE.splitlines(), "", "")
