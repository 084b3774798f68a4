"""Starts the user's command, held at its first instruction until it is watched.

The child is what it would have been without us: same descriptors, terminal, process group, limits,
environment and signal settings. What Python changed for itself is taken back: it ignores SIGPIPE
and SIGXFSZ, and in the C locale it sets LC_CTYPE (PEP 538).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
LOCALE = b"LC_CTYPE"
SET_BY_PYTHON = (b"C.UTF-8", b"C.utf8", b"UTF-8")
STANDARD_STREAMS = (0, 1, 2)
GET_PARENT_DEATH, SET_PARENT_DEATH = 2, 1  # of prctl(2)
NOT_FOUND, NOT_EXECUTABLE = 127, 126


class CannotStartError(Exception):
    """The command could not be started; ``status`` is what a shell would say."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Before:
    """How signals stood before we touched them; the command finds them so."""

    blocked: frozenset[int]
    ignores_children: bool

    @classmethod
    def taking(cls, taken: Iterable[int]) -> Before:
        """Block what we take one by one, and let the kernel tell us of our children."""
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, taken)
        handler = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        return cls(frozenset(map(int, blocked)), handler == signal.SIG_IGN)

    def restore(self) -> None:
        """Put back what ``taking`` changed."""
        if self.ignores_children:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.blocked)


@dataclass(frozen=True, slots=True)
class Held:
    """A child that waits before its exec: ``start`` lets it go on, ``outcome`` tells how that went."""

    pid: int
    command: tuple[str, ...]
    gate: int
    news: int

    def start(self) -> None:
        """Let the child become the command."""
        with contextlib.suppress(BrokenPipeError):  # it was killed while it waited
            os.write(self.gate, b"!")
        os.close(self.gate)

    def outcome(self) -> None:
        """Raise ``CannotStartError`` where the exec failed; call it when the child has ended."""
        told = os.read(self.news, 64)
        os.close(self.news)
        if told:
            raise refusal(self.command[0], int(told))


def held(command: Sequence[str], before: Before, *, streams: Mapping[int, int]) -> Held:
    """Fork a child that waits. ``streams`` puts other descriptors in the place of standard ones."""
    _fill_closed_streams()
    gate_in, gate_out = os.pipe()
    news_in, news_out = os.pipe()
    parent_death = _parent_death_signal()
    pid = os.fork()
    if pid == 0:
        if parent_death:
            _prctl(SET_PARENT_DEATH, parent_death)
        os.close(gate_out)
        _become(command, (gate_in, news_out), before, dict(streams))
    os.close(gate_in)
    os.close(news_out)
    return Held(pid, tuple(command), gate_out, news_in)


def _fill_closed_streams() -> None:
    """Keep what we open away from 0, 1 and 2: where those are closed, the command finds them closed."""
    with contextlib.suppress(OSError):  # no /dev here: then they stay closed
        while (handle := os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)) in STANDARD_STREAMS:
            pass
        os.close(handle)


def let_go_of_streams(*, output: bool) -> None:
    """Hold nothing open that the command may close: a pipe ends when the command ends it.

    For a process that has no other business than the command; ``output`` keeps standard output.
    Standard error stays, for the verdict.
    """
    with contextlib.suppress(OSError):
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        for stream in (0,) if output else (0, 1):
            os.dup2(nothing, stream, inheritable=False)
        os.close(nothing)


def _parent_death_signal() -> int:
    """What our parent's death would have sent to the command: it is to be sent by ours."""
    told = ctypes.c_int(0)
    _prctl(GET_PARENT_DEATH, ctypes.addressof(told))
    return told.value


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def _become(
    command: Sequence[str], ends: tuple[int, int], before: Before, streams: dict[int, int]
) -> NoReturn:
    """In the child: wait, put things as they were, and exec."""
    gate, news = ends
    try:
        if not os.read(gate, 1):
            os._exit(NOT_EXECUTABLE)  # sigwhy died before it watched: run nothing unwatched
        for place, other in streams.items():
            os.dup2(other, place)
        for number in IGNORED_BY_PYTHON:
            signal.signal(number, signal.SIG_DFL)
        _give_back_locale()
        before.restore()
        _exec(list(command))
    except OSError as error:
        os.write(news, str(error.errno or 0).encode())
    except BaseException:  # noqa: BLE001 -- nothing of ours may run on in the place of the command
        os.write(news, b"0")
    os._exit(NOT_FOUND)


def _give_back_locale() -> None:
    """The environment is the one that we were started with, byte for byte."""
    if os.environb.get(LOCALE) not in SET_BY_PYTHON:
        return
    with open("/proc/self/environ", "rb") as stream:  # noqa: PTH123 -- between fork and exec, as little as possible
        words = stream.read().split(b"\0")
    first = next((word for word in words if word.startswith(LOCALE + b"=")), None)
    if first is None:
        del os.environb[LOCALE]
    else:
        os.environb[LOCALE] = first.partition(b"=")[2]


def _exec(command: list[str]) -> NoReturn:
    """As execvp(3) does it: a script without a first line of its own is one for sh."""
    try:
        os.execvp(command[0], command)  # noqa: S606 -- the command is the user's own
    except OSError as error:
        path = _found(command[0])
        if error.errno != errno.ENOEXEC or not path or not _is_text(path):
            raise
        os.execv("/bin/sh", ["sh", path, *command[1:]])  # noqa: S606 -- the same


def _found(program: str) -> str | None:
    import shutil

    return shutil.which(program)


def _is_text(path: str) -> bool:
    with open(path, "rb") as stream:  # noqa: PTH123 -- between fork and exec, as little as possible
        head = stream.read(256)
    return bool(head) and b"\0" not in head


def has_rights_of_its_own(program: str) -> bool:
    """Whether a program would run with other rights than ours: those of its file."""
    if os.geteuid() == 0:
        return False  # our right to watch goes as far as the rights it gets
    path = _found(program)
    if path is None:
        return False
    told = os.stat(path)  # noqa: PTH116 -- before each start, as little as possible
    return bool(told.st_mode & (stat.S_ISUID | stat.S_ISGID))


def refusal(program: str, number: int) -> CannotStartError:
    """What a shell would say, and its exit status."""
    match number:
        case errno.ENOENT if "/" not in program:
            return CannotStartError(f"{program}: command not found", NOT_FOUND)
        case errno.ENOENT:
            return CannotStartError(
                f"{program}: no such file, or its interpreter is missing", NOT_FOUND
            )
        case errno.EACCES if _is_folder(program):
            return CannotStartError(f"{program} is a folder; name a program", NOT_EXECUTABLE)
        case errno.EACCES:
            return CannotStartError(
                f"{program} may not be executed; type chmod +x {program}, or python {program}",
                NOT_EXECUTABLE,
            )
        case errno.ENOEXEC:
            return CannotStartError(
                f"{program} is no program for this machine; where it is a script, its first line must name the interpreter",
                NOT_EXECUTABLE,
            )
        case _:
            return CannotStartError(f"{program}: {os.strerror(number)}", NOT_EXECUTABLE)


def _is_folder(program: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(program).st_mode)  # noqa: PTH116 -- a path of the user's, as given
    except OSError:
        return False
