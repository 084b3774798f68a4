"""The mechanisms, as rows. What a fact shows most plainly is what happened.

Where two rows are shown equally plainly, the upper row wins: it knows more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sigwhy.model.fact import (
    Allocation,
    Check,
    Checker,
    Death,
    Device,
    Exit,
    Fact,
    Fault,
    Gpu,
    Guilty,
    HeapDamage,
    Instruction,
    Limit,
    LoadFailure,
    Log,
    MemoryKill,
    Notice,
    Place,
    PythonError,
    PythonFatal,
    Stack,
    StackSmashed,
    Stuck,
    Uncaught,
)
from sigwhy.model.mechanism import Mechanism, Seen, Sure
from sigwhy.model.shape import aborter, cycle

if TYPE_CHECKING:
    from collections.abc import Callable

    from sigwhy.model.case import Case
    from sigwhy.model.cause import Cause

# Signals that no fault of the program raises: somebody or some timer sent them.
SENT = (
    "SIGKILL", "SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGPIPE", "SIGALRM", "SIGUSR1", "SIGUSR2",
    "SIGVTALRM", "SIGPROF", "SIGIO", "SIGPWR",
)  # fmt: skip
FIRST_PAGES = 64 * 1024
SMALL = 64 * 1024
ENDS_WITHIN = 12  # frames: raise and abort are not far from who called them
# Accesses through the stack pointer: a red zone below it, the largest usual frame above it.
BELOW_STACK, ABOVE_STACK = 256, 64 * 1024
PAGE = 4096
# What a handler told of these has the address of the instruction, or one that is ours.
NO_WILD_ADDRESS = frozenset({"SIGILL", "SIGFPE", "SIGTRAP", "SIGBUS"})
GPU_ASSERT = 710
KERNEL_FAULTS = frozenset({700, 702, 714, 715, 716, 717, 718, 719})
SILENT = re.compile(r"(?:^|[ *&])(?:tflite|ruy|gemmlowp)::")
REPAIRED = frozenset({"corrected", "hot", "mce-logged"})
OVERRUNS = (
    "buffer-overflow",
    "buffer-underflow",
    "container-overflow",
    "object-overflow",
    "Invalid __",
)


def _is(kind: type[Fact], sure: Sure = Sure.SAID) -> Callable[[Fact], Sure]:
    return lambda fact: sure if isinstance(fact, kind) else Sure.NO


def _checker(
    *words: str, access: str | None = None, sure: Sure = Sure.PROVED
) -> Callable[[Fact], Sure]:
    def shown(fact: Fact) -> Sure:
        fits = (
            isinstance(fact, Checker)
            and any(word in fact.kind for word in words)
            and access in (None, fact.access)
        )
        return sure if fits else Sure.NO

    return shown


def _died_of(*signals: str, code: str | None = None) -> Callable[[Fact], Sure]:
    def shown(fact: Fact) -> Sure:
        if not isinstance(fact, Death) or fact.signal not in signals:
            return Sure.NO
        if code is None:
            return Sure.BARE
        return Sure.READ if fact.code == code else Sure.NO

    return shown


def _exited(*names: str) -> Callable[[Fact], Sure]:
    return lambda f: Sure.BARE if isinstance(f, Exit) and f.means in names else Sure.NO


def _behind(access: str) -> Callable[[Fact], Sure]:
    """Whether the access ran over the end of what it was in."""

    def shown(fact: Fact) -> Sure:
        over = isinstance(fact, Place) and fact.relation == "behind" and (fact.access == access)
        return Sure.READ if over else Sure.NO

    return shown


def _either(*ways: Callable[[Fact], Sure]) -> Callable[[Fact], Sure]:
    return lambda fact: max(way(fact) for way in ways)


def _refused(fact: Fact) -> Sure:
    """A piece so small that memory alone can hardly be the reason proves less than words do."""
    if not isinstance(fact, Allocation):
        return Sure.NO
    small = fact.asked_bytes is not None and fact.asked_bytes < SMALL
    return Sure.READ if small else Sure.SAID


def _near_null(fact: Fact) -> Sure:
    near = isinstance(fact, Fault) and fact.address is not None and fact.address < FIRST_PAGES
    return Sure.READ if near else Sure.NO


def _jumped(fact: Fact) -> Sure:
    jumped = isinstance(fact, Fault) and (
        fact.access == "execute" or (fact.at is not None and fact.at == fact.address)
    )
    return Sure.READ if jumped else Sure.NO


def _forbidden_write(fact: Fact) -> Sure:
    forbidden = isinstance(fact, Fault) and fact.present is True and fact.access == "write"
    return Sure.READ if forbidden else Sure.NO


def _far(fact: Fact) -> Sure:
    return Sure.READ if isinstance(fact, Fault) else Sure.NO


def _ran_into_the_guard(fact: Fact) -> Sure:
    """Whether what the stack pointer points to was not there: the stack had ended before it."""
    if not isinstance(fact, Fault) or fact.address is None or not fact.stack or fact.present:
        return Sure.NO
    inside = -BELOW_STACK <= fact.address - fact.stack < ABOVE_STACK
    # Reading on past the upper end of the stack stops at the first byte of a page.
    return Sure.READ if inside and fact.address % PAGE and fact.at != fact.address else Sure.NO


def _failed_device(fact: Fact) -> Sure:
    failed = isinstance(fact, Device) and fact.kind not in REPAIRED
    return Sure.SAID if failed else Sure.NO


def _kernel_faulted(fact: Fact) -> bool:
    return isinstance(fact, Gpu) and (
        fact.code in KERNEL_FAULTS or "access fault by GPU" in fact.text
    )


def _repeats(fact: Fact) -> Sure:
    """Whether the stack goes in a circle that no working program has."""
    if not (isinstance(fact, Stack) and fact.crashed and fact.role == "fault"):
        return Sure.NO
    return Sure.READ if cycle(fact.frames) else Sure.NO


def _gave_up(fact: Fact) -> Sure:
    if not (isinstance(fact, Stack) and fact.crashed and fact.role == "fault"):
        return Sure.NO
    return Sure.READ if aborter(fact.frames) else Sure.NO


def _checks_itself(fact: Fact) -> Sure:
    """TensorFlow Lite checks in silence: where a condition is false, it calls abort()."""
    if not (isinstance(fact, Stack) and fact.crashed and fact.role == "fault"):
        return Sure.NO
    gave_up = aborter(fact.frames)
    return Sure.READ if gave_up and SILENT.search(gave_up.function or "") else Sure.NO


def _passed_through(functions: str) -> Callable[[Fact], Sure]:
    """Whether the thread that died did so in one of these: they are called for one reason only."""
    named = re.compile(rf"^(?:{functions})(?:\(|$)")

    def shown(fact: Fact) -> Sure:
        if not (isinstance(fact, Stack) and fact.crashed and fact.role == "fault"):
            return Sure.NO
        near = fact.frames[:ENDS_WITHIN]
        passed = any(named.match(frame.function) for frame in near if frame.function)
        return Sure.READ if passed else Sure.NO

    return shown


def _instruction(what: str) -> Callable[[Fact], Sure]:
    def shown(fact: Fact) -> Sure:
        return Sure.READ if isinstance(fact, Instruction) and getattr(fact, what) else Sure.NO

    return shown


def _notice(mechanism: str) -> Callable[[Fact], Sure]:
    return lambda f: Sure.SAID if isinstance(f, Notice) and f.mechanism == mechanism else Sure.NO


def _memory_of_an_input(fact: Fact) -> Sure:
    """Whether the access that failed went into memory that an operation was given."""
    if not isinstance(fact, Guilty) or fact.rule != "freed" or fact.cause != "buffer-aliasing":
        return Sure.NO
    return Sure.READ if fact.fit == "exact" else Sure.NO


def _row(id: str, title: str, *ways: Callable[[Fact], Sure]) -> Mechanism:  # noqa: A002 -- the word of the taxonomy
    return Mechanism(id=id, title=title, shown_by=_either(_notice(id), *ways))


TABLE = (
    _row(
        "out-of-memory",
        "Memory ran out",
        _is(MemoryKill),
        _refused,
        _exited("STATUS_NO_MEMORY", "STATUS_COMMITMENT_LIMIT"),
        _checker("out-of-memory", "allocation-size-too-big"),
        lambda f: (
            Sure.SAID if isinstance(f, Uncaught) and "bad_alloc" in (f.type or "") else Sure.NO
        ),
    ),
    _row(
        "use-after-free",
        "Memory was used after it had been given back",
        _checker("use-after-free", "use-after-poison", "use-after-return", "use-after-scope"),
        lambda f: Sure.READ if isinstance(f, Place) and f.relation == "gone" else Sure.NO,
        _memory_of_an_input,
    ),
    _row(
        "out-of-bounds-write",
        "Something wrote past the end of its memory",
        _checker(*OVERRUNS, "Invalid write", access="write"),
        _behind("write"),
    ),
    _row(
        "out-of-bounds-read",
        "Something read past the end of its memory",
        _checker(*OVERRUNS, "Invalid read", access="read"),
        _behind("read"),
        # A summary alone does not say which it was; most are reads.
        _checker(*OVERRUNS, "Invalid access", "out-of-bounds-index", access="unknown"),
    ),
    _row("data-race", "Two threads touched the same memory unsynchronised", _checker("data race")),
    _row(
        "uninitialised-read",
        "Memory was read that nobody had written",
        _checker("uninitiali"),
    ),
    _row(
        "stack-overflow",
        "The stack ran out",
        _checker("stack-overflow"),
        lambda f: Sure.READ if isinstance(f, Place) and f.relation == "guard" else Sure.NO,
        _repeats,
        _ran_into_the_guard,
        _exited("STATUS_STACK_OVERFLOW"),
    ),
    _row(
        "integer-division",
        "An integer was divided by zero, or the quotient did not fit",
        _checker("divide-by-zero", "division by zero", "overflow: division"),
        _instruction("divides"),
    ),
    _row(
        "heap-corruption",
        "The allocator found its books damaged",
        _is(HeapDamage),
        _passed_through(
            r"malloc_printerr|malloc_(?:zone_error|vreport|report)|szone_error"
            r"|_?free_list_checksum_botch\w*|Rtl(?:p\w*Heap\w*|ReportCriticalFailure)"
        ),
        _checker("double-free", "bad-free", "Invalid free", "Mismatched free", "alloc-dealloc"),
        _checker("delete-type-mismatch"),
        _exited("STATUS_HEAP_CORRUPTION"),
    ),
    _row(
        "stack-smashing",
        "A buffer on the stack overflowed",
        _is(StackSmashed),
        _passed_through(r"_*stack_chk_fail\w*|_*(?:GI_)?_*fortify_fail\w*|_*chk_fail|_*fdelt_chk"),
    ),
    _row(
        "fatal-python-error",
        "The Python interpreter gave up",
        _is(PythonFatal),
    ),
    _row("load-failure", "A library could not be loaded", _is(LoadFailure)),
    _row(
        "resource-limit",
        "A limit of the system was met",
        _is(Limit),
        _died_of("SIGXCPU", "SIGXFSZ"),
    ),
    _row("device-error", "A device failed", _failed_device),
    _row(
        "check-failed",
        "The program checked itself and gave up",
        _is(Check),
        lambda f: Sure.SAID if isinstance(f, Gpu) and not _kernel_faulted(f) else Sure.NO,
        _passed_through(
            r"_*(?:GI_)?_*assert_fail(?:_base)?|_*assert(?:_rtn|2)|_wassert|gpr_assertion_failed"
        ),
        _checks_itself,
        lambda f: Sure.SAID if isinstance(f, Log) and f.level == "fatal" else Sure.NO,
    ),
    _row(
        "uncaught-exception",
        "A C++ exception was not caught",
        _is(Uncaught),
        _passed_through(
            r"std::_*terminate|(?:__cxxabiv1::)?__terminate|(?:__gnu_cxx::)?__verbose_terminate_handler"
            r"|demangling_terminate_handler|_objc_terminate|__cxa_(?:pure_virtual|call_terminate)"
            r"|__clang_call_terminate"
        ),
    ),
    _row(
        "device-error",
        "A kernel on the GPU failed",
        lambda f: Sure.SAID if _kernel_faulted(f) else Sure.NO,
    ),
    _row(
        "misaligned-access",
        "Memory was touched at an address that is not aligned",
        _died_of("SIGBUS", code="BUS_ADRALN"),
        _checker("misaligned"),
        _instruction("aligned"),
    ),
    _row(
        "bus-error",
        "A mapped page could not be provided",
        _died_of("SIGBUS"),
        _died_of("SIGBUS", code="BUS_ADRERR"),
        lambda f: Sure.READ if isinstance(f, Place) and f.relation == "beyond-file" else Sure.NO,
    ),
    _row("bad-jump", "The program jumped to where no code is", _jumped),
    _row(
        "null-pointer",
        "A null pointer was followed",
        _near_null,
        _checker("null pointer", "null-pointer", "null-argument"),
    ),
    _row("write-to-readonly", "Something wrote to memory that may only be read", _forbidden_write),
    _row(
        "wild-pointer",
        "Memory was touched that was never ours",
        _far,
    ),
    _row(
        "trap",
        "The program stopped itself with a trap instruction",
        _instruction("traps"),
        _died_of("SIGTRAP"),
    ),
    _row(
        "illegal-instruction",
        "The CPU does not know an instruction",
        _died_of("SIGILL"),
        _instruction("feature"),
        _exited("STATUS_ILLEGAL_INSTRUCTION"),
    ),
    _row(
        "integer-division",
        "An integer was divided by zero, or the quotient did not fit",
        _died_of("SIGFPE"),
    ),
    _row("forbidden-syscall", "A system call was forbidden", _died_of("SIGSYS")),
    _row(
        "deadlock",
        "Nothing moves: everybody waits",
        _checker("lock-order-inversion", sure=Sure.SAID),
    ),
    _row(
        "endless-loop",
        "It runs and never ends",
        lambda f: Sure.READ if isinstance(f, Stuck) and f.spinning else Sure.NO,
    ),
    _row("self-abort", "The program called abort() itself", _gave_up),
    # Nobody is asked before the kernel kills for memory, and nearly nobody else sends SIGKILL.
    _row("out-of-memory", "Memory ran out", _died_of("SIGKILL")),
    _row(
        "killed",
        "Somebody sent a signal",
        _died_of(*SENT),
    ),
    # Nobody moved, and nothing tells that it never will: a server without work looks the same.
    _row(
        "deadlock",
        "Nothing moves: everybody waits",
        lambda f: Sure.BARE if isinstance(f, Stuck) and not f.spinning else Sure.NO,
    ),
    _row(
        "no-crash",
        "A Python exception ended it",
        _is(PythonError, Sure.BARE),
        lambda f: Sure.BARE if isinstance(f, Exit) and f.status == 0 else Sure.NO,
        _checker("memory leaks"),
    ),
)


BY_ID = {row.id: row for row in TABLE}
# A fault of which neither address nor instruction is known: of all the ways, the one that says least.
USUALLY = {"SIGSEGV": "wild-pointer", "STATUS_ACCESS_VIOLATION": "wild-pointer"}


def usual(case: Case, cause: Cause) -> Mechanism | None:
    """What the machine usually does when it dies so of this cause; nothing has shown it.

    Not where a checker looked on: it knew, and its words were cut away.
    """
    if case.first(Checker):
        return None
    ends = [*(d.signal for d in case.all(Death)), *(e.means or "" for e in case.all(Exit))]
    known = {**USUALLY, **cause.usually}
    return next((BY_ID[known[end]] for end in ends if end in known), None)


@dataclass(frozen=True, slots=True)
class Ending:
    """What all facts together say of the end, asked once: a log may hold thousands of them."""

    signals: frozenset[str]
    has_address: bool
    threw: bool


def _ending(case: Case) -> Ending:
    return Ending(
        frozenset(death.signal for death in case.all(Death)),
        any(fault.address is not None for fault in case.all(Fault)),
        case.first(Uncaught) is not None,
    )


def _as_it_died(fact: Fact, ending: Ending) -> Fact | None:
    """What a fact tells beside the signal: a fault AT a division is no fault OF the division."""
    signals = ending.signals
    match fact:
        case Instruction():
            moved = not ending.has_address and (not signals or signals & {"SIGSEGV", "SIGBUS"})
            return replace(
                fact,
                divides=fact.divides and (not signals or "SIGFPE" in signals),
                aligned=fact.aligned if moved else None,
                feature=fact.feature if "SIGILL" in signals else None,
            )
        case Gpu() if fact.code != GPU_ASSERT and ending.threw:
            return None  # the call that failed threw, and nobody caught that
        case Fault() if signals and signals <= NO_WILD_ADDRESS:
            near = fact.address is not None and fact.address < FIRST_PAGES
            wild = "SIGBUS" in signals and (near or fact.present or not fact.canonical)
            return fact if wild else None
        case _:
            return fact


def _without_absurd_requests(case: Case) -> list[tuple[Fact, Fact]]:
    """Each fact, and how it reads where data asked for more than anybody has: memory did not run out."""
    absurd = any(g.rule == "contents" and g.fit == "exact" for g in case.all(Guilty))
    return [
        (fact, replace(fact, type=None) if absurd and isinstance(fact, Uncaught) else fact)
        for fact in case.facts
        if not (absurd and isinstance(fact, Allocation))
    ]


def mechanism(case: Case) -> Seen | None:
    """What the machine did, if a fact of the case shows it."""
    best = Seen(TABLE[-1], Sure.NO, case.facts[0]) if case.facts else None
    # A parent that outlived its worker raises an exception, but the worker did crash.
    lost = any(notice.topic == "worker-lost" for notice in case.all(Notice))
    died = lost or case.first(Death) is not None
    ending = _ending(case)
    seen = _without_absurd_requests(case)
    facts = [(fact, _as_it_died(told, ending)) for fact, told in seen]
    for row in TABLE:
        if died and row.id == "no-crash":
            continue
        for fact, told in facts:
            sure = row.shown_by(told) if told else Sure.NO
            if best and sure > best.sure:
                best = Seen(row, sure, fact)
    return best if best and best.sure else None
