"""Whatever becomes of sigwhy, the command goes on to its end."""

import os
import signal
import subprocess
import textwrap
import time

import pytest

from tests.live.watched import PYTHON, SECONDS, fate, incidents, program, sigwhy

pytestmark = pytest.mark.live

# A job with threads, children and a death that its parent gets over, which tells how it went.
JOB = textwrap.dedent("""
    import os, signal, subprocess, sys, threading, time
    def work():
        for _ in range(20):
            t = threading.Thread(target=time.sleep, args=(0.001,)); t.start(); t.join()
    print("ready", flush=True)
    sys.stdin.read(1)
    for n in range(2):
        work()
        assert subprocess.run(["sh", "-c", "exit 3"]).returncode == 3
        child = os.fork()
        if child == 0:
            os.kill(os.getpid(), signal.SIGSEGV)
        assert os.waitpid(child, 0)[1] == signal.SIGSEGV
    print("done", flush=True)
    open(sys.argv[1], "w").write("done")
    sys.exit(5)
""")


def whole(folder):
    """Every file with the final name is whole."""
    return all(record["pid"] for record in incidents(folder))


def start(tmp_path, **how):
    words = sigwhy("--incidents", str(tmp_path), "--", PYTHON, "-c", JOB, str(tmp_path / "end"))
    running = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **how)
    assert running.stdout.readline() == b"ready\n"
    return running


def wait_for(place):
    until = time.monotonic() + SECONDS
    while not place.exists():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize("seconds", [0, 0.05, 0.15, 0.3, 0.6])
def test_the_job_lives_on_when_sigwhy_is_killed(seconds, tmp_path):
    with start(tmp_path, stderr=subprocess.PIPE) as running:
        running.stdin.write(b"x")
        running.stdin.close()
        time.sleep(seconds)
        running.kill()
        assert b"done\n" in running.stdout.read(), running.stderr.read()
    wait_for(tmp_path / "end")
    assert whole(tmp_path)


def test_the_job_goes_on_when_sigwhy_was_stopped_and_continued(tmp_path):
    with start(tmp_path) as running:
        running.send_signal(signal.SIGSTOP)
        os.waitpid(running.pid, os.WUNTRACED)
        running.stdin.write(b"x")
        running.stdin.close()
        time.sleep(0.2)
        running.send_signal(signal.SIGCONT)
        assert running.wait(SECONDS) == 5


BROKEN = """
import sys
from sigwhy.run import {module} as broken
count = [0]
before = {owner}.{name}
def fails(*arguments, **named):
    count[0] += 1
    if count[0] > {after}:
        raise {error}("put in by the test")
    return before(*arguments, **named)
{owner}.{name} = fails
from sigwhy.cli import main
sys.exit(main(sys.argv[1:]))
"""

PLACES = [
    ("supervise", "broken.Loop", "_signalled"),
    ("supervise", "broken.Loop", "_forked"),
    ("supervise", "broken.Loop", "_became_another"),
    ("supervise", "broken.Loop", "_stopped"),
    ("supervise", "broken.Loop", "_ended"),
    ("supervise", "broken.Loop", "_tick"),
    ("supervise", "broken.Loop", "_tell_dying"),
    ("supervise", "broken.Loop", "hold"),
    ("supervise", "broken.Loop", "release"),
    ("supervise", "broken.ptrace", "siginfo"),
    ("supervise", "broken.ptrace", "message"),
    ("supervise", "broken.proc", "command"),
    ("supervise", "broken.proc", "dispositions"),
    ("supervise", "broken", "take"),
    ("capture", "broken", "look"),
    ("recorder", "broken.Recorder", "dying"),
    ("recorder", "broken.Recorder", "tick"),
    ("recorder", "broken.Recorder", "incident"),
    ("session", "broken", "incidents"),
    ("session", "broken.stderr", "tail"),
]


@pytest.mark.parametrize(
    ("module", "owner", "name", "after"),
    [(*place, 0) for place in PLACES] + [(*place, 3) for place in PLACES[:8]],
)
def test_the_job_goes_on_when_something_of_ours_fails(module, owner, name, after, tmp_path):
    script = BROKEN.format(module=module, owner=owner, name=name, after=after, error="ValueError")
    words = ("run", "--incidents", tmp_path, "--", PYTHON, "-c", JOB, tmp_path / "end")
    ended = fate(PYTHON, "-c", script, *words, stdin=None)
    assert (ended.status, ended.out) == (5, b"ready\ndone\n")
    assert whole(tmp_path)
    reached = after == 0
    if reached:
        assert b"put in by the test" in ended.err
    assert ended.err.count(b"of ours failed") <= 1


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGTERM])
def test_without_the_right_to_trace_the_fate_is_passed_on_and_explained(number, tmp_path):
    script = f"echo words >&2; kill -{int(number)} $$"
    words = sigwhy("--json", str(tmp_path / "v.json"), "--incidents", str(tmp_path), "--", "sh", "-c", script)  # fmt: skip
    ended = fate(program(), "without-ptrace", *words)
    assert ended == (-number, b"", b"words\n")
    assert '"signal"' in (tmp_path / "v.json").read_text(encoding="utf-8")
    loud = fate(program(), "without-ptrace", *(w for w in words if w != "--quiet"))
    assert b"ptrace" in loud.err


def test_without_the_right_to_trace_signals_still_reach_the_command(tmp_path):
    words = sigwhy("--", program(), "told")
    with subprocess.Popen((program(), "without-ptrace", *words), stdout=subprocess.PIPE) as running:
        assert running.stdout.readline() == b"ready\n"
        running.send_signal(signal.SIGTERM)
        assert running.stdout.readline().startswith(b"15 ")
        running.send_signal(signal.SIGINT)
        assert running.stdout.readline().startswith(b"2 ")
        subprocess.run(["pkill", "-KILL", "-P", str(running.pid)], check=True)
        assert running.wait(SECONDS) == -signal.SIGKILL


def test_sigwhy_inside_sigwhy_passes_on_both(tmp_path):
    ended = fate(*sigwhy("--incidents", str(tmp_path), "--", *sigwhy("--", program(), "fault")))
    assert ended.status == -signal.SIGSEGV
    assert incidents(tmp_path)[0]["signal"]["name"] == "SIGSEGV"
