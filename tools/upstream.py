"""Runs every row of the table of known bugs again, and says where it is not true any more.

    python tools/upstream.py --python ENV/bin/python [--only ID ...]

Each row's call must end as the row says for this version, and the call beside it must live. One process
imports the framework and never computes; each call runs in a fork of it, with a limit of time and
memory. Prints what differs, and for a version that no row tells of, what to write into ``ran``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

from sigwhy.known_bugs import DIES, Row, rows

SECONDS = 20
RUNNER = r"""
import json, os, resource, signal, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

def ended(call, seconds):
    errors = os.memfd_create("errors")
    child = os.fork()
    if child == 0:
        os.dup2(errors, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        for limit, most in (("RLIMIT_AS", 16 << 30), ("RLIMIT_CORE", 0)):
            resource.setrlimit(getattr(resource, limit), (most, most))
        try:
            eval(call, {"tf": tf, "np": np})
        except Exception:
            os._exit(1)
        os._exit(0)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            said = os.pread(errors, 1 << 16, 0).decode("utf-8", "replace")
            os.close(errors)
            if os.WIFSIGNALED(status):
                return signal.Signals(os.WTERMSIG(status)).name, said
            return ("error", "ok")[os.WEXITSTATUS(status) == 0], said
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hang", ""

print(json.dumps([tf.__version__, ""]), flush=True)
for line in sys.stdin:
    print(json.dumps(ended(*json.loads(line))), flush=True)
"""


def main() -> int:
    """Run the rows, and say what differs; 0 where nothing does."""
    given = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    given.add_argument("--python", required=True, help="an interpreter with TensorFlow")
    given.add_argument("--only", nargs="*", default=[], metavar="ID")
    asked = given.parse_args()
    wanted = [row for row in rows() if not asked.only or row.id in asked.only]
    with subprocess.Popen(
        [asked.python, "-c", RUNNER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as runner:
        if runner.stdin is None or runner.stdout is None:
            return 2
        version = json.loads(runner.stdout.readline())[0]
        odd = 0
        for row in wanted:
            ends = []
            for call in (row.call, row.lives):
                runner.stdin.write(json.dumps([call, SECONDS]) + "\n")
                runner.stdin.flush()
                ends.append(json.loads(runner.stdout.readline()))
            for words in differs(row, version, *ends):
                odd += 1
                print(f"{row.id}: {words}")
        runner.stdin.close()
    print(f"TensorFlow {version}: {len(wanted)} rows, {odd} remarks")
    return int(odd > 0)


def differs(row: Row, version: str, died: list[str], lived: list[str]) -> list[str]:
    """What the row says and the run does not."""
    found = []
    expected = row.ran.get(version)
    if expected is None:
        found.append(f'not known yet: write "{version}" = "{died[0]}" into ran')
    elif expected != died[0]:
        found.append(f"ended with {died[0]}, the row says {expected}")
    parts = [part for part in (row.check, row.thrown) if part and died[0] in DIES]
    found += [f"did not say {part!r}" for part in parts if part not in died[1]]
    if lived[0] not in {"ok", "error"}:
        found.append(f"the call that should live ended with {lived[0]}")
    return found


if __name__ == "__main__":
    sys.exit(main())
