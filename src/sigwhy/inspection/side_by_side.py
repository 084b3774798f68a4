"""Many files at once, in as many processes as there are processors."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from sigwhy.inspection.one_file import inspected
from sigwhy.inspection.plan import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sigwhy.inspection.plan import Plan

WORTH_BYTES = 1_000_000  # of sources: below that the start of a second process takes longer
COMMAND = (sys.executable, "-m", "sigwhy.inspection.worker")


def results(
    plans: Sequence[Plan], *, size: int, jobs: int | None, progress: Callable[[int], None] | None
) -> list[Result]:
    """The results in the order of the plans; ``progress`` hears how many there are."""
    most = jobs or os.cpu_count() or 1
    workers = min(most, len(plans), 1 + size // WORTH_BYTES)
    if workers > 1:
        return _Shared(plans, progress).by(workers)
    found = []
    for plan in plans:
        found.append(inspected(plan))
        if progress:
            progress(len(found))
    return found


@dataclass(slots=True)
class _Shared:
    """The work that is left, and what came of the rest."""

    plans: Sequence[Plan]
    progress: Callable[[int], None] | None
    next: int = 0
    found: dict[int, Result] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def by(self, workers: int) -> list[Result]:
        threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [self._result(n) for n in range(len(self.plans))]

    def _result(self, n: int) -> Result:
        path = self.plans[n].path
        died = f"{path} killed the process that looked at it; please report it"
        return self.found.get(n) or Result(path=path, unread=died)

    def _take(self) -> int | None:
        with self.lock:
            n = self.next
            self.next += 1
        return n if n < len(self.plans) else None

    def _serve(self) -> None:
        """Feed one process after another: where one dies, only its file is lost."""
        while (n := self._take()) is not None:
            with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
                with contextlib.suppress(OSError, msgspec.MsgspecError):
                    self._feed(child, n)
                with contextlib.suppress(OSError):
                    child.communicate()

    def _feed(self, child: subprocess.Popen[bytes], first: int) -> None:
        decoder = msgspec.json.Decoder(Result)
        n: int | None = first
        while n is not None and child.stdin and child.stdout:
            child.stdin.write(msgspec.json.encode(self.plans[n]) + b"\n")
            child.stdin.flush()
            result = decoder.decode(child.stdout.readline())
            with self.lock:
                self.found[n] = result
                if self.progress:
                    self.progress(len(self.found))
            n = self._take()
