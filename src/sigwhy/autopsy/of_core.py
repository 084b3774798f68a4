"""An ordinary core file as an Incident: the kernel's, gdb's, systemd's."""

from __future__ import annotations

import os
import re
import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.autopsy import native_frames, python_frames, wheels
from sigwhy.autopsy.apart import Apart
from sigwhy.autopsy.borne_out import borne_out
from sigwhy.autopsy.core import Core
from sigwhy.autopsy.redact import redacted_command
from sigwhy.machine.memory import UnreadableError
from sigwhy.machine.signals import LINUX, code_named
from sigwhy.model.blame import file_name
from sigwhy.model.incident import Incident, Module, NativeFrame, Signal, Thread
from sigwhy.operations import operations
from sigwhy.operations.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.autopsy.core import Contents

STOPS = frozenset({17, 18, 19, 20, 21, 22})  # what a debugger stops a living process with
PYTHON = re.compile(r"(?:^|/)(?:libpython[23]\.\d[\w.]*|python[23]?(?:\.\d+)?t?)$")
DELETED = " (deleted)"
MOST_MODULES = 2000
MOST_NAMED = 3
SECONDS = 30.0
SEARCH_SECONDS = 2.0
CODE_BYTES = 32


def incident(path: Path) -> Incident:
    """What a core tells; raises ``UsageError`` where it is none that can be read."""
    core = Core(path)
    try:
        return _incident(path, core)
    finally:
        core.close()


def _incident(path: Path, core: Core) -> Incident:
    contents = core.contents
    tids = list(contents.registers)
    crashed = tids[0] if tids else None
    libraries = _libraries(core)
    looked = _frames(path, core, libraries)
    threads = [
        Thread(
            tid=tid,
            crashed=tid == crashed,
            registers=contents.registers[tid],
            python=looked.python.frames.get(tid, []),
            native=looked.native.get(tid) or _here(core, contents.registers[tid]),
            holds_gil=tid == looked.python.holds_gil if looked.python.holds_gil else None,
        )
        for tid in tids
    ]
    signal = _signal(contents)
    scene = Scene(
        memory=core,
        threads=threads,
        pid=contents.pid,
        signal=signal,
        worked_until=time.thread_time() + SEARCH_SECONDS,  # nobody is held
    )
    found = operations(scene)
    notes = []
    if signal is None:
        notes.append(
            "the core was taken of a process that lived (as gcore does): it tells of no death"
        )
    incident = Incident(
        way="core",
        blind=[*looked.blind, *_blind(core, libraries), *found.notes],
        command=_command(contents),
        pid=contents.pid,
        tid=crashed,
        signal=signal,
        machine=contents.machine,
        threads=threads,
        mappings=core.mappings,
        code=_code(core, contents.registers[crashed]) if crashed is not None else b"",
        python_version=looked.python.version,
        modules=libraries.modules,
        operations=list(found.operations),
        notes=notes,
    )
    return borne_out(wheels.known(incident))


def _command(contents: Contents) -> list[str]:
    """The kernel keeps the first 80 characters of it."""
    words = contents.arguments.split() or ([contents.program] if contents.program else [])
    return redacted_command(words)


# ---- frames ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looked:
    """The frames that were found, and why others were not."""

    native: dict[int, list[NativeFrame]]
    python: python_frames.Interpreter
    blind: list[str]


def _frames(path: Path, core: Core, libraries: _Libraries) -> _Looked:
    blind: list[str] = []
    native = Apart(native_frames.of_core, str(path), seconds=SECONDS, mapped_bytes=core.size)
    python = None
    interpreters = [m.path for m in libraries.modules if PYTHON.search(m.path)]
    if other := [p for p in interpreters if p in libraries.gone or p in libraries.other]:
        blind.append(f"the Python frames: {file_name(other[0])} is not here as it was then")
    elif interpreters and core.contents.machine == os.uname().machine:
        python = Apart(
            python_frames.of_core,
            *(str(path), _program(core)),
            seconds=SECONDS,
            mapped_bytes=2 * core.size,
        )
    elif interpreters:
        blind.append(f"the Python frames: they are read on {core.contents.machine} machines only")
    calls, trouble = native.result()
    if trouble:
        blind.append(f"the native frames: {trouble}")
    plain, trouble = python.result() if python else (None, None)
    if trouble:
        blind.append(f"the Python frames: {trouble}")
    return _Looked(
        native=native_frames.frames(calls or {}),
        python=python_frames.interpreter(plain or []),
        blind=blind,
    )


