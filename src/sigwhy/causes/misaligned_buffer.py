"""A buffer was handed over without the alignment that the code needs.

What happens: SIMD code moves 16, 32 or 64 bytes at once and insists on an address that is a
multiple of that; 32-bit ARM insists for some plain loads and stores as well. A buffer from
`bytes`, a memory-mapped file at an odd offset, a slice through DLPack or ctypes, or a packed struct
does not give it. The CPU raises SIGBUS (ARM) or a general protection fault (x86: SIGSEGV without
an address), or the library checks and aborts.

How to tell: SIGBUS with BUS_ADRALN, "Alignment trap" in the kernel log, a check named IsAligned,
or a fault at an aligned move (movaps, vmovdqa) whose address is not shown.

Fix: copy into an aligned buffer before handing it over (`np.require(x, requirements="A")`,
`numpy.copy`, `posix_memalign`), keep header sizes a multiple of 64, use memcpy for odd fields.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.blame import crashed
from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.entry import whom
from sigwhy.model.fact import (
    Check,
    Checker,
    Death,
    Entered,
    Fault,
    Instruction,
    Log,
    PythonError,
    Stack,
    Wrote,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="misaligned-buffer",
    title="memory was handed over without the alignment that the code needs",
    fix="Copy the data into an aligned buffer first (numpy.require(x, requirements='A'), posix_memalign), or pass an offset that is a multiple of 64.",
    usually={"SIGSEGV": "misaligned-access"},
)
EIGEN = (
    "Mark the class EIGEN_MAKE_ALIGNED_OPERATOR_NEW or pass fixed-size Eigen objects by reference."
)
ALIGNED = re.compile(
    r"\b(?:Is|is_)[aA]ligned\b|% ?\(?(?:\w+::)*\w{0,30}[Aa]lign\w{0,20}\)? ?== ?0|[Uu]naligned_?[Aa]rray"
    r"|\balign(?:ment|ed)?\b.{0,40}== ?0|\b(?:not|must be|properly|poorly) (?:\d{1,3}[- ]byte )?aligned"
    r"|kDefaultTensorAlignment"
)
EIGEN_SAYS = re.compile(r"[Uu]naligned_?[Aa]rray|TopicUnalignedArrayAssert")
LOADS = re.compile(
    r"^_mm(?:256|512)?_(?:load|store|stream)_(?:p[sd]|si\d{3})\b|Eigen::internal::p(?:load|store)t?<"
)
CHECKS = re.compile(r"IsAligned|CheckAlign|assert_aligned|UnalignedArray")
STACK = frozenset({"rsp", "rbp", "esp", "ebp", "sp"})


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for memory that is not aligned."""
    for death in case.all(Death):
        if death.signal == "SIGBUS" and death.code == "BUS_ADRALN":
            yield Clue(Weight.STRONG, death, "the CPU refused an address that is not aligned")
            yield Clue(Weight.SLIGHT, death, "the code of the signal is that of alignment")
    yield from _checks(case)
    yield from _errors(case)
    yield from _moves(case)
    yield from _loads(case)


def _is_none(case: Case, it: Instruction, blamed: Culprit) -> Iterator[Clue]:
    """The register that it went through holds no such multiple."""
    for fault in case.all(Fault):
        if it.aligned and fault.pointer is not None and fault.pointer % it.aligned:
            says = f"{it.through} holds {fault.pointer:#x}, which is none"
            yield Clue(Weight.STRONG, fault, says, culprit=blamed)
            return


def _loads(case: Case) -> Iterator[Clue]:
    """The innermost frame is a load or store that insists on alignment, and does nothing else."""
    for stack in crashed(case.all(Stack), "native"):
        if checked := next((f for f in stack.frames[:12] if CHECKS.search(f.function or "")), None):
            says = f"it died in {checked.function}, which checks the alignment of a buffer"
            blamed = _lent(case) or Culprit(
                kind="argument", name="buffer", function=checked.function
            )
            yield Clue(Weight.STRONG, stack, says, culprit=blamed)
            yield Clue(Weight.FAIR, stack, "a check of alignment fails for one reason only")
        first = next(iter(stack.frames), None)
        if first and LOADS.search(first.function or ""):
            blamed = Culprit(
                kind="instruction", name=first.function, file=first.file, line=first.line
            )
            says = f"it died in {first.function}, which insists on an aligned address"
            yield Clue(Weight.STRONG, stack, says, culprit=blamed, fix=EIGEN)
            yield Clue(Weight.FAIR, stack, "that is one instruction, and can fail in no other way")


def _checks(case: Case) -> Iterator[Clue]:
    for check in case.all(Check):
        words = f"{check.expression} {check.detail}"
        if ALIGNED.search(words):
            fix = EIGEN if EIGEN_SAYS.search(words) else None
            blamed = _lent(case) or Culprit(
                kind="argument", name="buffer", file=check.file, line=check.line
            )
            says = "the check that failed is one of alignment"
            yield Clue(Weight.PROOF, check, says, culprit=blamed, fix=fix)


def _lent(case: Case) -> Culprit | None:
    """The call by which the user's own source handed the memory over, where there is only one."""
    calls = [wrote for wrote in case.all(Wrote) if wrote.topic == "borrows"]
    if len({wrote.call for wrote in calls}) != 1:
        return None
    first = calls[0]
    return Culprit(kind="api", name=first.call, argument="buffer", file=first.file, line=first.line)


def _errors(case: Case) -> Iterator[Clue]:
    for log in case.all(Log):
        if log.level in {"error", "fatal"} and ALIGNED.search(log.text):
            yield Clue(Weight.STRONG, log, "the library says that a buffer is not aligned")
    for error in case.all(PythonError):
        if ALIGNED.search(error.text):
            yield Clue(Weight.STRONG, error, "the error says that a buffer is not aligned")
    for checker in case.all(Checker):
        if "misaligned" in checker.kind or "alignment" in checker.kind:
            blamed = Culprit(kind="file", name=checker.place)
            says = "a checker saw an access that is not aligned"
            yield Clue(Weight.STRONG, checker, says, culprit=blamed)
            if all(other.kind == checker.kind for other in case.all(Checker)):
                yield Clue(Weight.FAIR, checker, "the checker found nothing else")


def _moves(case: Case) -> Iterator[Clue]:
    """An aligned move, and a fault without an address: the address was not aligned."""
    told = [fault for fault in case.all(Fault) if fault.address is not None]
    hidden = [fault for fault in case.all(Fault) if fault.address is None]
    for it in case.all(Instruction):
        if not it.aligned or not hidden or told:
            continue
        entered = case.first(Entered)
        blamed = Culprit(kind="instruction", name=it.text)
        if entered and entered.written:
            blamed = whom(entered, value=it.text)
        if it.through in STACK:
            says = f"{it.text} needs an aligned stack, which a caller had moved"
            yield Clue(Weight.FAIR, it, says, culprit=blamed)
        else:
            says = f"{it.text} insists on an address that is a multiple of {it.aligned}"
            yield Clue(Weight.STRONG, it, says, culprit=blamed)
            yield from _is_none(case, it, blamed)
            yield Clue(Weight.SLIGHT, hidden[0], "the kernel shows no address for such a fault")
