"""What the kernel notes when a process dies: Linux on every CPU, its audit log, FreeBSD.

Looks like::

    python3[812]: segfault at 8 ip 00007f1c00001139 sp 00007ffd0000a2c0 error 6 in libk.so[7f1c00001000+1000]
    Code: 48 89 7d f8 48 8b 45 f8 <c7> 40 08 01 00 00 00 90 5d c3
    traps: python3[813] trap invalid opcode ip:7f1c00001139 sp:7ffd0000a2c0 error:0 in libk.so[1139,7f1c00001000+1000]

The numbers are hexadecimal. In ``[FILEOFF,BASE+SIZE]`` (since Linux 6.x) FILEOFF is the place of ip
in the file; in ``[BASE+SIZE]`` only its distance from the executable mapping is known. An oops or
the OOM killer print ``Code:`` too: it belongs to a fault only right below one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sigwhy.machine import arm64, x86
from sigwhy.machine.signals import LINUX
from sigwhy.model.fact import Death, Fault, Frame, Span, Stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Access, Fact, Instruction

H = r"(?:0x)?[0-9a-fA-F]{1,16}"
WHO = r"(?P<comm>[^\[\]]{1,40})\[(?P<pid>\d{1,10})\]"
WHERE = rf"(?: in (?P<file>[^\[\]]{{1,255}})(?:\[(?:(?P<fileoff>{H}),)?(?P<base>{H})\+(?P<size>{H})\])?)?"

SEGFAULT = re.compile(
    rf"{WHO}:? segfault at (?P<address>{H})(?: [re]?ip (?P<ip>{H}))?(?: [re]?sp (?P<sp>{H}))?"
    rf"(?: error (?P<error>{H}))?{WHERE}"
)
TRAP = re.compile(
    rf"{WHO}:? (?:trap )?(?P<trap>[a-z][a-z0-9 ]{{2,30}}?) "
    rf"[re]?ip:(?P<ip>{H})(?: [re]?sp:(?P<sp>{H}))?(?: ssp:{H})?(?: error:(?P<error>{H})(?:\([\w -]+\))?)?{WHERE}"
)
ARM64 = re.compile(
    rf"{WHO}: unhandled exception: (?:(?P<kind>[^,]{{2,40}}), ESR (?P<esr>{H}), )?"
    rf"(?P<says>[\w ()-]{{4,60}}?){WHERE}\s*$"
)
ARM64_BEFORE_4_20 = re.compile(
    rf"{WHO}: unhandled (?P<says>[\w ()-]{{4,60}}?) \((?P<signal>\d{{1,2}})\) at (?P<address>{H}),"
    rf" (?:esr|code) (?P<esr>{H}),?{WHERE}"
)
UNDEFINED = re.compile(
    r"(?P<comm>[^\[\]():]{1,40}) ?[\[(](?P<pid>\d{1,10})[\])]: undefined instruction: pc=(?P<ip>[^\s,;]{1,24})"
)
POWERPC = re.compile(
    rf"{WHO}:? (?P<says>segfault|illegal instruction|floating point exception|bus error|trap"
    rf"|unhandled signal) \(?(?P<signal>\d{{1,2}})\)? at (?P<address>{H})"
    rf" nip (?P<ip>{H}) lr {H} code (?P<code>{H}){WHERE}"
)
RISCV = re.compile(
    rf"{WHO}: unhandled signal (?P<signal>\d{{1,2}}) code (?P<code>{H}) at (?P<address>{H}){WHERE}"
)
MIPS = re.compile(
    r"do_page_fault\(\): sending SIGSEGV to (?P<comm>.{1,40}?) for invalid"
    rf" (?P<access>read|write) (?:access to|access from) (?P<address>{H})"
)
ALIGNMENT = re.compile(
    r"Alignment trap: (?:not handling instruction (?P<instruction>[0-9a-fA-F]{4,8}) at \[<(?P<at>[0-9a-fA-F]{1,16})>\]"
    r"|(?P<comm>[^()]{1,40}?) \((?P<pid>\d{1,10})\)\s{1,40}PC=(?P<ip>0x[0-9a-fA-F]{1,16}).{0,40}?Address=(?P<address>0x[0-9a-fA-F]{1,16}))"
)
UNHANDLED = re.compile(
    rf"Unhandled fault: (?P<says>[\w ()-]{{4,60}}?) \(0x(?P<fsr>[0-9a-fA-F]{{1,8}})\) at (?P<address>{H})"
)
FATAL = re.compile(
    r"(?P<comm>[^\[\]:]{1,40}): potentially unexpected fatal signal (?P<signal>\d{1,2})\."
)
AUDIT = re.compile(
    r"\bpid=(?P<pid>\d{1,10}) comm=\"?(?P<comm>[^\"\s]{1,64})\"?"
    r"(?: exe=\S{1,300}| reason=\"[^\"]{1,60}\"){0,2} sig=(?P<signal>\d{1,2})\b"
)
FREEBSD = re.compile(
    r"\bpid (?P<pid>\d{1,10}) \((?P<comm>[^)]{1,40})\)(?:, jid \d+)?, uid \d+: exited on signal (?P<signal>\d{1,2})"
)
MARKERS = (
    " segfault at ",
    " segfault (",
    " sp:",
    "general protection",
    ": unhandled ",
    "illegal instruction (",
    "undefined instruction: pc=",
    "do_page_fault(): sending",
    "Alignment trap: ",
    "Unhandled fault: ",
    "unexpected fatal signal",
    "ANOM_ABEND",
    "SECCOMP",
    "type=1701",
    "type=1326",
    ": exited on signal ",
)

CODE = re.compile(
    r"\bCode: +((?:[0-9a-fA-F]{2} +){0,80}<[0-9a-fA-F]{2}>(?: +[0-9a-fA-F]{2}){0,80})"
)
WORDS_OF_CODE = re.compile(r"\bCode: +(?:[0-9a-fA-F]{8} +){0,12}\(([0-9a-fA-F]{8})\)")
PROGRAM_COUNTER = re.compile(
    rf"\b(?:pc : (?:\[<)?(?P<pc>{H})|RIP: 00[23][3b]:(?:\[<)?(?P<rip>{H}))"
)
ANOTHER = re.compile(
    r" segfault at | sp:|unhandled |undefined instruction: pc=|unexpected fatal signal|sending SIGSEGV"
    r"|invoked oom-killer|RIP: 0010:|Oops|Alignment trap"
)
NEAR = 12
BEFORE, BEHIND = 400, 800

PRESENT, WRITE, FETCH = 1, 2, 16
KERNEL_HALF = 1 << 63
TOP = 1 << 64
SHORT = 1 << 32
# traps whose message names the signal; the words after "trap", and what they are to the process
TRAPS = {
    "general protection": ("SIGSEGV", "SI_KERNEL"),
    "general protection fault": ("SIGSEGV", "SI_KERNEL"),
    "control protection": ("SIGSEGV", "SEGV_CPERR"),
    "bounds": ("SIGSEGV", "SI_KERNEL"),
    "overflow": ("SIGSEGV", "SI_KERNEL"),
    "invalid opcode": ("SIGILL", "ILL_ILLOPN"),
    "divide error": ("SIGFPE", "FPE_INTDIV"),
    "int3": ("SIGTRAP", "SI_KERNEL"),
    "stack segment": ("SIGBUS", "SI_KERNEL"),
    "segment not present": ("SIGBUS", "SI_KERNEL"),
    "alignment check": ("SIGBUS", "BUS_ADRALN"),
}
POINTERS = frozenset({"general protection", "general protection fault", "stack segment"})
# The class of an arm64 exception (ESR >> 26).
CLASSES = {0x00: "SIGILL", 0x0E: "SIGILL", 0x22: "SIGBUS", 0x26: "SIGBUS", 0x3C: "SIGTRAP"}
FETCHES, DATA, UNALIGNED = (0x20, 0x21), (0x24, 0x25), (0x22, 0x26)
ALIGNMENT_FAULT, PERMISSION_FAULT = 0x21, 0x0C
ARM_WRITE = 0x800  # of the FSR of 32-bit ARM
ILLEGAL_WORDS = ("undefined instruction",)

Said = dict[str, str | None]
Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Below:
    """What stands in the lines right below a fault and belongs to it."""

    line: int
    code: bytes = b""
    before: bytes = b""
    words: bool = False
    pc: int | None = None


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield deaths, faults, instructions and the library in which each stands."""
    for n, line in enumerate(evidence.lines):
        for hint, pattern, facts in FORMS:
            if (at := line.find(hint)) < 0:
                continue
            if found := pattern.search(line[max(0, at - BEFORE) : at + BEHIND]):
                words = found[0].strip()
                span = Span(evidence=evidence.name, first=n, last=n, words=words)
                yield from facts(found.groupdict(), span, evidence.lines)
                break


