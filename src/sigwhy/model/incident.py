"""Everything that was kept of one death, as it is stored: ``incident.json`` inside a ``*.sigwhy``.

What was seen is kept raw (numbers, names, lines); what it means is said anew each time the file is
explained, so an old Incident profits from new knowledge. Every field may be missing: a way of
looking that could not see something leaves it out and says so in ``blind``. Unknown fields are
ignored, so a newer sigwhy may write more.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from sigwhy.model.fact import Frame
from sigwhy.model.operation import Operation, Part

SCHEMA = 1
# A loop that so many looks found within so few bytes of code, with the same stack, turns on the spot.
LOOP_BYTES, LOOP_STACKS, FEW_LOOKS, MANY_LOOKS = 4096, 2, 4, 20

Way = Literal["trace", "handler", "memory", "attach", "core", "status"]


class Mapping(msgspec.Struct, frozen=True, array_like=True):
    """A piece of the address space: ``start`` to ``end``, rights as in ``r-xp``, and its file."""

    start: int
    end: int
    rights: str = "----"
    offset: int = 0
    path: str = ""


class PythonFrame(Part, frozen=True):
    """A Python call; ``locals`` are short and redacted words for the values of its names.

    ``globals`` are those of its module, kept once for each of the user's own files.
    """

    function: str
    file: str = ""
    line: int | None = None
    locals: dict[str, str] = {}
    globals: dict[str, str] = {}
    column: int | None = None  # where the call that runs begins and ends on its line, from 0
    end_column: int | None = None
    entry: bool = False  # the interpreter was entered anew from native code for this call


class NativeFrame(Part, frozen=True):
    """A native call: ``offset`` is that of ``address`` from where the library was loaded."""

    address: int
    function: str | None = None
    library: str | None = None
    offset: int | None = None
    file: str | None = None
    line: int | None = None
    inline: bool = False
    from_signal: bool = False  # the kernel interrupted this frame to run a signal handler

    def as_frame(self) -> Frame:
        """The call as a frame of a stack, which is what rules look at."""
        return Frame(
            function=self.function,
            file=self.file,
            line=self.line,
            library=self.library,
            offset=self.offset,
        )


class Buffer(Part, frozen=True):
    """The memory of an array which a name of a crashed frame holds."""

    name: str
    address: int
    size: int
    shape: list[int] = []
    dtype: str = ""
    start: int = 0  # where its first element lies


class Wait(Part, frozen=True):
    """What a thread waits for in the kernel: the call, its arguments, and what that means."""

    call: str
    arguments: list[int] = []
    channel: str = ""
    owner: int | None = None  # the thread that holds the lock, as the lock itself says
    descriptors: list[int] = []  # what a poll looks at


class Thread(Part, frozen=True):
    """One thread as it stood. Frames are innermost first."""

    tid: int
    name: str = ""
    crashed: bool = False
    state: str = ""
    wait: Wait | None = None
    registers: dict[str, int] = {}
    python: list[PythonFrame] = []
    native: list[NativeFrame] = []
    holds_gil: bool | None = None


class Signal(Part, frozen=True):
    """What the kernel said of a signal. The sender is known where a process sent it."""

    name: str
    number: int
    code: str | None = None
    code_number: int = 0
    address: int | None = None
    sender_pid: int | None = None
    sender_uid: int | None = None
    sender_name: str | None = None
    syscall: int | None = None


class Process(Part, frozen=True):
    """A process of the tree, and how it ended: by a status, by a signal, or not at all."""

    pid: int
    parent: int | None = None
    command: list[str] = []
    status: int | None = None
    signal: str | None = None
    seconds: float | None = None
    forked_from: str | None = None  # the Python line which forked it, where that is known
    forked: bool = False  # it is a copy of its parent, and never became another program
    stands: str | None = None  # what it waited for when it was looked at


class Sample(msgspec.Struct, frozen=True, array_like=True):
    """Memory at one moment: of the process that died, of its whole tree, of its control group.

    ``virtual_bytes`` is what the process had asked for, used or not.
    """

    seconds: float
    resident_bytes: int
    tree_bytes: int = 0
    group_bytes: int = 0
    virtual_bytes: int = 0


class Spot(msgspec.Struct, frozen=True, array_like=True):
    """Where Python was while memory grew fast: ``file:line in function()``, innermost first."""

    seconds: float
    resident_bytes: int
    places: list[str] = []


class Memory(Part, frozen=True):
    """Memory over time, the limits that count, and the kernel's own counts of kills.

    ``oom_kills`` are those of the control group, ``machine_kills`` those of the whole machine.
    ``seconds`` is how long the process had run when it ended, ``free_bytes`` what the machine had
    left shortly before. ``refused_threads`` counts the threads and processes that the limit of the
    control group, ``most_threads``, has refused meanwhile.
    """

    samples: list[Sample] = []
    group_limit_bytes: int | None = None
    machine_bytes: int | None = None
    oom_kills_before: int | None = None
    oom_kills_after: int | None = None
    peak_bytes: int | None = None
    group: str | None = None
    machine_kills_before: int | None = None
    machine_kills_after: int | None = None
    free_bytes: int | None = None
    seconds: float | None = None
    spots: list[Spot] = []
    refused_threads: int | None = None
    most_threads: int | None = None
    processor_seconds: float | None = None


class Module(Part, frozen=True):
    """A file with code that was mapped: its build id, and the distribution it belongs to.

    ``deleted`` and ``changed`` tell what became of the file since it was mapped.
    """

    path: str
    build_id: str | None = None
    distribution: str | None = None
    version: str | None = None
    deleted: bool = False
    changed: bool = False
    base: int | None = None


class Turning(Part, frozen=True):
    """A thread that computes and computes: what some looks, one shortly after the other, found."""

    tid: int
    looks: int
    span_bytes: int  # from the lowest to the highest instruction
    stacks: int  # how many different stack pointers
    share: float = 0.0  # of one CPU
    repeats: bool = False  # all registers were the same again: nothing can change any more

    @property
    def on_the_spot(self) -> bool:
        """Whether it is in one loop; where its registers change, it takes many looks to say so."""
        narrow = self.span_bytes <= LOOP_BYTES and self.stacks <= LOOP_STACKS
        return narrow and (self.looks >= MANY_LOOKS or (self.repeats and self.looks >= FEW_LOOKS))


class Incident(Part, frozen=True):
    """One death, or one hang, with all that was seen of it."""

    schema: int = SCHEMA
    sigwhy: str = ""
    way: Way = "trace"
    blind: list[str] = []
    at: str = ""
    command: list[str] = []
    pid: int | None = None
    tid: int | None = None
    signal: Signal | None = None
    earlier: Signal | None = None  # the fault that a handler of the program's own caught first
    exit_status: int | None = None
    masked: bool = False  # a handler turned the fault into an exit, or the parent lives on
    hang_seconds: float | None = None
    spinning: bool | None = None
    turning: Turning | None = None
    machine: str = "x86_64"
    system: str = ""  # its name and version, and that of its kernel
    cpu: str = ""  # its name, as it tells it
    threads: list[Thread] = []
    mappings: list[Mapping] = []
    code: bytes = b""  # what stands at the program counter of the fault
    abort_message: str | None = None
    exception: str | None = None  # type of the C++ exception in flight
    exception_says: str | None = None
    said: list[str] = []  # lines that lay ready in memory to be printed
    python_version: str | None = None
    processes: list[Process] = []
    memory: Memory | None = None
    modules: list[Module] = []
    environment: dict[str, str] = {}
    packages: dict[str, str] = {}
    limits: dict[str, str] = {}
    cpu_flags: list[str] = []
    files: dict[str, str] = {}  # descriptor to what it stands for
    sizes: dict[str, int] = {}  # bytes that mapped files and /dev/shm have or had left
    built_for: dict[str, str] = {}  # the user's own libraries, and the Python they were built for
    buffers: list[Buffer] = []
    operations: list[Operation] = []  # of frameworks, the most certain and innermost first
    sources: dict[str, dict[int, str]] = {}  # lines of the user's own files, by path and number
    kernel: list[str] = []  # lines of the kernel's log that speak of it
    stderr: str = ""  # the tail of standard error
    notes: list[str] = []
