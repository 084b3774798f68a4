"""Debuggers that a program starts: a process can have one tracer, so sigwhy makes room.

Whoever is let go runs as if sigwhy were not there, and so does all that it starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

# Programs whose trade is ptrace.
NAMES = frozenset({
    "gdb", "gdbserver", "gdb-multiarch", "cuda-gdb", "rocgdb", "lldb", "lldb-server", "strace", "ltrace", "uftrace", "rr", "dlv", "edb", "r2",
    "radare2", "py-spy", "pystack", "reptyr", "gcore", "eu-stack", "pstack", "criu", "drmemory", "frida-server",
})  # fmt: skip
INTERPRETERS = ("python", "sh", "bash", "dash", "perl")


def is_one(command: Sequence[str]) -> bool:
    """Whether a command is a debugger, or a script that is one."""
    first = _name(command[0]) if command else ""
    if first in NAMES:
        return True
    return first.startswith(INTERPRETERS) and len(command) > 1 and _name(command[1]) in NAMES


def _name(word: str) -> str:
    return word.rpartition("/")[2]


def targets(command: Sequence[str], known: Container[int]) -> Iterator[int]:
    """The processes of ours that its command line names: ``-p 4711``, ``--pid=4711``, ``program 4711``."""
    for word in command[1:]:
        digits = word.rpartition("=")[2].removeprefix("-p")
        if digits.isdecimal() and len(digits) < 10 and int(digits) in known:
            yield int(digits)
