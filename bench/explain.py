"""How fast a long log is read, and how soon a paste is answered; ratios measured side by side.

``python bench/explain.py [--mib 1024] [--rounds 3]`` writes a TensorFlow training log with one crash
in its middle into a temporary folder, and compares, interleaved, in one run:

* ``sigwhy explain LOG`` with ``grep -E -c MARKERS LOG`` (CPU seconds and wall seconds),
* ``sigwhy explain PASTE`` (50 lines) with ``python -c pass``.

The log is held in the page cache by a first read of both. It prints ratios of medians and the peak
memory of sigwhy.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sigwhy.read import markers

MOST_TELLING = 100  # lines of the log below that hold a marker
CRASH = """\
2026-01-07 09:12:44.101520: F tensorflow/core/framework/tensor_shape.cc:201] Non-OK-status: InitDims(dim_sizes) status: INVALID_ARGUMENT: Expected shape dimensions to be non-negative, got -2
Fatal Python error: Aborted

Current thread 0x00007f2e150dc740 (most recent call first):
  File "/opt/app/model.py", line 51 in reshape
  File "/opt/app/train.py", line 12 in <module>
Aborted (core dumped)
"""


@dataclass(frozen=True, slots=True)
class Took:
    """What one run of a command cost."""

    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int
    status: int


def took(*command: str) -> Took:
    """Run a command to its end and say what it cost."""
    start = time.perf_counter()
    # Not /dev/null: grep stops at its first match when nobody can see the count.
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Took(
        time.perf_counter() - start,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss * 1024,
        process.returncode,
    )


def epoch(number: int, dice: random.Random) -> str:
    """The lines of one epoch, as Keras and TensorFlow write them."""
    bars = "".join(
        f"\r{step}/938 [{'=' * (step * 30 // 938)}>{'.' * (29 - step * 30 // 938)}] - ETA: {dice.randrange(9)}s"
        f" - loss: {dice.random():.4f} - accuracy: {dice.random():.4f}"
        for step in range(1, 938, 13)
    )
    lines = "".join(
        f"I0107 09:{dice.randrange(60):02}:{dice.randrange(60):02}.{dice.randrange(10**6):06} 140177104160512"
        f" basic_session_run_hooks.py:260] loss = {dice.random():.7f}, step = {number * 100 + n}"
        f" ({dice.random():.3f} sec)\n"
        f"2026-01-07 09:{dice.randrange(60):02}:11.{dice.randrange(10**6):06}: I tensorflow/core/kernels/data/"
        f"shuffle_dataset_op.cc:450] ShuffleDatasetV3:{dice.randrange(9)}: Filling up shuffle buffer (this may"
        f" take a while): {dice.randrange(2048)} of 2048\n"
        for n in range(40)
    )
    return f"Epoch {number}/500\n{bars}\n{lines}"


def write_log(path: Path, size_bytes: int) -> None:
    """A training log of about this size, with one crash in its middle."""
    dice = random.Random(7)  # noqa: S311 -- a log to read, no secret
    chunk = "".join(epoch(n, dice) for n in range(1, 200)).encode()
    with path.open("wb") as file:
        for _ in range(size_bytes // 2 // len(chunk) + 1):
            file.write(chunk)
        file.write(CRASH.encode())
        for _ in range(size_bytes // 2 // len(chunk)):
            file.write(chunk)


def median(runs: list[Took], what: str) -> float:
    """The middle one of what the runs cost."""
    return statistics.median(getattr(run, what) for run in runs)


def main() -> int:
    """Measure and print; exit 1 where the report did not find the crash."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--mib", type=int, default=1024, help="size of the log (default: 1024)")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sigwhy-bench-") as folder:
        log, paste, words = (
            Path(folder, "train.log"),
            Path(folder, "paste.txt"),
            Path(folder, "words"),
        )
        write_log(log, args.mib << 20)
        paste.write_text("step 1 loss 0.5\n" * 43 + CRASH, encoding="utf-8")
        words.write_text("|".join(_escaped(m) for m in sorted(markers())), encoding="utf-8")
        sigwhy = (sys.executable, "-m", "sigwhy", "explain")
        pairs = {
            "log": (("grep", "-E", "-c", "-f", str(words), str(log)), (*sigwhy, str(log))),
            "paste": ((sys.executable, "-c", "pass"), (*sigwhy, str(paste))),
        }
        # A word that grep took for "any line" would make it look ten times faster than it is.
        counted = subprocess.run(
            ("grep", "-E", "-c", "-f", str(words), str(log)), capture_output=True, check=False
        ).stdout.decode()
        print(f"{len(markers())} markers; grep -E -c counts {counted.strip()} lines")
        failed = not 0 < int(counted) < MOST_TELLING
        for name, (plain, ours) in pairs.items():
            rounds = args.rounds if name == "log" else 5 * args.rounds
            runs = [(took(*plain), took(*ours)) for _ in range(rounds + 1)][1:]
            theirs, mine = [a for a, _ in runs], [b for _, b in runs]
            for what in ("cpu_seconds", "wall_seconds"):
                a, b = median(theirs, what), median(mine, what)
                print(
                    f"{name:5} {what:12} {' '.join(plain[:3])[-20:]:>20} {a:7.3f}   sigwhy {b:7.3f}"
                    f"   ratio {b / a:5.2f}   difference {b - a:+.3f}"
                )
            print(f"{name:5} peak memory of sigwhy {max(m.peak_bytes for m in mine) >> 20} MiB")
            failed |= any(m.status not in {0, 3} for m in mine)
        found = subprocess.run(
            (*sigwhy, "--format", "json", str(log)), capture_output=True, text=True, check=False
        )
        failed |= '"mechanism":"check-failed"' not in found.stdout.replace(" ", "")
        print("the crash was found" if not failed else "THE CRASH WAS NOT FOUND")
    return int(failed)


def _escaped(marker: str) -> str:
    return "".join("\\" + c if c in r"\.[]{}()*+?^$|" else c for c in marker)


if __name__ == "__main__":
    raise SystemExit(main())
