"""Core files made by hand, of any machine."""

import struct

from sigwhy.autopsy.core import REGISTERS

PAGE = 4096
SEGV, MAPERR = 11, 1
MACHINES = {"x86_64": 62, "aarch64": 183}
TEXT, STACK = 0x10000, 0x7FFF0000
X86_STORE = bytes.fromhex("8907")  # mov [rdi], eax
ARM_STORE = bytes.fromhex("000000b9")[::1]  # str w0, [x0]


def note(kind, data, name=b"CORE\0\0\0\0"):
    return struct.pack("<III", 5, len(data), kind) + name + data + b"\0" * (-len(data) % 4)


def status(machine, tid, registers, number=SEGV):
    names = REGISTERS[machine]
    head = struct.pack("<iii hh QQ iiii", number, 0, 0, number, 0, 0, 0, tid, 1, 1, 1)
    values = struct.pack(f"<{len(names)}Q", *(registers.get(name, 0) for name in names))
    return note(1, head.ljust(112, b"\0") + values + struct.pack("<ii", 1, 0))


def program(pid, name=b"train", line=b"./train --token=abc model.bin"):
    head = struct.pack("<4B4xQIIiiii", 0, 82, 0, 0, 0, 0, 0, pid, 1, 1, 1)
    return note(3, head.ljust(40, b"\0") + name.ljust(16, b"\0") + line.ljust(80, b"\0"))


def siginfo(number=SEGV, code=MAPERR, address=0):
    return note(0x53494749, struct.pack("<iiiiQ", number, 0, code, 0, address).ljust(128, b"\0"))


def files(rows):
    packed = struct.pack("<QQ", len(rows), PAGE)
    packed += b"".join(struct.pack("<QQQ", start, end, offset) for start, end, offset, _ in rows)
    return note(0x46494C45, packed + b"".join(path.encode() + b"\0" for *_, path in rows))


def core(machine="x86_64", *, notes=None, pages=None, code=None, mapped=()):
    """A core whose crashed thread stands at TEXT; ``mapped`` are files of ``files``."""
    code = code or (X86_STORE if machine == "x86_64" else ARM_STORE)
    x86 = machine == "x86_64"
    registers = {"rip": TEXT, "rsp": STACK + 64} if x86 else {"pc": TEXT, "sp": STACK + 64}
    if notes is None:
        notes = status(machine, 71, registers) + program(71) + siginfo() + files(mapped)
    pages = pages if pages is not None else [(TEXT, 5, code), (STACK, 6, b"")]
    heads = [(4, 0, 0, len(notes))]
    offset = -(-(64 + 56 * (len(pages) + 1) + len(notes)) // PAGE) * PAGE
    table = struct.pack("<IIQQQQQQ", 4, 0, 64 + 56 * (len(pages) + 1), 0, 0, len(notes), 0, 4)
    for start, rights, _ in pages:
        table += struct.pack("<IIQQQQQQ", 1, rights, offset, start, 0, PAGE, PAGE, PAGE)
        offset += PAGE
    count = len(pages) + len(heads)
    head = struct.pack(
        "<4s5B7xHHIQQQIHHHHHH",
        *(b"\x7fELF", 2, 1, 1, 0, 0, 4, MACHINES[machine], 1, 0, 64),
        *(0, 0, 64, 56, count, 0, 0, 0),
    )
    body = (head + table + notes).ljust(-(-(64 + 56 * count + len(notes)) // PAGE) * PAGE, b"\0")
    return body + b"".join(data.ljust(PAGE, b"\0") for *_, data in pages)
