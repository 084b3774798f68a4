"""Whose work a thread of a pool does: its stack points into that of the thread which waits for it.

OpenMP hands the threads of a team a pointer to the variables of the one that started them, and those
lie on its stack. No other thread's stack is pointed to from there.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sigwhy.operations.words import extent, stack

if TYPE_CHECKING:
    from sigwhy.model.incident import Thread
    from sigwhy.operations.scene import Scene

MOST_BYTES = 64 << 10
MOST_THREADS = 256


def employers(scene: Scene, worker: Thread) -> list[Thread]:
    """The other threads into whose stacks this thread's stack points, most often pointed to first."""
    stacks = [
        (found, thread)
        for thread in scene.threads[:MOST_THREADS]
        if thread is not worker and (found := extent(scene.memory, thread.registers))
    ]
    pointed: Counter[int] = Counter()
    for _, value in stack(scene.memory, worker.registers, most=MOST_BYTES):
        for n, ((low, high), _) in enumerate(stacks):
            if low <= value < high:
                pointed[n] += 1
    return [stacks[n][1] for n, _ in pointed.most_common()]
