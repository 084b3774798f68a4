"""Damages cores of deaths in operations and searches them: nothing may raise, none name another operation.

``python tools/fuzz_cores.py CORE… --mutations 20000 [--seed 1] [--jobs 2]``; a core may be that of an
Incident (``*.sigwhy``). The damage lies over the core in memory: bits that flip, words that change
places, pages that are zeroed or gone, mostly among those which the search reads. The exit status is 1
where the search raised, took long, or named as a fact an operation that was not there more often
than once in a thousand.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import random
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from sigwhy.autopsy.core import Core
from sigwhy.autopsy.incident_file import core_of
from sigwhy.autopsy.of_core import _signal
from sigwhy.machine.memory import PAGE, Memory
from sigwhy.model.incident import Thread
from sigwhy.operations import operations
from sigwhy.operations.scene import Scene

SLOW_SECONDS = 5.0
MOST_WRONG = 1 / 1000
MOST_PAGES = 12  # damaged at once


class Damaged(Memory):
    """A memory with some pages replaced."""

    def __init__(self, whole: Memory, instead: dict[int, bytes]) -> None:
        super().__init__(whole.mappings)
        self._whole = whole
        self._instead = instead

    def fetch(self, address: int) -> bytes:
        """The page that was put there, else that of the whole memory."""
        found = self._instead.get(address)
        return self._whole.page(address) if found is None else found


def _flip(page: bytearray, dice: random.Random) -> bytes:
    for _ in range(dice.choice((1, 1, 2, 8, 64, 512))):
        page[dice.randrange(len(page))] ^= 1 << dice.randrange(8)
    return bytes(page)


def _swap(page: bytearray, dice: random.Random) -> bytes:
    for _ in range(dice.choice((1, 4, 32))):
        one, other = (8 * dice.randrange(len(page) // 8) for _ in range(2))
        held = page[one : one + 8]
        page[one : one + 8] = page[other : other + 8]
        page[other : other + 8] = held
    return bytes(page)


def _zero(page: bytearray, dice: random.Random) -> bytes:
    start = dice.choice((0, 8 * dice.randrange(len(page) // 8)))
    page[start:] = bytes(len(page) - start)
    return bytes(page)


def _gone(_: bytearray, __: random.Random) -> bytes:
    return b""


def _stale(page: bytearray, dice: random.Random) -> bytes:
    """A part of the page a little further on: old words where new ones were."""
    by = 8 * dice.randrange(1, 32)
    return bytes(page[by:] + page[:by])


DAMAGES = (_flip, _flip, _flip, _swap, _swap, _zero, _gone, _stale)


@dataclass(slots=True)
class Result:
    """What came of many damages of one core."""

    tried: int = 0
    raised: list[str] = field(default_factory=list)
    slowest: float = 0.0
    right: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    wrong_hints: Counter[str] = field(default_factory=Counter)


def plain(name: str) -> str:
    """An operator without its namespace and overload, and a call that works in place as one that does not."""
    return name.rpartition("::")[2].partition(".")[0].rstrip("_")


def search(memory: Memory, core: Core) -> tuple[list[tuple[str, bool]], tuple[str, ...], set[str]]:
    """The operations that are found, each with whether it is a hint; what went wrong; all their names."""
    threads = [
        Thread(tid=tid, crashed=n == 0, registers=registers)
        for n, (tid, registers) in enumerate(core.contents.registers.items())
    ]
    scene = Scene(
        memory=memory, threads=threads, pid=core.contents.pid, signal=_signal(core.contents)
    )
    found = operations(scene)
    named = [(plain(one.op), one.is_hint or one.state == "beside") for one in found.operations]
    # Where the outer name is lost, the inner one, or that of the node, is no wrong one.
    inner = {plain(name) for one in found.operations for name in (one.op, one.inner, one.node)}
    return named, tuple(note for note in found.notes if "broke" in note), inner


def damage(core: Core, times: int, seed: int) -> Result:
    """Damage a core so many times, each time anew."""
    dice = random.Random(seed)  # noqa: S311 -- the same damage each time
    result = Result()
    _, _, known = search(Damaged(core, {}), core)
    seen = Damaged(core, {})
    search(seen, core)
    pages = sorted(seen.touched)
    for _ in range(times):
        instead = {}
        for page in dice.sample(pages, min(len(pages), dice.randint(1, MOST_PAGES))):
            instead[page] = dice.choice(DAMAGES)(bytearray(core.page(page) or bytes(PAGE)), dice)
        began = time.perf_counter()
        try:
            named, broke, _ = search(Damaged(core, instead), core)
        except Exception as error:  # noqa: BLE001 -- that is what is looked for
            named, broke = [], (repr(error),)
        result.tried += 1
        result.raised += broke
        result.slowest = max(result.slowest, time.perf_counter() - began)
        result.right += bool(named) and named[0][0] in known
        result.wrong.update({name for name, is_hint in named if not is_hint} - known)
        result.wrong_hints.update({name for name, is_hint in named if is_hint} - known)
    return result


def damaged(path: str, times: int, seed: int) -> Result:
    """The same of a file."""
    with ExitStack() as open_:
        place = Path(path)
        if place.suffix == ".sigwhy":
            found = open_.enter_context(core_of(place))
            if found is None:
                raise SystemExit(f"{path} has no core; run without --no-core")
            place = found
        core = Core(place)
        open_.callback(core.close)
        return damage(core, times, seed)


def main() -> int:
    """Share the mutations out among the cores, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cores", nargs="+")
    parser.add_argument("--mutations", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    each = -(-asked.mutations // len(asked.cores))
    with concurrent.futures.ProcessPoolExecutor(asked.jobs) as pool:
        several = [
            pool.submit(damaged, path, each, asked.seed + n) for n, path in enumerate(asked.cores)
        ]
        results = [one.result() for one in several]
    tried = sum(one.tried for one in results)
    wrong = sum((one.wrong for one in results), Counter[str]())
    hints = sum((one.wrong_hints for one in results), Counter[str]())
    raised = [text for one in results for text in one.raised]
    slowest = max(one.slowest for one in results)
    print(f"{tried} damaged cores; raised {len(raised)}; slowest {slowest:.2f} s")
    print(f"the first operation is one that was there: {sum(one.right for one in results)}")
    print(
        f"another one named as a fact: {wrong.total()} {dict(wrong)}; as a hint: {hints.total()} {dict(hints)}"
    )
    for text in raised[:10]:
        print(text)
    return int(bool(raised) or slowest > SLOW_SECONDS or wrong.total() > MOST_WRONG * tried)


if __name__ == "__main__":
    sys.exit(main())