def _segfault(said: Said, span: Span, lines: Lines) -> Iterator[Fact]:
    address, ip, sp, error = (_hex(said[k]) for k in ("address", "ip", "sp", "error"))
    yield _death(said, span, "SIGSEGV", _code(error))
    access: Access = "unknown"
    if error is not None and address is not None:
        fetched = error & FETCH or ip == address
        access = "execute" if fetched else "write" if error & WRITE else "read"
    yield Fault(
        span=span,
        address=address,
        access=access,
        present=_present(error, address),
        at=ip,
        stack=sp,
    )
    yield from _place(said, span, ip)
    yield from _instruction(span, lines, ip, sp)


def _trap(said: Said, span: Span, lines: Lines) -> Iterator[Fact]:
    words = said["trap"] or ""
    if words not in TRAPS:
        return
    ip, sp = _hex(said["ip"]), _hex(said["sp"])
    signal, code = TRAPS[words]
    yield _death(said, span, signal, code)
    decoded = list(_instruction(span, lines, ip, sp, breakpoint=words == "int3"))
    it = decoded[0] if decoded else None
    if words in POINTERS and not (it and it.traps):
        yield Fault(
            span=span,
            address=None,
            access=it.access if it else "unknown",
            canonical=bool(it and it.aligned),
            at=ip,
            stack=sp,
        )
    yield from _place(said, span, ip)
    yield from decoded


