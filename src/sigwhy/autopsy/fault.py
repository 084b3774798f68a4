"""The access that failed: the instruction with its operands, and where the address lies."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from sigwhy.autopsy.risks import risks
from sigwhy.autopsy.told import NO_SPAN, Told
from sigwhy.machine import arm64, x86
from sigwhy.model.fact import Fault, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.fact import Access, Instruction
    from sigwhy.model.incident import Incident, Mapping, Thread

Relation: TypeAlias = Literal[
    "inside", "behind", "before", "guard", "beyond-file", "gone", "nowhere"
]

MEMORY_SIGNALS = frozenset({"SIGSEGV", "SIGBUS"})
RAISED = 1  # si_code of what the CPU raised, and not a process
KERNEL = 128  # SI_KERNEL: a general protection fault, whose address the CPU does not tell
CANONICAL, CANONICAL_OF_ARM = 1 << 47, 1 << 48
TOP = 1 << 64
NEAR = 1 << 20  # bytes from a mapping within which an address belongs to it rather than to nobody
PAGE = 4096
NO_RIGHTS = "---"
LIBRARY = re.compile(r"\.so(?:\.[\d.]+)?$")
FIRST, HALF = 1 << 16, 1 << 32
OVERRUN = 1 << 16  # bytes behind the end of memory in which a copy in big steps stops
POINTER = re.compile(r"\[([^\]]+)\]")


def tell(incident: Incident) -> Iterator[Told]:
    """The instruction, the access, and the neighbourhood of the address."""
    signal = incident.signal
    if signal is None or signal.code_number < RAISED:
        return
    thread = next((t for t in incident.threads if t.crashed), None)
    registers = thread.registers if thread else {}
    decoded = _instruction(incident, registers)
    if decoded:
        yield Told.of(_read_aloud(decoded, registers), decoded, words=decoded.text)
    if signal.name in MEMORY_SIGNALS:
        yield from _access(incident, thread, decoded)


def _instruction(incident: Incident, registers: dict[str, int]) -> Instruction | None:
    if not incident.code:
        return None
    if incident.machine == "aarch64":
        return arm64.instruction(incident.code, span=NO_SPAN, address=registers.get("pc", 0))
    return x86.instruction(incident.code, span=NO_SPAN, address=registers.get("rip", 0))


def _read_aloud(decoded: Instruction, registers: dict[str, int]) -> str:
    values = [
        f"{name} = {registers[name]:#x}"
        for name in sorted(registers, key=len, reverse=True)
        if re.search(rf"\b{re.escape(name)}\b", decoded.text)
    ]
    does = {"read": "reads", "write": "writes", "execute": "jumps"}.get(decoded.access, "")
    through = f" {does} through {decoded.through}" if does and decoded.through else ""
    return f"the instruction: {decoded.text}{through}" + (
        f"; {', '.join(values)}" if values else ""
    )


def _access(
    incident: Incident, thread: Thread | None, decoded: Instruction | None
) -> Iterator[Told]:
    signal = incident.signal
    registers = thread.registers if thread else {}
    at = registers.get("rip", registers.get("pc"))
    stack = registers.get("rsp", registers.get("sp"))
    told = signal.code_number != KERNEL if signal else False
    address = signal.address if signal and told else None
    guessed = _through(decoded, registers) if address is None else address
    here = _mapping(incident, guessed) if guessed is not None else None
    code = signal.code if signal else None
    access: Access = decoded.access if decoded else "unknown"
    if address is not None and address == at:
        access = "execute"
    elif access == "unknown" and code == "SEGV_ACCERR" and here and here.rights.startswith("r-"):
        access = "write"  # it may be read, so nothing else can have been refused
    does = {"read": "read", "write": "write", "execute": "jump"}.get(access, "access")
    where = f"{address:#x}" if address is not None else "an address that the CPU did not tell"
    yield Told.of(
        f"the {does} went to {where}",
        Fault(
            span=NO_SPAN,
            address=address,
            access=access,
            present={"SEGV_ACCERR": True, "SEGV_MAPERR": False}.get(code or ""),
            canonical=address is not None or _is_canonical(incident, guessed),
            at=at,
            stack=stack,
            pointer=_through(decoded, registers),
        ),
    )
    if guessed is not None and incident.mappings and _is_canonical(incident, guessed):
        place = _place(incident, guessed, here, stack)
        if isinstance(place.fact, Place):
            place = replace(place, fact=replace(place.fact, address=guessed, access=access))
        yield place


def _through(decoded: Instruction | None, registers: dict[str, int]) -> int | None:
    return registers.get(decoded.through) if decoded and decoded.through else None


def _is_canonical(incident: Incident, address: int | None) -> bool:
    half = CANONICAL_OF_ARM if incident.machine == "aarch64" else CANONICAL
    return address is None or address < half or address >= TOP - half


def _mapping(incident: Incident, address: int) -> Mapping | None:
    return next((m for m in incident.mappings if m.start <= address < m.end), None)


def _place(incident: Incident, address: int, here: Mapping | None, stack: int | None) -> Told:
    """The first neighbourhood that says something, from the most telling to the least."""
    return (
        _at_the_end_of_a_stack(incident, address, stack)
        or (_inside(incident, address, here, stack) if here and not _is_closed(here) else None)
        or _in_an_array(incident, address)
        or (_inside(incident, address, here, stack) if here else None)
        or _beside(incident, address)
        or _cut_in_half(incident, address)
        or Told.of(f"{address:#x} lies in no mapping, nor near one", _at("nowhere"))
    )


def _at(relation: Relation) -> Place:
    return Place(span=NO_SPAN, relation=relation)


def _is_closed(mapping: Mapping) -> bool:
    """Whether pages are only kept free: a guard, or what was memory once."""
    return mapping.rights.startswith(NO_RIGHTS)


def _at_the_end_of_a_stack(incident: Incident, address: int, stack: int | None) -> Told | None:
    if stack is None:
        return None
    if abs(address - stack) < NEAR and not _is_stack(_mapping(incident, stack)):
        line = f"{address:#x} lies at the stack pointer {stack:#x}, and no stack is there"
        return Told.of(line, _at("guard"))
    above = next((m for m in incident.mappings if m.path == "[stack]"), None)
    nearest = min((m.start for m in incident.mappings if m.start > address), default=None)
    if above and nearest == above.start and abs(stack - address) < NEAR:
        line = f"{address:#x} lies {above.start - address} bytes below the stack, which cannot grow further"
        return Told.of(line, replace(_at("guard"), mapping="[stack]"))
    return None


def _in_an_array(incident: Incident, address: int) -> Told | None:
    array = next((b for b in incident.buffers if b.address <= address < b.address + b.size), None)
    if array is None:
        return None
    told = f"{array.name} ({array.dtype}{array.shape})"
    begin = _mapping(incident, array.start) if array.start else None
    if begin and not _is_closed(begin):
        line = f"{address:#x} is reached by the strides of {told}, and no memory is there"
        return Told.of(line, replace(_at("behind"), owner=told), words=told)
    line = f"{address:#x} lies inside the array {told}, whose memory is not there any more"
    return Told.of(line, replace(_at("gone"), owner=told), words=told)


def _cut_in_half(incident: Incident, address: int) -> Told | None:
    """Whether the upper 32 bits are missing of an address that is mapped."""
    if not FIRST <= address < HALF and address < TOP - HALF // 2:
        return None
    low = address % HALF
    whole = next((m for m in incident.mappings if "w" in m.rights and _holds(m, low)), None)
    if whole is None:
        return None
    line = f"{address:#x} is half an address: with the upper 32 bits it lies in {whole.path or 'anonymous memory'}"
    return Told.of(line, replace(_at("nowhere"), cut=True))


def _holds(mapping: Mapping, low: int) -> bool:
    """Whether an address with these lower 32 bits lies in a mapping: in a huge one many do."""
    if mapping.end - mapping.start >= HALF // 4:
        return False
    whole = mapping.start // HALF * HALF + low
    return mapping.start >= HALF and any(
        mapping.start <= at < mapping.end for at in (whole, whole + HALF)
    )


def _beside(incident: Incident, address: int) -> Told | None:
    below = max(
        (m for m in incident.mappings if m.end <= address), key=lambda m: m.end, default=None
    )
    above = min(
        (m for m in incident.mappings if m.start > address), key=lambda m: m.start, default=None
    )
    if below and address - below.end < OVERRUN and not _takes_away(incident):
        name, away = below.path or "anonymous memory", address - below.end
        line = f"{address:#x} lies {away} bytes behind the end of {name}"
        size = below.end - below.start
        fact = replace(
            _at("behind"), mapping=below.path or None, rights=below.rights, distance=away, size=size
        )
        return Told.of(line, fact)
    if above and above.start - address < NEAR:
        name, away = above.path or "anonymous memory", above.start - address
        line = f"{address:#x} lies {away} bytes before {name}"
        fact = replace(
            _at("before"), mapping=above.path or None, rights=above.rights, distance=away
        )
        return Told.of(line, fact)
    return None


def _is_stack(mapping: Mapping | None) -> bool:
    return mapping is not None and "w" in mapping.rights


def _over_the_end(incident: Incident, address: int, fence: Mapping) -> Told | None:
    """Memory that ends where a fence begins: pages without any rights, or the head of a library."""
    below = next((m for m in incident.mappings if m.end == fence.start and "w" in m.rights), None)
    fences = fence.rights.startswith(NO_RIGHTS) or (
        "w" not in fence.rights and LIBRARY.search(fence.path)
    )
    if below is None or not fences or address - fence.start >= OVERRUN or _takes_away(incident):
        return None
    name, away = below.path or "anonymous memory", address - below.end
    line = f"{address:#x} lies {away} bytes behind the end of {name}"
    size = below.end - below.start
    fact = replace(
        _at("behind"), mapping=below.path or None, rights=below.rights, distance=away, size=size
    )
    return Told.of(line, fact)


def _takes_away(incident: Incident) -> bool:
    """Whether the user's source gives memory back by hand: what is behind a mapping may be what is gone."""
    lines = (line for kept in incident.sources.values() for line in kept.values())
    return any("frees" in risks(line) for line in lines)


def _inside(incident: Incident, address: int, here: Mapping, stack: int | None) -> Told:
    name = here.path or "anonymous memory"
    if here.rights.startswith(NO_RIGHTS) and stack and abs(stack - address) < NEAR:
        line = f"{address:#x} lies in a guard page below the stack of the thread"
        return Told.of(line, Place(span=NO_SPAN, relation="guard", rights=here.rights))
    if over := _over_the_end(incident, address, here):
        return over
    size = incident.sizes.get(here.path)
    inside = here.offset + address - here.start
    if size is not None and inside >= size:
        line = f"{address:#x} lies {inside} bytes into {name}, which has only {size} bytes by now"
        fact = Place(
            span=NO_SPAN,
            relation="beyond-file",
            mapping=here.path,
            rights=here.rights,
            file_size=size,
        )
        return Told.of(line, fact)
    line = f"{address:#x} lies inside {name} ({here.rights})"
    fact = Place(
        span=NO_SPAN,
        relation="inside",
        mapping=here.path or None,
        rights=here.rights,
        distance=here.end - address,
        size=here.end - here.start,
    )
    return Told.of(line, fact)
