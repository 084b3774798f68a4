"""What was seen. Every fact remembers the lines it was read from, so it can be quoted.

A fact says what stands in the evidence and no more: no guess, no conclusion. Two formats that state
the same thing yield the same type, so a cause never needs to know which format spoke.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sigwhy.model.operation import State

Access = Literal["read", "write", "execute", "unknown"]
Language = Literal["python", "native"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Lines ``first`` to ``last`` (indexes into ``Evidence.lines``) and the words that matter."""

    evidence: str
    first: int
    last: int
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """The base of all facts."""

    span: Span


# ---- how it ended ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Death(Fact):
    """A process ended by, or received, this signal (``SIGSEGV``); ``code`` is ``SEGV_MAPERR``."""

    signal: str
    code: str | None = None
    pid: int | None = None
    tid: int | None = None
    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit(Fact):
    """A process ended with this status; ``means`` is the name where the number has one."""

    status: int
    means: str | None = None
    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeout(Fact):
    """Nothing happened for so long that somebody looked (a watchdog, a test runner)."""

    seconds: float | None = None


# ---- what the machine did -------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault(Fact):
    """The memory access which failed.

    ``address`` is None where the machine does not tell it (a non-canonical pointer).
    ``present`` says that the page was there and forbade the access (write to read-only, NX).
    ``at`` is the address of the instruction, ``stack`` what the stack pointer held, ``pointer``
    what stood in the register that the instruction went through.
    """

    address: int | None
    access: Access = "unknown"
    present: bool | None = None
    canonical: bool = True
    at: int | None = None
    stack: int | None = None
    pointer: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction(Fact):
    """The instruction that failed, decoded.

    ``feature`` is the CPU feature it needs (``AVX512F``); ``traps`` marks ud2, int3 and brk;
    ``divides`` marks div and idiv; ``aligned`` is the alignment in bytes that it insists on.
    ``code`` is the program's own bytes from this instruction on, where they were printed.
    """

    text: str
    access: Access = "unknown"
    through: str | None = None
    feature: str | None = None
    traps: bool = False
    divides: bool = False
    aligned: int | None = None
    code: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One line of a stack; what is None was not said.

    ``counts_from`` is where ``offset`` counts from: the address the library was loaded at (what
    addr2line takes), the start of its file, or the start of its executable mapping, whose size is
    ``mapped_bytes``.
    """

    function: str | None = None
    file: str | None = None
    line: int | None = None
    library: str | None = None
    offset: int | None = None
    language: Language = "native"
    counts_from: Literal["load", "file", "mapping"] = "load"
    mapped_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack(Fact):
    """The frames of one thread, innermost first.

    ``crashed`` marks the thread that died. ``role`` tells other stacks of a report apart:
    ``freed``, ``allocated``, ``previous`` (the other party of a race), ``leaked``.
    """

    thread: str | None
    crashed: bool
    frames: tuple[Frame, ...]
    language: Language = "native"
    role: Literal["fault", "freed", "allocated", "previous", "leaked", "waiting"] = "fault"


# ---- what was said --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Log(Fact):
    """One record of a framework's log (TensorFlow, absl, glog, XLA, protobuf)."""

    framework: str
    level: Literal["debug", "info", "warning", "error", "fatal"]
    text: str
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Fact):
    """A condition that the program checked itself and found false: CHECK, assert, self-test.

    ``expression`` is the condition (``d < dims()``), ``detail`` what was printed with it
    (``1 vs. 1``), ``status`` the code of a status check (``INVALID_ARGUMENT``).
    """

    framework: str
    expression: str
    detail: str = ""
    status: str | None = None
    file: str | None = None
    line: int | None = None
    function: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Op(Fact):
    """An operation of a framework that was running or was refused.

    ``from_memory`` says that it was found in the memory of the process, not in a text; ``is_hint`` that
    it may be the last one instead of the one. ``index`` and ``subgraph`` place it in a model. ``file``, ``line`` and
    ``function`` are the user's own, from which it was called.
    """

    framework: str
    op: str
    node: str | None = None
    device: str | None = None
    kernel: str | None = None
    from_memory: bool = False
    is_hint: bool = False
    state: State = "running"
    inner: str | None = None
    phase: str | None = None
    call: str | None = None
    delegate: str | None = None
    model: str | None = None
    index: int | None = None
    subgraph: int | None = None
    cycle: tuple[int, ...] = ()  # subgraphs that call each other without end
    library: str | None = None
    file: str | None = None
    line: int | None = None
    function: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Guilty(Fact):
    """An argument of an operation that explains the death, and by which rule.

    ``rule`` tells why: divisor, rank, index, freed, protected, empty, dtype, scale, missing, huge ...
    ``argument`` is what the operation calls it, ``value`` what stood there, ``says`` the sentence,
    ``wanted`` what would have been right. ``variable`` is the Python name that holds it. ``fit`` tells
    how well it explains the death, ``cause`` what it speaks for. ``rivals`` are other arguments that
    explain it equally well: one of them is to blame, and it is not said which.
    """

    framework: str
    op: str
    rule: str
    argument: str
    says: str
    value: str | None = None
    wanted: str | None = None
    variable: str | None = None
    fit: Literal["exact", "likely", "possible"] = "exact"
    cause: str = "op-argument"
    rivals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBug(Fact):
    """A row of the table of upstream bugs that fits this death.

    ``fit`` is exact where the sign of the row was seen and its condition holds; likely where a part of
    the arguments could not be read. ``tried`` are the versions with which it was seen to die.
    """

    id: str
    cause: str
    op: str
    says: str
    fit: Literal["exact", "likely"] = "exact"
    tried: tuple[str, ...] = ()
    argument: str | None = None
    value: str | None = None
    link: str | None = None
    fixed_in: str | None = None
    workaround: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapDamage(Fact):
    """The allocator found its books damaged (``double free or corruption``)."""

    allocator: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StackSmashed(Fact):
    """The stack protector or a fortified function found an overflow."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncaught(Fact):
    """A C++ exception left its thread; ``type`` is None where there was none to name."""

    type: str | None
    what: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonFatal(Fact):
    """The interpreter gave up: ``Fatal Python error: FUNCTION: TEXT``."""

    text: str
    function: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonError(Fact):
    """The last line of a traceback: an exception and its words."""

    type: str
    text: str
    file: str | None = None
    line: int | None = None
    function: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFailure(Fact):
    """The dynamic loader, or somebody who loads plugins, refused.

    ``kind``: symbol, version, file, tls, architecture, format, kernel (of a GPU), plugin.
    ``library`` is the file that could not be loaded or lacks something; ``missing`` is the symbol,
    version or file it lacks; ``needed_by`` is who asked.
    """

    kind: str
    library: str | None = None
    missing: str | None = None
    needed_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryKill(Fact):
    """Somebody killed for memory: ``by`` is kernel, cgroup, slurm, kubernetes, ray, android."""

    by: str
    victim: str | None = None
    pid: int | None = None
    limit_bytes: int | None = None
    used_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation(Fact):
    """An allocation that failed."""

    device: Literal["host", "gpu"]
    asked_bytes: int | None = None
    free_bytes: int | None = None
    limit_bytes: int | None = None
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    allocator: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit(Fact):
    """A limit was met.

    ``resource``: threads, processes, descriptors, file-size, cpu-time, stack, address-space,
    shared-memory, disk, recursion, locked-memory.
    """

    resource: str
    limit: int | None = None
    who: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checker(Fact):
    """What a sanitizer or Valgrind found.

    ``tool``: asan, lsan, msan, tsan, ubsan, memcheck, compute-sanitizer. ``kind`` is its own word
    (``heap-use-after-free``, ``data race``, ``integer-divide-by-zero``, ``Invalid read``).
    ``place`` is the tool's last word on where (``file:line`` or a function).
    """

    tool: str
    kind: str
    access: Access = "unknown"
    size: int | None = None
    address: int | None = None
    place: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu(Fact):
    """An error of a GPU runtime: ``api`` is cuda, cudnn, cublas, hip, metal, opencl, vulkan."""

    api: str
    text: str
    code: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Device(Fact):
    """Hardware spoke up: ``kind`` is xid, aer, mce, edac, amdgpu, disk."""

    kind: str
    text: str
    code: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(Fact):
    """A well-known sentence, told apart by ``topic`` (``openmp-twice``).

    ``mechanism`` is what the sentence alone proves that the machine did, if anything.
    ``subject`` is the thing it speaks of: a library, a file, a package, a variable.
    """

    topic: str
    text: str
    subject: str | None = None
    mechanism: str | None = None


# ---- what was seen from outside -------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Place(Fact):
    """Where the address of a fault lies among the mappings of the process.

    ``relation``: ``inside`` a mapping, ``behind`` or ``before`` one (``distance`` bytes away),
    ``guard`` of a stack, ``beyond-file`` (the file behind the mapping ends before it), ``gone``
    (memory of an array that is not there any more), ``nowhere``. ``owner`` is the array.
    """

    relation: Literal["inside", "behind", "before", "guard", "beyond-file", "gone", "nowhere"]
    owner: str | None = None
    cut: bool = False  # the address is the lower half of one that is mapped
    address: int | None = None
    access: Access = "unknown"
    mapping: str | None = None
    rights: str | None = None
    distance: int | None = None
    size: int | None = None
    file_size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered(Fact):
    """How the thread that died came from Python into native code, and where it died there.

    ``way``: ``ctypes``, ``cffi``, ``extension`` (a function of a compiled module), ``thread`` (no
    Python below: native code started it), ``interpreter`` (nothing but the interpreter itself).
    ``whose`` is whose code was entered and ``died_whose`` whose code it died in: own, package,
    framework, python, system, nobody (memory without a file). ``written`` is the call as it stands
    in the user's source, ``gil`` whether the thread held the interpreter's lock. ``line_from`` is
    whose line it is: that of the thread itself, one that the framework noted when the operation was
    called, or that of the main thread, which waits. ``api`` is what the call is of a package, where
    memory told it.
    """

    way: Literal["ctypes", "cffi", "extension", "thread", "interpreter"]
    whose: str
    died_whose: str
    function: str | None = None
    library: str | None = None
    died_function: str | None = None
    died_library: str | None = None
    died_file: str | None = None
    died_line: int | None = None
    package: str | None = None
    written: str | None = None
    api: str | None = None
    file: str | None = None
    line: int | None = None
    of_line: str | None = None  # the function that the line is in
    line_from: Literal["itself", "trace", "main"] = "itself"
    caller: str | None = None
    gil: bool | None = None
    through: str | None = None  # the innermost library of the user's own on the way
    through_function: str | None = None
    wrapper: str | None = (
        None  # the Python wrapper of an op that a library of the user's registered
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrote(Fact):
    """A line of the user's own source that reaches past what Python protects.

    ``topic`` says how: borrows, frees, counts, pokes, edits, limits, forks, truncates, nests,
    damages, closes. ``call`` is what is called there.
    """

    topic: str
    call: str
    file: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened(Fact):
    """A file of data that the process had open when it died."""

    path: str
    size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent(Fact):
    """A process sent the signal that ended another: who, and how the two are related.

    ``relation``: self, parent, child, relative (of the same tree), outside, kernel.
    """

    signal: str
    by: str | None = None
    pid: int | None = None
    relation: str = "outside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caught(Fact):
    """A handler of the program's own got the signal first, and what came of it.

    ``then`` is ``died`` (it let the signal kill after all) or ``exited`` (it hid the crash).
    """

    signal: str
    then: Literal["died", "exited"]
    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth(Fact):
    """Memory over the run: how it grew, and how near it came to its limit.

    ``shape`` is ``steady`` (it grew all the time: a leak), ``step`` (one step asked for much at
    once) or ``flat``.
    """

    shape: Literal["steady", "step", "flat"]
    start_bytes: int
    end_bytes: int
    seconds: float
    limit_bytes: int | None = None
    bytes_per_second: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits(Fact):
    """A thread does not move: what it waits for, and who would have to let it go on.

    ``what``: lock, gil, condition, join, child, pipe, socket, input, sleep, futex, other.
    """

    what: str
    thread: str
    holder: str | None = None
    process: int | None = None
    place: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stuck(Fact):
    """Nothing moved, or all turned in a circle, when somebody looked."""

    spinning: bool
    seconds: float | None = None


# ---- what was done and where ----------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran(Fact):
    """A command or statement that the user typed, as it stands in the paste."""

    command: str
    language: Literal["shell", "python"] = "shell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform(Fact):
    """Where it happened: ``system`` is linux, macos, windows, android; ``machine`` is arm64."""

    system: str | None = None
    machine: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Version(Fact):
    """A package or library said its version."""

    package: str
    version: str
