"""What it costs to name the operation, beside unwinding: time as a ratio, and bytes in the Incident.

``python bench/autopsy.py --python /path/with/tensorflow/bin/python [--rounds 3] [INCIDENT.sigwhy…]``
makes processes die in TensorFlow (or takes the Incidents that are given) and measures on their small
cores, interleaved in one run, the search for operations and the unwinding of all stacks. It prints
median and worst of the ratio, and of the bytes that are added: the record, the whole inputs, and all
pages that the search read, packed. The exit status
is 1 where a bound is missed: three times the unwinding, 1 MB.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sigwhy.autopsy import native_frames
from sigwhy.autopsy.core import Core
from sigwhy.autopsy.incident_file import core_of, inputs_of, read
from sigwhy.operations import operations
from sigwhy.operations.scene import Scene

if TYPE_CHECKING:
    from sigwhy.model.incident import Thread

MOST_RATIO, MOST_BYTES = 3.0, 1 << 20
WATCH = (sys.executable, "-m", "sigwhy", "run", "--quiet", "--incidents")
HEAD = """
import ctypes, mmap, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np, tensorflow as tf
room = mmap.mmap(-1, SIZE)
array = np.frombuffer(room, dtype=np.float32)
array[:] = 1.5
tensor = tf.experimental.dlpack.from_dlpack(array.__dlpack__())
protect = ctypes.CDLL(None).mprotect
protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
take = lambda: protect(array.ctypes.data, array.nbytes, 0)
"""
PROGRAMS = {
    "eager": (16 << 10, "take(); tf.math.cumsum(tensor)"),
    "a large input": (64 << 20, "take(); tf.math.cumsum(tensor)"),
    "function": (16 << 10, "f = tf.function(tf.math.cumsum); f(tf.ones([4096])); take(); f(tensor)"),
    "pipeline": (16 << 10, "d = tf.data.Dataset.range(9).map(lambda n: tf.math.cumsum(tensor)[n]).prefetch(2); take(); list(d)"),
    "helpers": (16 << 20, "take(); tf.math.tanh(tensor)"),
    "no operation": (16 << 10, "tf.math.cumsum(tensor); ctypes.string_at(0)"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cost:
    """What one death cost: seconds of the search and of unwinding, and bytes that were added."""

    name: str
    search: float
    unwind: float
    added: int
    named: str

    @property
    def ratio(self) -> float:
        """The search as a multiple of unwinding."""
        return self.search / self.unwind


def deaths(python: str, folder: Path) -> list[Path]:
    """An Incident of each program."""
    found = []
    for n, (size, code) in enumerate(PROGRAMS.values()):
        kept = folder / str(n)
        script = folder / f"{n}.py"
        script.write_text(HEAD.replace("SIZE", str(size)) + code + "\n")
        subprocess.run(
            [*WATCH, kept, "--", python, script], check=False, capture_output=True, timeout=300
        )
        found += kept.glob("*.sigwhy")
    return found


def cost(path: Path, rounds: int) -> Cost:
    """Measure both on the core of an Incident, in turn."""
    incident = read(path)
    pages = 0
    with ExitStack() as open_:
        place = open_.enter_context(core_of(path))
        if place is None:
            raise SystemExit(f"{path} has no core; run without --no-core")
        search, unwind = [], []
        for _ in range(rounds):
            began = time.process_time()
            native_frames.of_core(str(place))
            unwind.append(time.process_time() - began)
            seconds, pages = _searched(place, incident.threads)
            search.append(seconds)
    record = len(msgspec.json.encode(incident.operations))
    added = record + pages + sum(map(len, inputs_of(path).values()))
    named = incident.operations[0].op if incident.operations else "no operation"
    return Cost(path.name, min(search), min(unwind), added, named)


def _searched(place: Path, threads: list[Thread]) -> tuple[float, int]:
    """Seconds of the search, and the size of the pages that the core must hold for it, packed."""
    core = Core(place)
    began = time.process_time()
    operations(Scene(memory=core, threads=threads, pid=core.contents.pid))
    took = time.process_time() - began
    packed = zlib.compress(b"".join(core.page(page) for page in sorted(core.touched)))
    core.close()
    return took, len(packed)


def main() -> int:
    """Measure and print; 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("incidents", nargs="*", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = asked.incidents or deaths(asked.python, Path(folder))
        costs = [cost(path, asked.rounds) for path in paths]
    if not costs:
        raise SystemExit("nothing died; --python names a Python with TensorFlow")
    for one in costs:
        print(
            f"{one.name}: {one.named}: {one.search * 1000:.0f} ms beside {one.unwind * 1000:.0f} ms ({one.ratio:.2f}), {one.added} bytes"
        )
    ratios, added = [one.ratio for one in costs], [one.added for one in costs]
    print(
        f"ratio: median {statistics.median(ratios):.2f}, worst {max(ratios):.2f} (at most {MOST_RATIO})"
    )
    print(
        f"bytes: median {statistics.median(added):.0f}, worst {max(added)} (at most {MOST_BYTES})"
    )
    return int(max(ratios) > MOST_RATIO or max(added) > MOST_BYTES)


if __name__ == "__main__":
    sys.exit(main())
