"""What this machine still knows of a death that nobody watched, piece by piece.

Pieces that speak of the same process are one case. Where nobody says which, it is the last death.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.run import cgroup, kernel_log, old_cores, proc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sigwhy.run.kernel_log import Line

# Lines of the kernel about a process that died, with its number.
DEATH = re.compile(
    r"^(?:traps: )?(?P<program>[^\[\]\n]{1,64})\[(?P<pid>\d{1,10})\]:? (?:segfault at|general protection|trap |bad frame|stack segment)"
    r"|^(?:traps: )?(?P<comm>[^\[\]\n]{1,64})\[(?P<number>\d{1,10})\] (?:general protection|trap |stack segment)"
    r"|Killed process (?P<victim>\d{1,10}),? \((?P<name>[^()\n]{0,64})\)"
    r"|^(?P<who>\S{1,64})/(?P<which>\d{1,10}): potentially unexpected fatal signal"
)
SAME_MOMENT = 120.0  # seconds between what belongs to one death
MOST_INCIDENTS = 200
SYSTEM_LOGS = ("/var/log/kern.log", "/var/log/messages", "/var/log/syslog")
TAIL_BYTES = 4 << 20
JOURNAL_SECONDS = 15
COMM = 15  # letters that the kernel keeps of a name


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """Which death: any of the last ``seconds``, or one of a process, of a program, with a status."""

    pid: int | None = None
    command: str | None = None
    seconds: float = 3600.0
    status: int | None = None
    here: Path = field(default_factory=Path)

    def fits(self, pid: int | None, program: str) -> bool:
        """Whether a piece can speak of it."""
        if self.pid is not None:
            return pid == self.pid
        return self.command is None or _same_program(self.command, program)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One thing that speaks of a death: a text, or a file that explains itself."""

    what: str
    at: float
    pid: int | None = None
    text: str | None = None
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The pieces of one death, where was looked and what came of it, and what would help next time."""

    pieces: tuple[Piece, ...]
    looked: tuple[str, ...]
    advice: tuple[str, ...]

    @property
    def sources(self) -> list[str | Path]:
        """For ``explain``."""
        return [piece.path or f"{piece.text}\n" for piece in self.pieces]


def last(sought: Sought) -> Found:
    """Look everywhere; whatever may not be read is said."""
    looked: list[str] = []
    pieces = [
        *_of_the_kernel(sought, looked),
        *_of_the_journal(sought, looked),
        *_cores(sought, looked),
        *_incidents(sought, looked),
    ]
    joined = _joined(pieces)
    if sought.status is not None:
        joined.insert(0, _status(sought.status))
    _counts(looked)
    return Found(tuple(joined), tuple(looked), tuple(_advice(joined)))


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Of all deaths the last one, with everything that speaks of the same process."""
    newest = max(pieces, key=lambda piece: piece.at, default=None)
    if newest is None:
        return []
    same = [
        piece
        for piece in pieces
        if abs(piece.at - newest.at) < SAME_MOMENT
        and (piece.pid == newest.pid or piece.pid is None or newest.pid is None)
    ]
    return sorted(same, key=lambda piece: -piece.at)


def _same_program(wanted: str, program: str) -> bool:
    name = os.path.basename(wanted)  # noqa: PTH119 -- a word of the user's, not a path of ours
    return bool(program) and (name in program or program.strip() == name[:COMM])


# ---- the kernel's log -----------------------------------------------------------------------


def _of_the_kernel(sought: Sought, looked: list[str]) -> Iterator[Piece]:
    now, began = time.time(), time.monotonic()
    try:
        log = kernel_log.lines(began - sought.seconds)
    except kernel_log.CannotReadError as error:
        looked.append(f"the kernel's log: may not be read ({error})")
        yield from _of_files(sought, looked)
        return
    deaths = list(_deaths(log, sought))
    looked.append(f"the kernel's log: {_count(len(deaths), 'death')} in {len(log)} lines")
    for seconds, pid, text in deaths:
        yield Piece(what="the kernel's log", at=now - (began - seconds), pid=pid, text=text)


def _deaths(log: list[Line], sought: Sought) -> Iterator[tuple[float, int, str]]:
    """Each process that the log says died: when, which, and the lines about it."""
    seen: set[int] = set()
    for line in log:
        found = DEATH.search(line.words)
        if not found:
            continue
        told = {name: word for name, word in found.groupdict().items() if word is not None}
        pid = next(int(word) for word in told.values() if word.isdigit())
        program = next((word for word in told.values() if not word.isdigit()), "")
        if pid not in seen and sought.fits(pid, program):
            seen.add(pid)
            yield line.seconds, pid, _text(pid, log)


