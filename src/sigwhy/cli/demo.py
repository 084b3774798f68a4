"""Makes a real process die, as a child with a time limit, and explains what it left behind.

With a Python that has TensorFlow an operation of it dies, and a script that dies the same way is written and
run. Without one it is a null pointer. All files stay in a new folder, which is named at the end.
"""

from __future__ import annotations

import os
import signal
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

LIMIT_SECONDS = 240  # a busy machine loads TensorFlow for a minute
ASK = "import importlib.util as u, sys; sys.exit(u.find_spec('tensorflow') is None)"
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "2"}  # banners of a healthy start
WITH_TENSORFLOW = '''\
"""A program that dies, made by `sigwhy demo`: of its second batch the values are missing."""
import tensorflow as tf


def padded(values, splits):
    ragged = tf.RaggedTensor.from_row_splits(values, splits, validate=False)
    return ragged.to_tensor()


for values in ([1.0, 2.0, 3.0], []):
    print("batch of shape", padded(tf.constant(values), [0, 1, 3]).shape, flush=True)
'''
WITHOUT = '''\
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
    parser.add_argument(
        "--python",
        metavar="PYTHON",
        help="an interpreter with TensorFlow (default: the one that runs sigwhy, if it has it)",
    )


def run(args: argparse.Namespace) -> int:
    """Die, explain, die again, and say where the page is."""
    from sigwhy.explain import explain

    folder = Path(tempfile.mkdtemp(prefix="sigwhy-demo-"))
    program = folder / "train.py"
    given = args.python or sys.executable
    # The link of an environment is what makes it one, so it is not followed.
    python = str(Path(given).absolute()) if os.sep in given else given
    is_able = sys.platform == "linux" and has_tensorflow(python)
    if not is_able:
        print(
            f"{python} has no TensorFlow, so a null pointer must do; sigwhy demo --python PYTHON\n"
        )
    program.write_text(WITH_TENSORFLOW if is_able else WITHOUT, encoding="utf-8")
    evidence = watched(program, python) if sys.platform == "linux" else None
    if evidence is None:
        evidence = folder / "train.log"
        print(f"$ python -X faulthandler {program}", flush=True)
        said = die([python, "-X", "faulthandler", str(program)], program)
        print(said, flush=True)
        evidence.write_text(said, encoding="utf-8")
        print(f"$ sigwhy explain {evidence}", flush=True)
        write(document(explain(evidence), "text", to_terminal=True), None)
    elif is_able:
        die_again(evidence, python)
    page = args.output or str(folder / "report.html")
    write(document(explain(evidence), "html"), page)
    print(f"\nThe same as a page, with all evidence: {page}\nProgram and evidence: {folder}")
    return 0


def has_tensorflow(python: str) -> bool:
    """Whether an interpreter could import TensorFlow; it is not loaded for that."""
    try:
        done = subprocess.run([python, "-c", ASK], capture_output=True, timeout=60, check=False)
    except OSError as error:
        raise UsageError(f"--python {python}: {error.strerror}; name an interpreter") from None
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def die_again(evidence: Path, python: str) -> None:
    """Write the script that runs the operation again, show it, and run it in a fresh interpreter."""
    from sigwhy.autopsy.incident_file import inputs_of, read
    from sigwhy.report.repro import repro

    script = evidence.with_name("again.py")
    print(f"\n$ sigwhy explain {evidence.name} --repro {script.name}\n$ cat {script.name}")
    incident = read(evidence)
    try:
        made = repro(incident, inputs_of(evidence), name=script.stem)
    except UsageError as error:
        print(error)
        return
    made.write(script)
    print(made.script, end="", flush=True)
    print(f"$ python {script.name}", flush=True)
    status = ended([python, str(script)], script.parent).returncode
    how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
    same = incident.signal is not None and incident.signal.name == how
    print(f"{how}: " + ("it dies of the same signal" if same else "it does not die the same way"))


def watched(program: Path, python: str) -> Path | None:
    """Let `sigwhy run` watch it die; the Incident, or None where this machine forbids to watch."""
    print(f"$ sigwhy run -- python {program}", flush=True)
    sigwhy = [sys.executable, "-m", "sigwhy", "run", "--incidents", str(program.parent)]
    done = died([*sigwhy, "--", python, str(program)], program)
    status = 128 - done.returncode if done.returncode < 0 else done.returncode  # as a shell has it
    print(f"{done.stdout.decode(errors='replace')}$ echo $?\n{status}", flush=True)
    return next(iter(program.parent.glob("*.sigwhy")), None)


def die(command: list[str], program: Path) -> str:
    """Run the program to its end and return what it, and the end itself, said."""
    done = died(command, program)
    end = subprocess.CalledProcessError(done.returncode, ["python", program.name])
    return f"{done.stdout.decode(errors='replace')}subprocess.CalledProcessError: {end}"


def died(command: list[str], program: Path) -> subprocess.CompletedProcess[bytes]:
    """How the program ended, which must not be well."""
    done = ended(command, program.parent)
    if done.returncode == 0:
        raise UsageError("the child did not die on this system; try sigwhy explain with a log")
    return done


def ended(command: list[str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    """How a command ended, and what it said."""
    _keep_no_core()
    world = {k: v for k, v in os.environ.items() if k != "SIGWHY_DEMO_MODEL_PATH"}
    try:
        return subprocess.run(
            command,
            env=QUIET | world,
            cwd=folder,
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


def _keep_no_core() -> None:
    """A demonstration leaves no core file; where there are no such limits there are none."""
    try:
        import resource
    except ImportError:
        return
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
