"""Which system calls wait, and for what: the numbers of Linux, by machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PRIVATE, OPERATION = 0x80, 0x7F  # bits of a futex call: for this process alone, what to do
WAIT, LOCK_PI, WAIT_BITSET = 0, 6, 9
CONTENDED = 2  # what a waiter expects to find in a lock of glibc
NEVER = 0xFFFFFFFF  # -1 as an int


@dataclass(frozen=True, slots=True)
class Call:
    """A call that waits. ``kind``: futex, child, file, events, sleep, signal, lock-of-file, other.

    ``limit`` is the argument that bounds the time, ``pointer`` says that it is one: 0 is for ever.
    """

    name: str
    kind: str
    limit: int | None = None
    pointer: bool = True


FUTEX = Call("futex", "futex", 3)
ROWS = (
    # name, kind, argument with the time limit, a pointer, number on x86-64, on arm64
    ("futex", "futex", 3, True, 202, 98),
    ("wait4", "child", None, True, 61, 260),
    ("waitid", "child", None, True, 247, 95),
    ("read", "file", None, True, 0, 63),
    ("write", "file", None, True, 1, 64),
    ("readv", "file", None, True, 19, 65),
    ("writev", "file", None, True, 20, 66),
    ("connect", "file", None, True, 42, 203),
    ("accept", "file", None, True, 43, 202),
    ("accept4", "file", None, True, 288, 242),
    ("sendto", "file", None, True, 44, 206),
    ("recvfrom", "file", None, True, 45, 207),
    ("sendmsg", "file", None, True, 46, 211),
    ("recvmsg", "file", None, True, 47, 212),
    ("recvmmsg", "file", 4, True, 299, 243),
    ("poll", "events", 2, False, 7, None),
    ("ppoll", "events", 2, True, 271, 73),
    ("select", "events", 4, True, 23, None),
    ("pselect6", "events", 4, True, 270, 72),
    ("epoll_wait", "events", 3, False, 232, None),
    ("epoll_pwait", "events", 3, False, 281, 22),
    ("epoll_pwait2", "events", 3, True, 441, 441),
    ("nanosleep", "sleep", 0, True, 35, 101),
    ("clock_nanosleep", "sleep", 2, True, 230, 115),
    ("pause", "signal", None, True, 34, None),
    ("rt_sigsuspend", "signal", None, True, 130, 133),
    ("rt_sigtimedwait", "signal", 2, True, 128, 137),
    ("flock", "lock-of-file", None, True, 73, 32),
    ("fcntl", "lock-of-file", None, True, 72, 25),
    ("semop", "other", None, True, 65, 193),
    ("semtimedop", "other", 3, True, 220, 192),
    ("msgrcv", "other", None, True, 70, 188),
    ("mq_timedreceive", "other", 4, True, 243, 183),
    ("io_getevents", "other", 4, True, 208, 4),
    ("io_uring_enter", "other", None, True, 426, 426),
    ("fsync", "other", None, True, 74, 82),
)
CALLS = {
    machine: {row[4 + n]: Call(*row[:4]) for row in ROWS if row[4 + n] is not None}
    for n, machine in enumerate(("x86_64", "aarch64"))
}


def call(number: str, machine: str) -> Call | None:
    """The call of a number, where it is one that waits."""
    return CALLS.get(machine, {}).get(int(number)) if number.isdecimal() else None


def has_limit(known: Call, arguments: Sequence[int]) -> bool:
    """Whether the wait ends by itself after some time."""
    if known.limit is None or len(arguments) <= known.limit:
        return False
    value = arguments[known.limit]
    return value != 0 if known.pointer else value & NEVER < NEVER >> 1


def is_private(arguments: Sequence[int]) -> bool:
    """Whether a futex can be woken from this process alone."""
    return len(arguments) > 1 and bool(arguments[1] & PRIVATE)


def expects_lock(arguments: Sequence[int]) -> bool:
    """Whether a futex is a lock of glibc that somebody holds."""
    if len(arguments) < 3:
        return False
    return arguments[1] & OPERATION in (WAIT, WAIT_BITSET) and arguments[2] == CONTENDED
