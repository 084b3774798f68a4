"""Runs a look at damaged memory in a child, so that only the child can die or hang of it."""

from __future__ import annotations

import os
import pickle
import resource
import select
import signal
import time
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 3 << 30


class Apart:
    """A call that runs in a child from now on; ``result`` waits for it."""

    def __init__(
        self,
        look: Callable[..., Any],
        *arguments: object,
        seconds: float,
        mapped_bytes: int = 0,  # of a file that it maps, however large: that takes no memory
    ) -> None:
        self._until = time.monotonic() + seconds
        self._told, tell = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            _run(look, arguments, tell, MOST_BYTES + mapped_bytes)
        os.close(tell)

    def result(self) -> tuple[Any, str | None]:
        """What the call gave, and None; or None, and what went wrong."""
        try:
            packed, ended = self._all()
        finally:
            os.close(self._told)
            status = self._end()
        if not ended:
            return None, "it took too long"
        if not packed:
            return None, f"it died of signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(
                status
            ) else "it ended early"
        answer, error = pickle.loads(packed)  # noqa: S301 -- our own child wrote it, of plain values
        return answer, error

    def _all(self) -> tuple[bytes, bool]:
        parts: list[bytes] = []
        while (left := self._until - time.monotonic()) > 0:
            if not select.select([self._told], [], [], left)[0]:
                break
            part = os.read(self._told, 1 << 20)
            if not part:
                return b"".join(parts), True
            parts.append(part)
        return b"", False

    def _end(self) -> int:
        try:
            found, status = os.waitpid(self._child, os.WNOHANG)
            if not found:
                os.kill(self._child, signal.SIGKILL)
                status = os.waitpid(self._child, 0)[1]
        except OSError:
            return 0
        return status


def _run(look: Callable[..., Any], arguments: tuple[object, ...], tell: int, most: int) -> NoReturn:
    """In the child: call, write plain values, and end without any farewell."""
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        answer: tuple[Any, str | None]
        try:
            answer = look(*arguments), None
        except BaseException as error:  # noqa: BLE001 -- whatever it was, it is told
            answer = None, f"{type(error).__name__}: {error}"[:300]
        with os.fdopen(tell, "wb") as out:
            pickle.dump(answer, out)
    finally:
        os._exit(0)