def _arm64(said: Said, span: Span, lines: Lines) -> Iterator[Fact]:
    """``unhandled exception: DABT (lower EL), ESR 0x92000046, level 2 translation fault in ...``."""
    esr, says = _hex(said["esr"]), said["says"] or ""
    signal = LINUX.get(int(said.get("signal") or 0)) or _arm64_signal(esr, says)
    if signal is None:
        return
    below = _below(span.last, lines)
    code = "BUS_ADRALN" if signal == "SIGBUS" and _is_unaligned(esr, says) else None
    yield _death(said, span, signal, code)
    kind = esr >> 26 if esr is not None else None
    if signal in {"SIGSEGV", "SIGBUS"} and kind in (*FETCHES, *DATA):
        yield _arm64_fault(said, span, esr or 0, below.pc)
    elif signal == "SIGSEGV" and not kind and (address := _hex(said.get("address"))) is not None:
        arm: Access = "write" if (esr or 0) & ARM_WRITE else "unknown"
        yield Fault(span=span, address=address, access=arm)
    yield from _place(said, span, below.pc)
    yield from _instruction(span, lines, below.pc, None)


def _arm64_fault(said: Said, span: Span, esr: int, pc: int | None) -> Fault:
    data: Access = "write" if esr & 1 << 6 else "read"
    return Fault(
        span=span,
        address=_hex(said.get("address")),
        access="execute" if esr >> 26 in FETCHES else data,
        present=esr & 0x3C == PERMISSION_FAULT,
        at=pc,
    )


def _arm64_signal(esr: int | None, says: str) -> str | None:
    if says.startswith(ILLEGAL_WORDS):
        return "SIGILL"
    if esr is None:
        return None
    if esr >> 26 in DATA and esr & 0x3F == ALIGNMENT_FAULT:
        return "SIGBUS"
    return "SIGSEGV" if esr >> 26 in (*DATA, *FETCHES) else CLASSES.get(esr >> 26)


def _is_unaligned(esr: int | None, says: str) -> bool:
    return "alignment" in says or (esr is not None and esr >> 26 in UNALIGNED)


def _undefined(said: Said, span: Span, lines: Lines) -> Iterator[Fact]:
    yield _death(said, span, "SIGILL", "ILL_ILLOPC")
    yield from _instruction(span, lines, _hex(said["ip"]), None)


def _numbered(said: Said, span: Span, lines: Lines) -> Iterator[Fact]:
    """A message that gives the number of the signal: PowerPC, RISC-V, FreeBSD, audit."""
    signal = LINUX.get(int(said["signal"] or 0))
    if signal is None:
        return
    yield _death(said, span, signal)
    ip, address = _hex(said.get("ip")), _hex(said.get("address"))
    if signal == "SIGSEGV" and address is not None:
        yield Fault(span=span, address=address, at=ip)
    yield from _place(said, span, ip)
    if said.get("comm") and "fatal signal" in span.words:
        below = _below(span.last, lines)
        yield from _instruction(span, lines, below.pc, None)


def _mips(said: Said, span: Span, _: Lines) -> Iterator[Fact]:
    yield _death(said, span, "SIGSEGV")
    access: Access = "write" if said["access"] == "write" else "read"
    yield Fault(span=span, address=_hex(said["address"]), access=access)


def _alignment(said: Said, span: Span, _: Lines) -> Iterator[Fact]:
    yield _death(said, span, "SIGBUS", "BUS_ADRALN")
    if address := _hex(said["address"]):
        yield Fault(span=span, address=address, at=_hex(said["ip"]))


