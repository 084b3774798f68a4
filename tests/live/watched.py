"""A command with sigwhy and without, so that a test can compare its fate."""

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).parent
SECONDS = 60
PYTHON = sys.executable


class Fate(NamedTuple):
    """What whoever started a command can see of its end."""

    status: int
    out: bytes
    err: bytes


def sigwhy(*arguments):
    return (PYTHON, "-m", "sigwhy", "run", "--quiet", *arguments)


def fate(*command, **how):
    how.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, timeout=SECONDS, check=False, **how
    )
    return Fate(done.returncode, done.stdout, done.stderr)


def watched(folder, *command, **how):
    """The fate of a watched command, and the records of the Incidents that were kept."""
    ended = fate(*sigwhy("--incidents", str(folder), "--", *map(str, command)), **how)
    return ended, incidents(folder)


def incidents(folder):
    """The records under final names; what is still being written has a name with a dot before it."""
    return [record(path) for path in sorted(Path(folder).glob("[!.]*.sigwhy"))]


def record(path):
    with zipfile.ZipFile(path) as packed:
        return json.loads(packed.read("incident.json"))


@functools.cache
def program(name="fates", *flags):
    """A program of this folder, compiled once."""
    if not shutil.which("cc"):
        pytest.skip("needs a C compiler")
    folder = Path(tempfile.gettempdir(), f"sigwhy-live-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    target = folder / "-".join((name, *(f.strip("-") for f in flags), str(os.getpid())))
    done = subprocess.run(
        ["cc", "-O1", "-g", "-w", *flags, "-o", target, HERE / f"{name}.c", "-lpthread"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"cannot compile: {done.stderr[:200]}")
    return target
