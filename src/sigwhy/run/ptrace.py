"""The system calls by which a process is watched from outside: Linux's ptrace, and nothing more.

A thread is *seized* (it goes on running), *stops* when something happens to it, and is let *go on*.
Every call raises ``ProcessLookupError`` where the thread is gone or does not stand still: a thread
may be killed at any moment, also while it is held.
"""

from __future__ import annotations

import ctypes
import os
import struct
from dataclasses import dataclass
from typing import Final

CONT, DETACH, GETSIGINFO, SETSIGINFO = 7, 17, 0x4202, 0x4203
SETOPTIONS, GETEVENTMSG, GETREGSET = 0x4200, 0x4201, 0x4204
SEIZE, INTERRUPT, LISTEN = 0x4206, 0x4207, 0x4208

FORK, VFORK, CLONE, EXEC, EXIT = 2, 4, 8, 16, 64  # options: stop there, and follow who is new
# EXITKILL is never among them: a job outlives its watcher.
FOLLOW: Final = FORK | VFORK | CLONE | EXEC

EVENT_FORK, EVENT_VFORK, EVENT_CLONE, EVENT_EXEC, EVENT_EXIT, EVENT_STOP = 1, 2, 3, 4, 6, 128
ALL_THREADS: Final = 0x40000000  # __WALL of waitpid

GENERAL, FLOATING, EXTENDED = 1, 2, 0x202  # NT_PRSTATUS, NT_FPREGSET, X86_XSTATE
MOST_REGISTERS, GENERAL_BYTES = 16384, 512
SIGINFO_BYTES: Final = 128

X86_64: Final = (
    "r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi",
    "rdi", "orig_rax", "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base", "ds", "es", "fs", "gs",
)  # fmt: skip

_libc = ctypes.CDLL(None, use_errno=True)
_ptrace = _libc.ptrace
_ptrace.restype = ctypes.c_long
_ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
# Since glibc 2.30.
_tgkill = getattr(_libc, "tgkill", None)


class _Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


@dataclass(frozen=True, slots=True)
class SigInfo:
    """What the kernel keeps of a signal: ``raw`` is its ``siginfo_t``."""

    raw: bytes

    @property
    def number(self) -> int:
        """The signal."""
        return int(struct.unpack_from("<i", self.raw)[0])

    @property
    def code(self) -> int:
        """Why it came: above 0 the kernel raised it, else a process sent it."""
        return int(struct.unpack_from("<i", self.raw, 8)[0])

    @property
    def address(self) -> int:
        """Where it happened, of a signal that the CPU raised."""
        return int(struct.unpack_from("<Q", self.raw, 16)[0])

    @property
    def sender(self) -> tuple[int, int]:
        """The process and the user who sent it, of a signal that was sent."""
        pid, uid = struct.unpack_from("<iI", self.raw, 16)
        return pid, uid

    @property
    def syscall(self) -> int:
        """The system call that was refused, of a SIGSYS."""
        return int(struct.unpack_from("<i", self.raw, 24)[0])

    @property
    def is_sent(self) -> bool:
        """Whether a process sent it, rather than the CPU or the kernel."""
        return self.code <= 0


def call(request: int, tid: int, address: int = 0, data: int = 0) -> None:
    """One request; raises what the kernel says."""
    if _ptrace(request, tid, address, data) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), f"ptrace {request:#x} of {tid}")


def seize(tid: int, options: int = FOLLOW) -> None:
    """Watch a thread from now on, and all that it starts; it goes on running."""
    call(SEIZE, tid, 0, options)


def go_on(tid: int, signal: int = 0) -> None:
    """Let a thread run on; with a signal, that is delivered to it. One that is gone is gone."""
    _ptrace(CONT, tid, 0, signal)


def listen(tid: int) -> None:
    """Leave a thread stopped, as a shell's Ctrl-Z wants it, and hear when it is continued."""
    _ptrace(LISTEN, tid, 0, 0)


def interrupt(tid: int) -> None:
    """Make a thread stop soon."""
    call(INTERRUPT, tid)


def let_go(tid: int, signal: int = 0) -> bool:
    """Stop watching; the thread runs on as if nobody had. False where it does not stand for us."""
    return bool(_ptrace(DETACH, tid, 0, signal) != -1)


def options(tid: int, wanted: int) -> None:
    """Change where a stopped thread will stop again."""
    call(SETOPTIONS, tid, 0, wanted)


def message(tid: int) -> int:
    """What an event tells: the new process of a fork, the former thread of an exec."""
    told = ctypes.c_ulong()
    call(GETEVENTMSG, tid, 0, ctypes.addressof(told))
    return told.value


def siginfo(tid: int) -> SigInfo:
    """The signal that a stopped thread is about to get."""
    kept = ctypes.create_string_buffer(SIGINFO_BYTES)
    call(GETSIGINFO, tid, 0, ctypes.addressof(kept))
    return SigInfo(kept.raw)


def set_siginfo(tid: int, info: SigInfo) -> None:
    """Say who really sent the signal that a stopped thread is about to get."""
    kept = ctypes.create_string_buffer(info.raw, SIGINFO_BYTES)
    call(SETSIGINFO, tid, 0, ctypes.addressof(kept))


def register_bytes(tid: int, kind: int = GENERAL) -> bytes:
    """The registers of a stopped thread as the kernel lays them out."""
    size = GENERAL_BYTES if kind == GENERAL else MOST_REGISTERS
    kept = ctypes.create_string_buffer(size)
    vector = _Vector(ctypes.addressof(kept), size)
    call(GETREGSET, tid, kind, ctypes.addressof(vector))
    return kept.raw[: vector.length]


def registers(raw: bytes) -> dict[str, int]:
    """The general registers by name."""
    return dict(zip(X86_64, struct.unpack_from(f"<{len(X86_64)}Q", raw), strict=True))


def send(pid: int, tid: int, signal: int) -> None:
    """Send a signal to one thread; where that is not allowed, nothing happens."""
    if _tgkill:
        _tgkill(pid, tid, signal)
