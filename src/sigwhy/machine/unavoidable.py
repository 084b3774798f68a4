"""Instructions that a function cannot get around: whoever calls it on a CPU without them dies of SIGILL.

A function needs a feature when no way leads from its first instruction to its end without one of
those instructions. Code that asks the CPU first has such a way, whatever it calls its question, and so
the answer is silent about it. Jumps and calls through registers are taken for ways out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from sigwhy.machine.cpus import OTHERWISE, WATCHED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sigwhy.machine.elf import Elf

MOST_INSTRUCTIONS = 200_000
MOST_OF_ONE = 20_000
DEEPEST = 12
AT_ONCE = 4096
HIGHEST = (1 << 64) - AT_ONCE  # of an address that the decoder takes
# These do not stop a CPU that lacks them (see machine/cpus.py), or ask the CPU themselves.
HARMLESS = frozenset({"TZCNT", "LZCNT"})
QUESTIONS = frozenset({"CPUID", "XGETBV"})
# What nobody calls as the kernel does.
SAID = {"pni": "sse3"}
# Bytes of the questions, for a look at a whole file.
ASKS = (b"\x0f\xa2", b"\x0f\x01\xd0")


@dataclass(frozen=True, slots=True)
class Lacking:
    """An instruction, and what it needs that the CPU does not have."""

    address: int
    text: str
    feature: str


@dataclass(slots=True)
class Search:
    """One object, one CPU: what its functions need."""

    elf: Elf
    has: frozenset[str]
    left: int = MOST_INSTRUCTIONS
    known: dict[int, Lacking | None] = field(default_factory=dict)

    def first(self, entries: Iterable[int]) -> Lacking | None:
        """The first function of these that cannot do without, and its instruction."""
        if _iced() is None:
            return None
        for entry in entries:
            if self.left <= 0:
                return None
            if found := self.of_function(entry):
                return found
        return None

    def of_function(self, entry: int, depth: int = 0) -> Lacking | None:
        """What a function needs on every way; None where there is a way around, or nobody knows."""
        if entry in self.known or depth > DEEPEST:
            return self.known.get(entry)
        self.known[entry] = None  # of a function that calls itself the rest decides
        self.known[entry] = found = self._of_function(entry, depth)
        return found

    def _of_function(self, entry: int, depth: int) -> Lacking | None:
        waiting, seen = [entry], set[int]()
        blocked: Lacking | None = None
        while waiting:
            for one in _decoded(self.elf, waiting.pop()):
                if one.ip in seen:
                    break
                seen.add(one.ip)
                self.left -= 1
                if self.left <= 0 or len(seen) > MOST_OF_ONE or _leaves(one):
                    return None
                if found := self._stops(one, depth):
                    blocked = blocked or found
                    break
                ahead = _ahead(one)
                waiting += [] if ahead is None else [ahead]
                if _turns(one):
                    break
            else:
                return None  # the code ended where no end is
        return blocked

    def _stops(self, one: Any, depth: int) -> Lacking | None:
        """What a CPU lacks for this instruction, or for the function that it calls."""
        if (feature := self.lacks(one)) is not None:
            return Lacking(one.ip, _text(one), SAID.get(feature, feature))
        if one.flow_control == _flow().CALL:
            return self.of_function(one.near_branch_target, depth + 1)
        return None

    def lacks(self, one: Any) -> str | None:
        """The feature that an instruction needs and the CPU does not have."""
        code = one.code
        flags = _of_code.get(code)
        if flags is None:
            flags = _of_code[code] = tuple(_flags(one))
        return next((flag for flag in flags if flag not in self.has), None) if flags else None

    def sweep(self, start: int, size: int) -> Iterator[Lacking]:
        """Every instruction of a stretch of code that the CPU lacks, in the order of the file."""
        at = start
        while _iced() is not None and at < start + size and self.left > 0:
            last = at
            for one in _decoded(self.elf, at):
                self.left -= 1
                if (feature := self.lacks(one)) is not None:
                    yield Lacking(one.ip, _text(one), SAID.get(feature, feature))
                last = one.ip + one.len
                if last >= start + size or last - at > AT_ONCE:
                    break
            at = last if last > at else at + 1


def _decoded(elf: Elf, address: int) -> Iterator[Any]:
    """Instructions from here on, as long as there is code."""
    iced = _iced()
    while address < HIGHEST and elf.is_code(address):
        code = elf.at(address, AT_ONCE)
        last = len(code) < AT_ONCE
        decoder = iced.Decoder(64, code, ip=address)
        for one in decoder:
            if one.is_invalid:
                if last or one.ip - address < AT_ONCE - 16:
                    return
                break
            yield one
            address = one.next_ip
        else:
            if last:
                return


def _leaves(one: Any) -> bool:
    """Whether it leaves the function, or asks what the CPU has."""
    flow = _flow()
    out = one.flow_control in {flow.RETURN, flow.INDIRECT_BRANCH, flow.XBEGIN_XABORT_XEND}
    return out or _mnemonic(one) in QUESTIONS


def _ahead(one: Any) -> int | None:
    """Where it may jump to."""
    flow = _flow()
    jumps = one.flow_control in {flow.CONDITIONAL_BRANCH, flow.UNCONDITIONAL_BRANCH}
    return int(one.near_branch_target) if jumps else None


def _turns(one: Any) -> bool:
    """Whether nothing comes behind it."""
    flow = _flow()
    return one.flow_control in {flow.UNCONDITIONAL_BRANCH, flow.EXCEPTION, flow.INTERRUPT}


_of_code: dict[int, tuple[str, ...]] = {}  # what each kind of instruction needs


def _flags(one: Any) -> Iterator[str]:
    for number in one.cpuid_features():
        if (flag := _flag_names()[number]) in WATCHED and _mnemonic(one) not in HARMLESS:
            yield flag


@cache
def _flag_names() -> dict[int, str]:
    values = vars(_iced().CpuidFeature)
    names = {v: n for n, v in values.items() if isinstance(v, int) and not n.startswith("__")}
    return {number: OTHERWISE.get(name, name.lower()) for number, name in names.items()}


@cache
def _mnemonics() -> dict[int, str]:
    values = vars(_iced().Mnemonic)
    return {v: n for n, v in values.items() if isinstance(v, int) and not n.startswith("__")}


def _mnemonic(one: Any) -> str:
    return _mnemonics()[one.mnemonic]


def _text(one: Any) -> str:
    iced = _iced()
    return str(iced.Formatter(iced.FormatterSyntax.INTEL).format(one))


def _flow() -> Any:
    return _iced().FlowControl


@cache
def _iced() -> Any:
    try:
        import iced_x86
    except ImportError:
        return None
    return iced_x86
