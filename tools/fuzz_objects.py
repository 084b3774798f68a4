"""Spoils shared objects, and lets every check look at each: none may raise, hang, or take much memory."""

from __future__ import annotations

import argparse
import random
import resource
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from sigwhy.checks import looked
from sigwhy.machine.elf import HEADER
from sigwhy.model.around import Around
from sigwhy.subjects.shared_object import SharedObject

SLOW_SECONDS = 2.0
MOST_BYTES = 300 << 20
WORDS = (0, 1, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1)


def spoilt(data: bytes, dice: random.Random) -> bytes:
    """The same file with a few words changed where they hurt, or cut."""
    made = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 4, 16))):
        at = dice.randrange(dice.choice((HEADER.size, 1024, len(made))))
        size = dice.choice((1, 2, 4, 8))
        word = dice.choice((*WORDS, dice.getrandbits(64), dice.randrange(len(made))))
        made[at : at + size] = (word & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    return bytes(made[: dice.randrange(len(made))] if dice.random() < 0.1 else made)


def main() -> int:
    """Spoil many, and tell of the worst."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("objects", nargs="*", type=Path, help="small libraries to spoil")
    args = parser.parse_args()
    lib = Path(sysconfig.get_config_var("DESTSHARED"))
    objects = args.objects or sorted(lib.glob("*.so"), key=lambda path: path.stat().st_size)[:12]
    contents = [path.read_bytes() for path in objects]
    around = Around(env=sys.prefix)
    dice = random.Random(args.seed)  # noqa: S311 -- dice, no secret
    slowest, notes = 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "spoilt.so")
        for n in range(args.files):
            file.write_bytes(spoilt(dice.choice(contents), dice))
            began = time.process_time()
            found = looked(SharedObject.of(file, around), "so")
            slowest = max(slowest, time.process_time() - began)
            if found.notes:
                notes += 1
                print(n, found.notes)
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{args.files:,} files: {notes} broke a check, the slowest took {slowest:.2f} s, {peak >> 20} MiB"
    )
    return int(notes > 0 or slowest > SLOW_SECONDS or peak > MOST_BYTES)


if __name__ == "__main__":
    sys.exit(main())
