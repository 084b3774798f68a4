"""Whether a thread that ends is still inside the handler of its own fault.

A program that recovers from a fault and ends much later has nothing to explain. A handler that ends
the process hides a death behind an exit status. What tells them apart is the frame that the kernel
laid on the stack for the handler: while the handler runs, it holds the registers of the fault.
"""

from __future__ import annotations

import os
import struct

from sigwhy.run import ptrace

SEARCHED_BYTES = 1 << 18
STACK_POINTER, PROGRAM_COUNTER = ptrace.X86_64.index("rsp"), ptrace.X86_64.index("rip")


def is_in_handler(pid: int, tid: int, at_fault: bytes) -> bool:
    """Whether the signal frame of a fault lies on the stack that the thread stands on."""
    sp, pc = _word(at_fault, STACK_POINTER), _word(at_fault, PROGRAM_COUNTER)
    now = _word(ptrace.register_bytes(tid), STACK_POINTER)
    return struct.pack("<QQ", sp, pc) in _memory(pid, now)


def _word(registers: bytes, number: int) -> int:
    return int(struct.unpack_from("<Q", registers, 8 * number)[0])


def _memory(pid: int, at: int) -> bytes:
    try:
        handle = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.pread(handle, SEARCHED_BYTES, at)
    except (OSError, OverflowError):
        return b""
    finally:
        os.close(handle)
