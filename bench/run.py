"""What it costs to run under sigwhy, as ratios measured side by side, and how soon the verdict stands.

``python bench/run.py [--rounds 5] [--python /path/with/tensorflow/bin/python]`` runs each program
bare, under ``sigwhy run``, with faulthandler, under memray (where it is installed) and under
``gdb -batch -ex run``, interleaved in one run, and prints medians of CPU seconds (own and of all
that was waited for) and their ratios to bare. Then it makes a process with TensorFlow die and
measures from the fault to the last line of the verdict, beside ``gdb -p PID -batch -ex "thread apply
all bt"``. The exit status is 1 where sigwhy misses a bound.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

SIGWHY = (sys.executable, "-m", "sigwhy", "run")
PROGRAMS = {
    "spawns": "import os\nfor _ in range(2000):\n  os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)",
    "syscalls": "import os\nf = os.open('/dev/zero', 0)\nfor _ in range(12000000): os.read(f, 1)",
    "threads that work": "import threading, time\ndef work():\n  end = time.thread_time() + 0.001\n  while time.thread_time() < end: pass\nfor _ in range(2000):\n  t = threading.Thread(target=work); t.start(); t.join()",
    "bare threads": "import threading\nfor _ in range(2000):\n  t = threading.Thread(target=int); t.start(); t.join()",
    "signals": "import os, signal\nsignal.signal(10, lambda *_: None)\nfor _ in range(5000): os.kill(os.getpid(), 10)",
}
TRAINING = """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np, tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Input((64,)), tf.keras.layers.Dense(256, "relu"), tf.keras.layers.Dense(10)])
model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x = np.random.rand(20000, 64).astype("float32")
model.fit(x, np.zeros(20000, "int64"), batch_size=64, epochs=8, verbose=0)
"""
DYING = """
import ctypes, os, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Input((8,)), tf.keras.layers.Dense(8)])
model.compile("sgd", "mse")
model.fit(tf.ones((64, 8)), tf.ones((64, 8)), verbose=0)
if len(sys.argv) > 2:
    print("ready", flush=True)
    time.sleep(600)
open(sys.argv[1], "w").write(repr(time.monotonic()))
ctypes.string_at(0)
"""
PARENT = """
import subprocess, sys, time
subprocess.run(sys.argv[2:])
open(sys.argv[1], "w").write(repr(time.monotonic()))
"""
BOUNDS = {"training": 1.02, "spawns": 1.5, "syscalls": 1.02, "threads that work": 1.3, "bare threads": 4.0}  # fmt: skip
START_SECONDS, VERDICT_SECONDS, HELD_SECONDS = 0.12, 1.5, 0.7
FASTER_THAN_GDB, INCIDENT_BYTES, PEAK_BYTES = 5.0, 2 << 20, 250 << 20


@dataclass(frozen=True, slots=True)
class Took:
    """What one run cost."""

    cpu_seconds: float
    wall_seconds: float
    status: int


def took(*command: str) -> Took:
    """Run a command to its end and say what it cost, with all that it waited for."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    return Took(seconds, time.perf_counter() - start, process.returncode)


def ways(python: str, script: str, folder: str) -> dict[str, tuple[str, ...]]:
    """The same program in every way."""
    found = {
        "bare": (python, script),
        "sigwhy": (*SIGWHY, "--", python, script),
        "faulthandler": (python, "-X", "faulthandler", script),
    }
    if _has_memray(python):
        found["memray"] = (python, "-m", "memray", "run", "-q", "-f", "-o", f"{folder}/memray", script)  # fmt: skip
    if shutil.which("gdb"):
        found["gdb"] = ("gdb", "-nx", "-batch", "-ex", "run", "--args", python, script)
    return found


def _has_memray(python: str) -> bool:
    if python == sys.executable:
        return importlib.util.find_spec("memray") is not None
    return subprocess.run((python, "-c", "import memray"), capture_output=True, check=False).returncode == 0  # fmt: skip


def compare(name: str, python: str, text: str, folder: str, rounds: int) -> bool:
    """One row of the table; whether sigwhy keeps its bound."""
    script = Path(folder, "program.py")
    script.write_text(text, encoding="utf-8")
    commands = ways(python, str(script), folder)
    runs: dict[str, list[Took]] = {way: [] for way in commands}
    for _ in range(rounds):
        for way, command in commands.items():
            runs[way].append(took(*command))
    bare = statistics.median(t.cpu_seconds for t in runs["bare"])
    cells = []
    for way, found in runs.items():
        middle = statistics.median(t.cpu_seconds for t in found)
        cells.append(f"{way} {middle:6.2f} s {middle / bare:5.2f}")
    ratio = statistics.median(t.cpu_seconds for t in runs["sigwhy"]) / bare
    bound = BOUNDS.get(name)
    kept = bound is None or ratio <= bound
    print(f"{name:18} {'  '.join(cells)}  {_word(kept, bound)}", flush=True)
    return kept and all(t.status == 0 for t in runs["sigwhy"])


def _word(kept: bool, bound: float | None) -> str:
    return "" if bound is None else f"{'keeps' if kept else 'MISSES'} {bound:g}"


