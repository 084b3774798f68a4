"""Keeps the tail of standard error without changing what the program finds there.

* A file is read afterwards, from where it stood when the program began.
* A pipe gets another one in front of it, and a small process of its own that passes everything on:
  it outlives sigwhy, so the program can always write.
* A terminal is left alone: whatever was put in its place would be seen by the program.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import signal
import stat
import struct
from typing import NoReturn, Protocol

STANDARD_OUTPUT, STANDARD_ERROR = 1, 2
KEPT_BYTES = 256 << 10
CHUNK = 1 << 16
WHOLE = 4096  # PIPE_BUF: what is written at once stays together, whoever else writes
LAG_SECONDS = 0.5
KINDS = ((stat.S_ISCHR, "a terminal or device"), (stat.S_ISSOCK, "a socket"))


class Tail(Protocol):
    """A way to know the last words."""

    streams: dict[int, int]
    why_not: str | None

    def started(self) -> None:
        """The command has its descriptors."""

    def words(self) -> str:
        """What was said at the end."""


def tail() -> Tail:
    """The way that fits what standard error is now."""
    try:
        found = os.fstat(STANDARD_ERROR)
        if stat.S_ISREG(found.st_mode):
            return OfFile()
        if stat.S_ISFIFO(found.st_mode):
            return OfPipe(same_as_output=_is_same(found))
    except OSError as error:
        return Nothing(f"standard error cannot be looked at ({error.strerror})")
    kind = next((name for is_it, name in KINDS if is_it(found.st_mode)), "no file and no pipe")
    return Nothing(f"standard error is {kind}, which is left alone")


def _is_same(found: os.stat_result) -> bool:
    try:
        other = os.fstat(STANDARD_OUTPUT)
    except OSError:
        return False
    return (other.st_dev, other.st_ino) == (found.st_dev, found.st_ino)


class Nothing:
    """Standard error is a terminal, a socket, or closed: it is not touched."""

    def __init__(self, why_not: str | None = None) -> None:
        self.streams: dict[int, int] = {}
        self.why_not = why_not

    def started(self) -> None:
        """Nothing is to be done."""

    def words(self) -> str:
        """Nothing is known."""
        return ""


class OfFile(Nothing):
    """Standard error is a file: its end is read when the command has ended."""

    def __init__(self) -> None:
        super().__init__()
        self.began = os.fstat(STANDARD_ERROR).st_size

    def words(self) -> str:
        """What was written since the start, at most the last of it."""
        try:
            handle = os.open(f"/proc/self/fd/{STANDARD_ERROR}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self.why_not = "the file that standard error goes to may not be read"
            return ""
        try:
            size = os.fstat(handle).st_size
            start = max(min(self.began, size), size - KEPT_BYTES)
            return os.pread(handle, KEPT_BYTES, start).decode("utf-8", "replace")
        except OSError:
            return ""
        finally:
            os.close(handle)


class OfPipe(Nothing):
    """Standard error is a pipe: a process of its own stands between."""

    def __init__(self, *, same_as_output: bool) -> None:
        super().__init__()
        self.kept = Kept()
        told, self.tell = os.pipe()
        asked, self.ask = os.pipe()
        self.answered, answer = os.pipe()
        self.streams[STANDARD_ERROR] = self.tell
        if same_as_output:
            self.streams[STANDARD_OUTPUT] = self.tell
        if os.fork() == 0:
            _between(told, asked, answer, self.kept)
        for handle in (told, asked, answer):
            os.close(handle)

    def started(self) -> None:
        """Our own end would keep the pipe open for ever."""
        os.close(self.tell)

    def words(self) -> str:
        """The last that was passed on. What was written before this call is waited for a moment."""
        with contextlib.suppress(OSError):  # it is gone: nobody reads, or nobody writes any more
            os.write(self.ask, b"?")
            select.select([self.answered], [], [], LAG_SECONDS)
        return self.kept.words()


class Kept:
    """The last of what was passed on, in memory that two processes share."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 8 + KEPT_BYTES)  # how much was ever written, and the last of it

    def add(self, part: bytes) -> None:
        """Keep another part, no longer than all that can be kept."""
        count = struct.unpack_from("<Q", self.memory)[0]
        at = count % KEPT_BYTES
        first = part[: KEPT_BYTES - at]
        self.memory[8 + at : 8 + at + len(first)] = first
        self.memory[8 : 8 + len(part) - len(first)] = part[len(first) :]
        struct.pack_into("<Q", self.memory, 0, count + len(part))

    def words(self) -> str:
        """All that is kept."""
        count = struct.unpack_from("<Q", self.memory)[0]
        held = self.memory[8:]
        at = count % KEPT_BYTES if count > KEPT_BYTES else 0
        whole = held[at:] + held[:at] if at else held[: min(count, KEPT_BYTES)]
        return whole.decode("utf-8", "replace")


def _between(told: int, asked: int, answer: int, kept: Kept) -> NoReturn:
    """In the process between: pass on until nobody can write any more, or nobody reads."""
    try:
        os.setsid()  # Ctrl-C is for the command, whose last words we still want to pass on
        os.chdir("/")
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        _keep_only((STANDARD_ERROR, told, asked, answer))
        _pass_on(told, asked, answer, kept)
    except OSError:
        pass  # nobody reads: the command learns it by its next write
    finally:
        os._exit(0)


def _keep_only(handles: tuple[int, ...]) -> None:
    """Whatever else we were given would never end for those who read it."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 -- the limit of descriptors may be a billion: only those that are open
        if int(name) not in handles:
            with contextlib.suppress(OSError):  # the one by which this list was read
                os.close(int(name))


def _pass_on(told: int, asked: int, answer: int, kept: Kept) -> None:
    watched = select.poll()
    watched.register(told, select.POLLIN)
    watched.register(asked, select.POLLIN)
    watched.register(STANDARD_ERROR, 0)  # only whether its reader is gone
    while True:
        ready = dict(watched.poll())
        if ready.get(STANDARD_ERROR):
            return
        if told in ready:
            part = os.read(told, CHUNK)
            if not part:
                return
            _write(part)
            kept.add(part)
        elif os.read(asked, 1):
            os.write(answer, b"!")  # all that was written until now has been passed on
        else:
            watched.unregister(asked)  # sigwhy has ended


def _write(part: bytes) -> None:
    """Lines stay whole where others write to the same pipe."""
    at = 0
    while at < len(part):
        end = at + WHOLE
        if end < len(part):
            end = part.rfind(b"\n", at, end) + 1 or end
        try:
            at += os.write(STANDARD_ERROR, part[at:end])
        except BlockingIOError:  # somebody made it non-blocking for all who have it
            select.select([], [STANDARD_ERROR], [])
