"""Memory that a script makes as bad as it was: not to be touched, or of a file that was cut.

Memory that was unmapped is made one that may not be touched: the next allocation would fill a hole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sigwhy.model.operation import Argument
    from sigwhy.report.repro_script import Script

CODE = '''\
libc = ctypes.CDLL(None)
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
held = []


def mapped(size):
    """New memory of a file, kept for as long as the script runs."""
    file = tempfile.TemporaryFile()
    file.truncate(max(size, 1))
    held.append((file, mmap.mmap(file.fileno(), max(size, 1))))
    return held[-1][1]


def spoil(address, size, how):
    """Forbid to touch memory, or cut the file that it is mapped from."""
    if how == "cut":
        held[-1][0].truncate(0)
    else:
        start = address & -mmap.PAGESIZE
        assert libc.mprotect(start, size + address - start, 0) == 0
'''


def how(script: Script, argument: Argument) -> str:
    """What is to be done to the memory of an argument; nothing where it was there."""
    signal = script.incident.signal
    if signal and signal.name == "SIGBUS" and _holds(argument, signal.address):
        return "cut"
    return "forbid" if argument.standing in ("gone", "protected") else ""


def _holds(argument: Argument, address: int | None) -> bool:
    """Whether the fault was in the memory of an argument."""
    start, size = argument.storage or (argument.address or 0, 0)
    return address is None or argument.standing == "gone" or 0 <= address - start < size


def use(script: Script) -> None:
    """Have the functions in the script, once."""
    for module in ("ctypes", "mmap", "tempfile"):
        script.use(f"import {module}")
    if not any(line.startswith("def spoil") for line in script.lines):
        script.add(*CODE.splitlines(), "", "")
