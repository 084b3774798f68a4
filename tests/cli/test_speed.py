"""A short paste is explained before its reader has moved his eyes."""

import os
import subprocess
import sys

import pytest

resource = pytest.importorskip("resource", reason="Windows does not count a child's time for us")

TEXT = "\n".join(f"step {n} loss 0.5" for n in range(49)) + "\nIllegal instruction (core dumped)\n"
MOST_SECONDS = 0.35


def work_seconds(world, *command):
    """The least time that a processor needs for it, whatever else the machine is doing."""
    times = []
    for _ in range(7):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *command],
            input=TEXT,
            text=True,
            capture_output=True,
            timeout=60,
            check=False,
            env=world,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def test_explaining_a_short_paste_costs_little_more_than_starting_python(tmp_path):
    world = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    world["PYTHONPYCACHEPREFIX"] = str(tmp_path)  # an installed package has its bytecode
    explained = work_seconds(world, "-m", "sigwhy", "explain", "-")
    assert explained - work_seconds(world, "-c", "pass") < MOST_SECONDS