def start_up(rounds: int) -> bool:
    """How much longer ``sigwhy run -- true`` takes than ``true``."""
    pairs = [(took("true"), took(*SIGWHY, "--", "true")) for _ in range(4 * rounds)]
    more = statistics.median(b.wall_seconds - a.wall_seconds for a, b in pairs)
    cpu = statistics.median(b.cpu_seconds - a.cpu_seconds for a, b in pairs)
    kept = more <= START_SECONDS
    print(f"start-up: {1000 * more:.0f} ms more than true, {1000 * cpu:.0f} ms of CPU  {_word(kept, 1000 * START_SECONDS)} ms")  # fmt: skip
    return kept


class Peak(threading.Thread):
    """The most memory that a process, and what it forked without exec, ever had."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.bytes, self.over = pid, 0, threading.Event()

    def run(self) -> None:
        """Look again and again."""
        while not self.over.wait(0.01):
            for line in _text(f"/proc/{self.pid}/status").splitlines():
                if line.startswith("VmHWM:"):
                    self.bytes = max(self.bytes, int(line.split()[1]) << 10)


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class Death:
    """How one death went: until the verdict stood, until the parent heard of it, and what was kept."""

    verdict_seconds: float
    parent_seconds: float
    incident_bytes: int
    peak_bytes: int


def death(python: str, folder: str, *, watched: bool) -> Death:
    """Let a process with TensorFlow die under its parent."""
    dying, parent, fell, heard = (Path(folder, n) for n in ("dying.py", "parent.py", "fell", "heard"))  # fmt: skip
    dying.write_text(DYING, encoding="utf-8")
    parent.write_text(PARENT, encoding="utf-8")
    for old in Path(folder).glob("*.sigwhy"):
        old.unlink()
    command = (sys.executable, str(parent), str(heard), python, str(dying), str(fell))
    before = (*SIGWHY, "--incidents", folder, "--") if watched else ()
    with subprocess.Popen((*before, *command), stderr=subprocess.PIPE) as running:
        peak = Peak(running.pid)
        peak.start()
        running.communicate()
        ended = time.monotonic()
        peak.over.set()
    at = float(fell.read_text(encoding="utf-8"))
    kept = sum(p.stat().st_size for p in Path(folder).glob("*.sigwhy"))
    return Death(ended - at, float(heard.read_text(encoding="utf-8")) - at, kept, peak.bytes)


def gdb_seconds(python: str, folder: str) -> float | None:
    """How long gdb takes for the stacks of the same process."""
    if not shutil.which("gdb"):
        return None
    words = (python, str(Path(folder, "dying.py")), str(Path(folder, "fell")), "wait")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        if running.stdout:
            running.stdout.readline()
        began = time.monotonic()
        gdb = ("gdb", "-nx", "-p", str(running.pid), "-batch", "-ex", "thread apply all bt")
        subprocess.run(gdb, capture_output=True, check=False, timeout=600)
        seconds = time.monotonic() - began
        running.kill()
    return seconds


def deaths(python: str, folder: str, rounds: int) -> bool:
    """From death to verdict on a process with TensorFlow."""
    bare, ours = [], []
    for _ in range(rounds):
        bare.append(death(python, folder, watched=False))
        ours.append(death(python, folder, watched=True))
    verdict = statistics.median(d.verdict_seconds for d in ours)
    held = statistics.median(d.parent_seconds for d in ours) - statistics.median(d.parent_seconds for d in bare)  # fmt: skip
    size, peak = max(d.incident_bytes for d in ours), max(d.peak_bytes for d in ours)
    theirs = gdb_seconds(python, folder)
    rows = [
        (f"from death to the end of the verdict {verdict:.2f} s", verdict <= VERDICT_SECONDS),
        (f"the parent hears of the death {held:.2f} s later than bare", held <= HELD_SECONDS),
        (f"the Incident has {size / (1 << 20):.2f} MiB", 0 < size <= INCIDENT_BYTES),
        (f"peak memory of sigwhy {peak >> 20} MiB", 0 < peak <= PEAK_BYTES),
    ]
    if theirs:
        rows.append((f"gdb takes {theirs:.1f} s for the stacks, {theirs / verdict:.1f} times as long", theirs / verdict >= FASTER_THAN_GDB))  # fmt: skip
    for says, kept in rows:
        print(f"{says}  {'keeps its bound' if kept else 'MISSES ITS BOUND'}", flush=True)
    return all(kept for _, kept in rows)


def main() -> int:
    """Measure and print; exit 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", help="a Python with TensorFlow, for the training and the death")
    parser.add_argument("--only", help="only the rows whose name begins so")
    args = parser.parse_args()
    kept = True
    with tempfile.TemporaryDirectory(prefix="sigwhy-bench-") as folder:
        for name, text in PROGRAMS.items():
            if not args.only or name.startswith(args.only):
                kept &= compare(name, sys.executable, text, folder, args.rounds)
        if not args.only or args.only == "start":
            kept &= start_up(args.rounds)
        if args.python and (not args.only or args.only == "training"):
            kept &= compare("training", args.python, TRAINING, folder, args.rounds)
        if args.python and (not args.only or args.only == "death"):
            kept &= deaths(args.python, folder, args.rounds)
    return int(not kept)


if __name__ == "__main__":
    raise SystemExit(main())
