"""Looks at a process that stands still, as quickly as can be, and keeps what must be kept.

What needs the process to stand is done here: registers, mappings, Python frames, the pages of the
small core. What can wait (names, stacks, meaning) is done from the core when it has been let go.
"""

from __future__ import annotations

import os
import struct
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from sigwhy.autopsy import last_words, python_frames
from sigwhy.autopsy.apart import Apart
from sigwhy.autopsy.incident_file import inputs_beside
from sigwhy.autopsy.redact import redacted_value
from sigwhy.machine import waiting
from sigwhy.machine.memory import UnreadableError
from sigwhy.machine.signals import LINUX, code_named
from sigwhy.model.incident import Incident, Signal, Thread, Wait
from sigwhy.operations import arrays, operations
from sigwhy.operations.keeper import MOST_BYTES, Keeper
from sigwhy.operations.python_objects import PythonObjects, function_named
from sigwhy.operations.python_values import in_cell, shown
from sigwhy.operations.scene import Scene
from sigwhy.run import backing, proc, ptrace, small_core
from sigwhy.run.held_memory import HeldMemory
from sigwhy.run.surroundings import surroundings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from sigwhy.operations.variables import Variables
    from sigwhy.run.ptrace import SigInfo

CODE_BYTES = 32
MACHINE = os.uname().machine
PYTHON_SECONDS = 1.5  # far more than it takes, also on a busy machine
MOST_THREADS = 1024
MOST_GLOBALS, LONGEST_VALUE = 200, 200
MOST_POLLED = 16
# Where pthread_mutex_t of glibc keeps who holds it, for how many, and of which kind it is.
MUTEX = struct.Struct("<iIiIi")
MOST_TIDS, MOST_USERS, MOST_KINDS = 1 << 22, 1 << 16, 1 << 10


@dataclass(frozen=True, slots=True)
class Keep:
    """Where the core is to lie, and how many bytes of whole inputs may lie beside it."""

    core: Path | None
    input_bytes: int = MOST_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What was kept of a process that stood still, and for how long it had to stand."""

    incident: Incident
    core: Path | None
    script: str | None
    held_seconds: float


def look(
    pid: int,
    tid: int,
    *,
    info: SigInfo | None,
    standing: Iterable[int],
    keep: Keep,
    at_fault: bytes | None = None,
) -> Look:
    """Keep what matters of a process whose threads stand still.

    ``at_fault`` are the registers at the fault, where a handler runs by now. Without ``info`` nobody
    dies.
    """
    began = time.monotonic()
    tids = [tid, *(t for t in standing if t != tid)][:MOST_THREADS]
    blamed = tid if info else None
    registers = dict(_registers(tids))
    if at_fault:
        registers[tid] = at_fault
    python = Apart(python_frames.of_process, pid, seconds=PYTHON_SECONDS)
    with HeldMemory(pid) as memory:
        named = {t: ptrace.registers(raw) for t, raw in registers.items()}
        around = surroundings(pid, memory)
        plain, trouble = python.result()
        blind = list(_blind(trouble if around.has_python else None, memory))
        interpreter = python_frames.interpreter(plain or [])
        threads = [_thread(memory, pid, t, blamed, named.get(t, {}), interpreter) for t in tids]
        threads[0] = _with_names(threads[0], memory)
        spoken = _spoken(memory, named[tid]["rsp"]) if info and tid in named else {}
        said = signal_of(info) if info else None
        code = _code(memory, named.get(tid))
        keeper = Keeper(keep.input_bytes)
        scene = Scene(memory=memory, threads=threads, pid=pid, signal=said, keeper=keeper)
        found = operations(scene)
        buffers = list(
            arrays.buffers(scene.variables.in_sight(threads[0]), scene.variables.objects)
        )
        threads = list(_with_modules(threads, scene.variables))
        core = _written(keep.core, scene, tid, info, registers)
        mappings = memory.mappings
    incident = msgspec.structs.replace(
        around.incident,
        pid=pid,
        tid=tid if info else None,
        signal=said,
        **spoken,
        sizes=backing.sizes(pid, mappings, said),
        threads=threads,
        mappings=mappings,
        buffers=buffers,
        operations=list(found.operations),
        code=code,
        python_version=interpreter.version,
        blind=[*blind, *found.notes],
    )
    return Look(
        incident=incident, core=core, script=script(pid), held_seconds=time.monotonic() - began
    )


def _written(
    core: Path | None, scene: Scene, tid: int, info: SigInfo | None, registers: dict[int, bytes]
) -> Path | None:
    """Write the small core, and beside it the inputs that are kept whole; None where that cannot be."""
    memory = scene.memory
    if not (core and isinstance(memory, HeldMemory) and memory.is_readable and registers):
        return None
    scene.keeper.write(inputs_beside(core))
    kept = small_core.Kept(
        pid=scene.pid or 0,
        tid=tid,
        siginfo=info.raw if info else b"",
        registers=registers,
        floating=dict(_registers(registers, ptrace.FLOATING)),
        named={t: ptrace.registers(raw) for t, raw in registers.items()},
        memory=memory,
    )
    small_core.write(core, kept)
    return core


def script(pid: int) -> str | None:
    """The Python file that was started, as a whole path."""
    words = proc.command(pid)
    named = next((w for w in words[1:6] if w.endswith(".py")), None)
    if named is None or named.startswith("/"):
        return named
    folder = proc.link(f"/proc/{pid}/cwd")
    return f"{folder}/{named}" if folder else None


def _blind(trouble: str | None, memory: HeldMemory) -> Iterable[str]:
    """What could not be seen, and why."""
    if trouble:
        yield f"the Python frames: {trouble}"
    if not memory.is_readable:
        yield "memory: this user may not read it (PR_SET_DUMPABLE, or another user's)"


def signal_of(info: SigInfo, sender_name: str | None = None) -> Signal:
    """A signal in words; its address is there where the CPU raised it, its sender where one did."""
    name = LINUX.get(info.number, f"SIG{info.number}")
    code = code_named(name, str(info.code))
    if info.is_sent:
        pid, uid = info.sender
        return Signal(
            name=name,
            number=info.number,
            code=code,
            code_number=info.code,
            sender_pid=pid,
            sender_uid=uid,
            sender_name=sender_name or proc.name(pid),
        )
    refused = name == "SIGSYS"
    return Signal(
        name=name,
        number=info.number,
        code=code,
        code_number=info.code,
        address=None if refused else info.address,
        syscall=info.syscall if refused else None,
    )


def _registers(tids: Iterable[int], kind: int = ptrace.GENERAL) -> Iterable[tuple[int, bytes]]:
    for tid in tids:
        try:
            yield tid, ptrace.register_bytes(tid, kind)
        except OSError:
            continue


def _code(memory: HeldMemory, named: Mapping[str, int] | None) -> bytes:
    """The bytes at the program counter; fewer at the end of a mapping, none where nothing is."""
    at = named["rip"] if named else 0
    mapping = memory.mapping(at)
    if mapping is None:
        return b""
    try:
        return memory.read(at, min(CODE_BYTES, mapping.end - at))
    except Exception:  # noqa: BLE001 -- no code is a finding too
        return b""


def _thread(
    memory: HeldMemory,
    pid: int,
    tid: int,
    blamed: int | None,
    registers: Mapping[str, int],
    python: python_frames.Interpreter,
) -> Thread:
    place = f"/proc/{pid}/task/{tid}"
    fields = proc.stat(pid, tid)
    return Thread(
        tid=tid,
        name=proc.text(f"{place}/comm").strip(),
        crashed=tid == blamed,
        state=fields[0] if fields else "",
        wait=_wait(memory, place),
        registers=dict(registers),
        python=python.frames.get(tid, []),
        holds_gil=python.gil.get(tid),
    )


def _spoken(memory: HeldMemory, stack: int) -> dict[str, Any]:
    """What it was about to say; only where it ended itself is there anything to say."""
    flying = last_words.thrown(memory, stack)
    return {
        "abort_message": last_words.abort_message(memory),
        "exception": flying.type if flying else None,
        "exception_says": flying.says if flying else None,
        "said": last_words.said(memory, stack),
    }


def _with_names(thread: Thread, memory: HeldMemory) -> Thread:
    """The same thread; built-in functions have their names, and what closures share is told."""
    objects = PythonObjects(memory)
    frames = [
        msgspec.structs.replace(
            frame,
            locals={name: _told(objects, name, value) for name, value in frame.locals.items()},
        )
        for frame in thread.python
    ]
    return msgspec.structs.replace(thread, python=frames)


def _told(objects: PythonObjects, name: str, value: str) -> str:
    if known := function_named(value, objects.memory):
        return f"<built-in {known}>"
    if inside := in_cell(objects, value):
        return redacted_value(name, inside[:LONGEST_VALUE])
    return value


def _with_modules(threads: Iterable[Thread], variables: Variables) -> Iterable[Thread]:
    """The same threads; the innermost call of each of the user's files has the names of its module."""
    modules = dict(variables.modules)
    for thread in threads:
        frames = [
            msgspec.structs.replace(frame, globals=_names(variables, modules.pop(frame.file)))
            if frame.file in modules
            else frame
            for frame in thread.python
        ]
        yield msgspec.structs.replace(thread, python=frames)