def _here(core: Core, registers: dict[str, int]) -> list[NativeFrame]:
    """Where a thread stood, and on ARM who called: what the registers alone tell."""
    places = [registers.get("rip", registers.get("pc", 0)), registers.get("x30", 0)]
    return [_frame(core, at) for at in places if at and core.mapping(at)]


def _frame(core: Core, at: int) -> NativeFrame:
    mapping = core.mapping(at)
    path = mapping.path if mapping else ""
    base = core.base(path)
    return NativeFrame(
        address=at, library=path or None, offset=at - base if base is not None else None
    )


# ---- libraries ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Libraries:
    """The files with code; which of them are gone from here, and which are other builds here."""

    modules: list[Module]
    gone: frozenset[str]
    other: frozenset[str]


def _libraries(core: Core) -> _Libraries:
    paths = [m.path for m in core.mappings if "x" in m.rights and m.path.startswith("/")]
    modules = [
        Module(
            path=path.removesuffix(DELETED),
            build_id=core.build_id(path),
            deleted=path.endswith(DELETED),
            base=core.base(path),
        )
        for path in list(dict.fromkeys(paths))[:MOST_MODULES]
    ]
    return _Libraries(
        modules=modules,
        gone=frozenset(m.path for m in modules if not is_there(m.path)),
        other=frozenset(m.path for m in modules if core.is_other_build(m.path)),
    )


def is_there(path: str) -> bool:
    """Whether this machine has the file; one that may not be looked at is not there for us."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def _blind(core: Core, libraries: _Libraries) -> Iterator[str]:
    if core.contents.truncated:
        yield "a part of memory: the core is cut off (ulimit -c, or a full disk)"
    if libraries.other:
        yield (
            f"names and frames through {_few(libraries.other)}: on this machine that is another"
            " build (by its build id) than the process had; look on the machine where it died"
        )
    if libraries.gone:
        yield (
            f"names and frames through {_few(libraries.gone)}: not on this machine;"
            " look on the machine (or in the container) where it died"
        )


def _few(paths: frozenset[str]) -> str:
    names = sorted({file_name(path) for path in paths})
    more = f" and {len(names) - MOST_NAMED} more files" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


# ---- the rest -------------------------------------------------------------------------------


def _program(core: Core) -> str | None:
    """The file of the program: where the first instruction lay."""
    entry = core.contents.auxiliary.get(9, 0)
    mapping = core.mapping(entry)
    return mapping.path if mapping and mapping.path.startswith("/") else None


def _signal(contents: Contents) -> Signal | None:
    if len(contents.siginfo) >= 24:
        number, _, code = struct.unpack_from("<iii", contents.siginfo)
    else:
        number, code = contents.signal, 0
    if not number or number in STOPS:
        return None
    name = LINUX.get(number, f"SIG{number}")
    told = len(contents.siginfo) >= 24
    address = struct.unpack_from("<Q", contents.siginfo, 16)[0] if told and code > 0 else None
    sender = struct.unpack_from("<iI", contents.siginfo, 16) if told and code <= 0 else (None, None)
    return Signal(
        name=name,
        number=number,
        code=code_named(name, str(code)) if told else None,
        code_number=code,
        address=address,
        sender_pid=sender[0],
        sender_uid=sender[1],
    )


def _code(core: Core, registers: dict[str, int]) -> bytes:
    at = registers.get("rip", registers.get("pc", 0))
    mapping = core.mapping(at)
    try:
        return core.read(at, min(CODE_BYTES, mapping.end - at)) if mapping else b""
    except UnreadableError:
        return b""