def _text(pid: int, log: list[Line]) -> str:
    """The lines about a process, and those with the bytes of its code."""
    chosen = kernel_log.about({pid}, log)
    after = {id(log[n + 1]) for n, line in enumerate(log[:-1]) if line in chosen}
    code = [line for line in log if id(line) in after and line.words.startswith("Code:")]
    return "\n".join(str(line) for line in log if line in chosen or line in code)


def _of_files(sought: Sought, looked: list[str]) -> Iterator[Piece]:
    """What syslog kept of the kernel's words; its clock is not read, so only a named process fits."""
    if sought.pid is None:
        return
    for name in SYSTEM_LOGS:
        lines = _tail(name).splitlines()
        chosen = [line for line in lines if f"[{sought.pid}]" in line or f" {sought.pid} (" in line]
        if chosen:
            looked.append(f"{name}: {_count(len(chosen), 'line')}")
            yield Piece(what=name, at=_written(name), pid=sought.pid, text="\n".join(chosen))


def _tail(name: str) -> str:
    try:
        with Path(name).open("rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - TAIL_BYTES))
            return stream.read(TAIL_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _written(name: str) -> float:
    return Path(name).stat().st_mtime


# ---- systemd, cores, Incidents ----------------------------------------------------------------


def _of_the_journal(sought: Sought, looked: list[str]) -> Iterator[Piece]:
    program = shutil.which("coredumpctl")
    if program is None:
        looked.append("coredumpctl: not on this machine")
        return
    match = str(sought.pid) if sought.pid is not None else sought.command
    words = [program, "info", "--no-pager", "-1", f"--since=-{int(sought.seconds)}s"]
    try:
        done = subprocess.run(
            [*words, *([match] if match else [])],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=JOURNAL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        looked.append(f"coredumpctl: {type(error).__name__}")
        return
    told = re.search(r"^\s*PID: (\d{1,10})", done.stdout, re.MULTILINE)
    looked.append(f"coredumpctl: {'one death' if told else 'nothing'}")
    if told:
        yield Piece(what="coredumpctl", at=time.time(), pid=int(told[1]), text=done.stdout)


def _cores(sought: Sought, looked: list[str]) -> Iterator[Piece]:
    known = list(old_cores.cores(sought.here, time.time() - sought.seconds))
    fitting = [core for core in known if sought.fits(core.pid, core.program)]
    looked.append(f"core files: {len(fitting)} (kernel.core_pattern is {old_cores.pattern()!r})")
    for core in fitting:
        yield Piece(what=str(core.path), at=core.at, pid=core.pid, path=core.path)


def _incidents(sought: Sought, looked: list[str]) -> Iterator[Piece]:
    """What sigwhy itself has kept in this folder."""
    from sigwhy.autopsy import incident_file
    from sigwhy.model.error import UsageError

    count = 0
    for path in _newest(sought.here.glob(f"*{incident_file.SUFFIX}")):
        at = path.stat().st_mtime
        if at < time.time() - sought.seconds:
            break
        try:
            incident = incident_file.read(path)
        except (UsageError, OSError):
            continue
        if sought.fits(incident.pid, " ".join(incident.command)):
            count += 1
            yield Piece(what=str(path), at=at, pid=incident.pid, path=path)
    looked.append(f"Incidents in {sought.here.absolute()}: {count}")


def _newest(paths: Iterable[Path]) -> list[Path]:
    plain = [path for path in paths if path.is_file() and not path.is_symlink()]
    return sorted(plain, key=lambda path: -path.stat().st_mtime)[:MOST_INCIDENTS]


# ---- what is said besides ---------------------------------------------------------------------


def _status(status: int) -> Piece:
    text = f"Process finished with exit code {status}"
    return Piece(what=f"exit status {status}", at=time.time(), text=text)


def _counts(looked: list[str]) -> None:
    """The control group counts kills, and does not say of whom or when."""
    group = cgroup.Group.of(proc.text("/proc/self/cgroup"), float("inf"))
    if group is None or group.kills is None:
        looked.append("the control group: its counts cannot be read")
        return
    group.close()
    kills = _count(group.kills, "process", "processes")
    looked.append(f"the control group of this shell ({group.name}): {kills} killed for memory")


def _advice(pieces: list[Piece]) -> Iterator[str]:
    """What would have to be switched on to know more."""
    yield "sigwhy run -- COMMAND              everything, from one more run"
    if not os.access(kernel_log.RECORDS, os.R_OK):
        yield "sudo sigwhy last                   the kernel's log is for root only here"
    if proc.text("/proc/sys/debug/exception-trace").strip() == "0":
        yield "sudo sysctl debug.exception-trace=1   the kernel notes segmentation faults"
    if not any(piece.path for piece in pieces) and _no_cores():
        yield "ulimit -c unlimited                before the next run: the kernel keeps a core"


def _no_cores() -> bool:
    import resource

    return resource.getrlimit(resource.RLIMIT_CORE)[0] == 0


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"1 {one}" if number == 1 else f"{number or 'no'} {many or one + 's'}"
