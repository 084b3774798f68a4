"""A jump to where no code is leaves no frame to unwind from; the return address tells who jumped.

For the unwinder a small core is written anew, as if the call had come back: the program counter is
what the stack pointer points to, and the stack pointer stands behind it.
"""

from __future__ import annotations

import struct
from pathlib import Path

from sigwhy.autopsy.core import Core
from sigwhy.machine.memory import UnreadableError

SMALL_BYTES = 64 << 20
NOTE_HEADER = 12
STATUS, REGISTERS = 1, 112  # kind of note, and where the registers stand in it
PC, STACK = 16 * 8, 19 * 8  # rip and rsp among them
WORD = 8


def unwindable(path: str) -> tuple[str, int | None]:
    """A core to unwind, and the address that was jumped to, where it was such a jump."""
    core = Core(Path(path))
    try:
        registers = next(iter(core.contents.registers.values()), {})
        target, stack = registers.get("rip"), registers.get("rsp")
        if target is None or stack is None or _is_code(core, target):
            return path, None
        caller = core.word(stack)
        if not _is_code(core, caller) or Path(path).stat().st_size > SMALL_BYTES:
            return path, None
    except UnreadableError:
        return path, None
    finally:
        core.close()
    return _returned(path, caller, stack + WORD), target


def _is_code(core: Core, address: int) -> bool:
    mapping = core.mapping(address)
    return mapping is not None and "x" in mapping.rights


def _returned(path: str, caller: int, stack: int) -> str:
    whole = bytearray(Path(path).read_bytes())
    table, size, count = *struct.unpack_from("<Q", whole, 32), *struct.unpack_from("<HH", whole, 54)
    for n in range(count):
        kind, _, offset = struct.unpack_from("<IIQ", whole, table + n * size)
        if kind == 4:
            name, _, note = struct.unpack_from("<III", whole, offset)
            start = offset + NOTE_HEADER + (name + 3 & ~3) + REGISTERS
            if note == STATUS:
                struct.pack_into("<Q", whole, start + PC, caller)
                struct.pack_into("<Q", whole, start + STACK, stack)
            break
    beside = f"{path}.returned"
    Path(beside).write_bytes(whole)
    return beside