def _names(variables: Variables, held: Mapping[str, int]) -> dict[str, str]:
    return {
        name: redacted_value(name, shown(variables.objects, at)[:LONGEST_VALUE])
        for name, at in list(held.items())[-MOST_GLOBALS:]
    }


def _wait(memory: HeldMemory, place: str) -> Wait | None:
    words = proc.text(f"{place}/syscall").split()
    if not words or not words[0].isdecimal():  # it runs: "running", or -1 where it was stopped
        return None
    arguments = [int(word, 16) for word in words[1:7]]
    known = waiting.call(words[0], MACHINE)
    owner, polled = None, list[int]()
    if known and known.kind == "futex" and waiting.expects_lock(arguments):
        owner = _owner(memory, arguments[0])
    elif known and known.name in ("poll", "ppoll"):
        polled = _polled(memory, *arguments[:2])
    return Wait(
        call=words[0],
        arguments=arguments,
        channel=proc.text(f"{place}/wchan").strip("0"),
        owner=owner,
        descriptors=polled,
    )


def _owner(memory: HeldMemory, lock: int) -> int | None:
    """Who holds a lock, where what lies there looks like one of glibc's."""
    try:
        _, _, owner, users, kind = MUTEX.unpack(memory.read(lock, MUTEX.size))
    except UnreadableError:
        return None
    is_one = 0 < owner < MOST_TIDS and 0 < users < MOST_USERS and 0 <= kind < MOST_KINDS
    return int(owner) if is_one else None


def _polled(memory: HeldMemory, table: int, count: int) -> list[int]:
    """The descriptors that a poll looks at."""
    try:
        packed = memory.read(table, 8 * min(count, MOST_POLLED))
    except UnreadableError:
        return []
    return [fd for fd, _, _ in struct.iter_unpack("<ihh", packed) if fd >= 0]