def _unhandled(said: Said, span: Span, _: Lines) -> Iterator[Fact]:
    """``Unhandled fault: alignment exception (0x801) at 0xbef9d1d4`` of 32-bit ARM."""
    says = said["says"] or ""
    if "alignment" in says:
        yield _death(said, span, "SIGBUS", "BUS_ADRALN")
    elif "abort" in says:
        yield _death(said, span, "SIGBUS")


def _death(said: Said, span: Span, signal: str, code: str | None = None) -> Death:
    comm = (said.get("comm") or "").rpartition(": ")[2].strip()
    pid = said.get("pid")
    return Death(
        span=span, signal=signal, code=code, pid=int(pid) if pid else None, command=comm or None
    )


def _code(error: int | None) -> str | None:
    if error is None:
        return None
    return "SEGV_ACCERR" if error & PRESENT else "SEGV_MAPERR"


def _present(error: int | None, address: int | None) -> bool | None:
    """Whether the page was there; of the kernel's own half the bit says nothing."""
    if error is None or address is None or address >= KERNEL_HALF:
        return None
    return bool(error & PRESENT)


def _place(said: Said, span: Span, ip: int | None) -> Iterator[Stack]:
    """The library in which it happened, as a stack of one frame."""
    if not (file := (said.get("file") or "").strip()):
        return
    base, size, offset = (_hex(said.get(k)) for k in ("base", "size", "fileoff"))
    frame = Frame(library=file, counts_from="file", offset=offset, mapped_bytes=size)
    if offset is None and None not in (ip, base, size):
        inside = (ip or 0) - (base or 0)
        if 0 <= inside < (size or 0):
            frame = replace(frame, counts_from="mapping", offset=inside)
    yield Stack(span=span, thread=None, crashed=True, frames=(frame,))


def _instruction(
    span: Span,
    lines: Lines,
    ip: int | None,
    sp: int | None,
    *,
    breakpoint: bool = False,  # noqa: A002 -- the word of the trade
) -> Iterator[Instruction]:
    """The instruction that the bytes below the fault hold."""
    below = _below(span.last, lines)
    at = Span(evidence=span.evidence, first=below.line, last=below.line)
    code = below.code
    if breakpoint and below.before.endswith(b"\xcc"):  # int3 is reported from behind itself
        code = b"\xcc" + code
    if below.words:  # 32-bit ARM prints words too; its addresses are short
        if max(ip or 0, below.pc or 0) < SHORT:
            return
        found = arm64.instruction(code, span=at, address=ip or 0)
    else:
        found = x86.instruction(code, span=at, address=ip or TOP - 1, stack=sp or TOP - 1)
    if found:
        yield found


def _below(line: int, lines: Lines) -> Below:
    """The bytes and the program counter in the next lines, up to the next fault."""
    found = Below(line)
    for n in range(line + 1, min(line + 1 + NEAR, len(lines))):
        if ANOTHER.search(lines[n]):
            break
        if (counter := PROGRAM_COUNTER.search(lines[n])) and found.pc is None:
            found = replace(found, pc=_hex(counter["pc"] or counter["rip"]))
        if code := CODE.search(lines[n]):
            before, _, rest = code[1].partition("<")
            after = bytes.fromhex(rest.replace(">", " "))
            return replace(found, line=n, code=after, before=bytes.fromhex(before))
        if code := WORDS_OF_CODE.search(lines[n]):
            word = int(code[1], 16).to_bytes(4, "little")
            return replace(found, line=n, code=word, words=True)
    return found


def _hex(text: str | None) -> int | None:
    try:
        return int(text, 16) if text else None
    except ValueError:
        return None


# Words of each form, which tell where in a line to look for it.
FORMS: tuple[tuple[str, re.Pattern[str], Callable[[Said, Span, Lines], Iterator[Fact]]], ...] = (
    (" segfault at ", SEGFAULT, _segfault),
    (" ip:", TRAP, _trap),
    (" rip:", TRAP, _trap),
    (": unhandled exception: ", ARM64, _arm64),
    (": unhandled ", ARM64_BEFORE_4_20, _arm64),
    (": undefined instruction: pc=", UNDEFINED, _undefined),
    (" nip ", POWERPC, _numbered),
    (": unhandled signal ", RISCV, _numbered),
    ("do_page_fault(): sending ", MIPS, _mips),
    ("Alignment trap: ", ALIGNMENT, _alignment),
    ("Unhandled fault: ", UNHANDLED, _unhandled),
    (": potentially unexpected fatal signal ", FATAL, _numbered),
    (" sig=", AUDIT, _numbered),
    (": exited on signal ", FREEBSD, _numbered),
)
