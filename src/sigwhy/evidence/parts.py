"""Sieves a very long log in several processes at once, each a part of it.

Each process is a bare Python that runs ``sieve.py`` and nothing else. Where one cannot be started or
fails, the log is sieved in one piece by the caller.
"""

from __future__ import annotations

import marshal
import os
import sys
from typing import TYPE_CHECKING

from sigwhy.evidence import sieve

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence
    from pathlib import Path

LARGE_BYTES = 64 << 20
MOST_PARTS = 8


def in_parts(path: Path, markers: Sequence[str]) -> tuple[list[sieve.Numbered], int] | None:
    """The lines worth reading and how many were left out; None where it must be done in one piece."""
    size = path.stat().st_size
    count = min(os.cpu_count() or 1, MOST_PARTS)
    if count < 2 or not sys.executable:
        return None
    cuts = [size * n // count for n in range(count + 1)]
    orders = [
        marshal.dumps((os.fspath(path), cuts[n], cuts[n + 1], tuple(markers))) for n in range(count)
    ]

    workers: list[subprocess.Popen[bytes]] = []
    try:
        workers.extend(_worker(order) for order in orders)
        parts = [marshal.loads(worker.communicate()[0]) for worker in workers]  # noqa: S302 -- our own child wrote it
    except (OSError, EOFError, ValueError, TypeError):
        return None
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    return _joined(parts)


def _worker(order: bytes) -> subprocess.Popen[bytes]:
    import subprocess

    worker = subprocess.Popen(
        (sys.executable, "-I", "-S", sieve.__file__),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    if worker.stdin:
        worker.stdin.write(order)
        worker.stdin.close()
        worker.stdin = None
    return worker


def _joined(
    parts: list[tuple[list[tuple[int, bytes]], int, int]],
) -> tuple[list[sieve.Numbered], int]:
    rows: list[tuple[int, bytes]] = []
    before = left_out = 0
    for kept, left, lines in parts:
        rows += [(before + number, line) for number, line in kept]
        before += lines
        left_out += left
    return sieve.text(rows), left_out
