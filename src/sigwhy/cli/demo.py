"""Makes a real process die, as a child with a time limit, and explains what it left behind.

The child, its log and the report as a page stay in a new folder, which is named at the end.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.cli.explain import document
from sigwhy.cli.output import write
from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    import argparse

LIMIT_SECONDS = 60
PROGRAM = '''\
"""A program that dies, made by `sigwhy demo`: native code hands out a null pointer."""
import ctypes
import sys

libc = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
libc.getenv.restype = ctypes.c_void_p


def model_path():
    address = libc.getenv(b"SIGWHY_DEMO_MODEL_PATH")  # not set: the answer is NULL
    return ctypes.string_at(address)                  # and nobody looks at it


def train():
    print("loading", model_path().decode())


train()
'''


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("-o", "--output", metavar="FILE", help="write the page to this file")


def run(args: argparse.Namespace) -> int:
    """Die, explain, and say where the page is."""
    from sigwhy.explain import explain

    folder = Path(tempfile.mkdtemp(prefix="sigwhy-demo-"))
    program = folder / "train.py"
    program.write_text(PROGRAM, encoding="utf-8")
    evidence = watched(program) if sys.platform == "linux" else None
    if evidence is None:
        evidence = folder / "train.log"
        print(f"$ python -X faulthandler {program}", flush=True)
        said = die([sys.executable, "-X", "faulthandler", str(program)], program)
        print(said, flush=True)
        evidence.write_text(said, encoding="utf-8")
        print(f"$ sigwhy explain {evidence}", flush=True)
        write(document(explain(evidence), "text", to_terminal=True), None)
    page = args.output or str(folder / "report.html")
    write(document(explain(evidence), "html"), page)
    print(f"\nThe same as a page, with all evidence: {page}\nProgram and evidence: {folder}")
    return 0


def watched(program: Path) -> Path | None:
    """Let `sigwhy run` watch it die; the Incident, or None where this machine forbids to watch."""
    print(f"$ sigwhy run -- python {program}", flush=True)
    sigwhy = [sys.executable, "-m", "sigwhy", "run", "--incidents", str(program.parent)]
    print(die([*sigwhy, "--", sys.executable, str(program)], program), flush=True)
    return next(iter(program.parent.glob("*.sigwhy")), None)


def die(command: list[str], program: Path) -> str:
    """Run the program to its end and return what it, and the end itself, said."""
    _keep_no_core()
    world = {k: v for k, v in os.environ.items() if k != "SIGWHY_DEMO_MODEL_PATH"}
    try:
        done = subprocess.run(
            command,
            env=world,
            cwd=program.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UsageError(
            f"the child did not die within {LIMIT_SECONDS} s; try again when the machine is idle"
        ) from None
    if done.returncode == 0:
        raise UsageError("the child did not die on this system; try sigwhy explain with a log")
    end = subprocess.CalledProcessError(done.returncode, ["python", program.name])
    return f"{done.stdout.decode(errors='replace')}subprocess.CalledProcessError: {end}"


def _keep_no_core() -> None:
    """A demonstration leaves no core file; where there are no such limits there are none."""
    try:
        import resource
    except ImportError:
        return
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
