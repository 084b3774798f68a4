"""Signals to sigwhy itself: taken one by one, and handed on where the command did not get them too.

The terminal tells the whole group, so the command has its Ctrl-C already. Whoever knows only the
process id of sigwhy (a scheduler, ``kill``, ``timeout``) means the command: it gets the signal with
the name of its true sender. A signal that a process sent to the whole group reaches the command by
itself; so what arrives is handed on only when the command has not got the same within a moment.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import struct
import time
from typing import Final

from sigwhy.run.ptrace import SIGINFO_BYTES, SigInfo

# Everything that can be taken. A fault of our own still kills us: the kernel asks nobody for those.
TAKEN = frozenset(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}
TERMINAL_STOPS = frozenset({int(signal.SIGTSTP), int(signal.SIGTTIN), int(signal.SIGTTOU)})
END_REQUESTS = frozenset({int(getattr(signal, f"SIG{n}")) for n in ("TERM", "INT", "HUP", "QUIT")})
FROM_THE_KERNEL = 0x80  # si_code: the terminal or a timer, not a process
QUEUED = -1  # si_code of sigqueue(3): whoever sends so may name the sender
SAME_FOR_THE_GROUP = 0.03  # seconds in which a signal for the whole group reaches the command too
LATELY = 2.0
CHILD, ALARM, HANGUP, CONTINUE = (
    int(n) for n in (signal.SIGCHLD, signal.SIGALRM, signal.SIGHUP, signal.SIGCONT)
)
QUEUE_CALL: Final = {"x86_64": 129, "aarch64": 138}  # rt_sigqueueinfo

_libc = ctypes.CDLL(None, use_errno=True)
_sigtimedwait = _libc.sigtimedwait
_sigtimedwait.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
_SET_BYTES = 128
_ALL = ctypes.create_string_buffer(b"\xff" * _SET_BYTES, _SET_BYTES)
_CHILDREN = ctypes.create_string_buffer(struct.pack("<Q", 1 << CHILD - 1), _SET_BYTES)
_room = ctypes.create_string_buffer(SIGINFO_BYTES)
_PAIR = struct.Struct("<qq")
_time = ctypes.create_string_buffer(16)


def take(seconds: float) -> SigInfo | None:
    """The next signal to us; None when the time is over, or something happens to a child."""
    number = _wait(_ALL, seconds)
    return SigInfo(_room.raw) if number > 0 and number != CHILD else None


def child_stirs(seconds: float) -> bool:
    """Sleep until something happens to a child; the other signals stay for later."""
    return _wait(_CHILDREN, seconds) > 0


def _wait(kinds: ctypes.Array[ctypes.c_char], seconds: float) -> int:
    whole = int(seconds)
    _PAIR.pack_into(_time, 0, whole, int((seconds - whole) * 1e9))
    return int(_sigtimedwait(kinds, _room, _time))


class Relay:
    """What came for us, and what of it the command is to get."""

    def __init__(self, root: int) -> None:
        self.root = root
        self.waiting: list[tuple[float, SigInfo]] = []
        self.told_root: dict[int, tuple[float, int]] = {}  # by signal: when, and by whom
        self.told_us: dict[int, float] = {}
        self.sent: dict[int, SigInfo] = {}
        self.stop_wanted: int | None = None

    def taken(self, info: SigInfo) -> int | None:
        """Note a signal that came to us; gives its number where it asks the command to end."""
        number, now = info.number, time.monotonic()
        self.told_us[number] = now
        if not info.is_sent:
            if number == ALARM or (number == HANGUP and os.getsid(0) == os.getpid()):
                self.waiting.append((now, info))
        elif not self._has_got(info, now):
            self.waiting.append((now, info))
        return number if number in END_REQUESTS else None

    def _has_got(self, info: SigInfo, now: float) -> bool:
        at, sender = self.told_root.get(info.number, (0.0, -1))
        return now - at < SAME_FOR_THE_GROUP and sender == info.sender[0]

    def root_got(self, info: SigInfo) -> SigInfo | None:
        """The command gets a signal: the true one instead, where it is one that we handed on."""
        number = info.number
        true = self.sent.get(number)
        if true and info.code == QUEUED and info.sender == true.sender:
            del self.sent[number]
            return true
        self.told_root[number] = (time.monotonic(), info.sender[0] if info.is_sent else 0)
        if self.waiting:
            self.waiting = [
                (at, other)
                for at, other in self.waiting
                if other.number != number or (other.is_sent and other.sender != info.sender)
            ]
        return None

    def due(self) -> float | None:
        """In how many seconds something is to be handed on."""
        if not self.waiting:
            return None
        return max(self.waiting[0][0] + SAME_FOR_THE_GROUP - time.monotonic(), 0)

    def hand_on(self) -> None:
        """Send what has waited long enough: what went to the whole group has arrived by now."""
        now = time.monotonic()
        while self.waiting and now - self.waiting[0][0] >= SAME_FOR_THE_GROUP:
            info = self.waiting.pop(0)[1]
            with contextlib.suppress(OSError):  # it is gone, or has become somebody else's
                self._send(info)

    def _send(self, info: SigInfo) -> None:
        call = QUEUE_CALL.get(os.uname().machine)
        if call is None or not info.is_sent:
            os.kill(self.root, info.number)
            return
        raw = bytearray(info.raw)
        struct.pack_into("<i", raw, 8, min(info.code, QUEUED))
        self.sent[info.number] = info
        if _libc.syscall(call, self.root, info.number, bytes(raw)) != 0:
            self.sent.pop(info.number, None)
            os.kill(self.root, info.number)

    def came_lately(self, number: int) -> bool:
        """Whether we got this signal a moment ago."""
        return time.monotonic() - self.told_us.get(number, -LATELY) < LATELY

    def stop_ourselves(self) -> None:
        """The command has stopped; whoever waits for us (a shell) must see us stopped too.

        Returns when we are continued.
        """
        number = self.stop_wanted
        if number is None:
            return
        if CONTINUE in signal.sigpending():
            # Was that before the stop, or after it? In a moment the command tells, if it goes on.
            child_stirs(SAME_FOR_THE_GROUP)
            return
        self.stop_wanted = None
        if number in TERMINAL_STOPS:
            before = signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
            signal.pthread_sigmask(signal.SIG_BLOCK, {number})
            signal.signal(number, before)
        else:
            os.kill(os.getpid(), signal.SIGSTOP)
