"""What ``sigwhy run`` says of a command that hangs, and how it is ended."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("ptrace is of Linux", allow_module_level=True)

from tests.live import programs_that_hang as programs

pytestmark = pytest.mark.live
SECONDS = 60


class Run:
    """``sigwhy run`` in a session of its own; whatever is left of it ends with the test."""

    def __init__(self, folder, source, *options):
        self.json = folder / "verdict.json"
        self.words = (folder / "words").open("w+")
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "sigwhy",
                "run",
                "--incidents",
                str(folder),
                "--json",
                str(self.json),
                *options,
                "--",
                sys.executable,
                "-c",
                source,
            ],
            stdout=subprocess.PIPE,
            stderr=self.words,
            text=True,
            start_new_session=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate(timeout=SECONDS)

    def says(self):
        return self.process.stdout.readline().strip()

    def ended(self):
        return self.process.wait(timeout=SECONDS)

    def verdict(self):
        return json.loads(self.json.read_text())


def is_dead(pid):
    """Gone, or a zombie that its new parent has not noticed yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def hung(folder, source):
    """A command that is ended by SIGTERM to sigwhy after it has hung for a while."""
    with Run(folder, source) as run:
        run.says()
        time.sleep(3)  # a hang is that nothing happens: there is no event to wait for
        began = time.monotonic()
        run.process.send_signal(signal.SIGTERM)
        assert run.ended() == -signal.SIGTERM
        assert time.monotonic() - began < 15
        return run.verdict()


def test_a_deadlock_is_told_though_sigterm_ended_it(tmp_path):
    told = hung(tmp_path, programs.TWO_LOCKS)
    assert told["mechanism"] == "deadlock"
    assert told["verdict"]["cause"] == "deadlock-own"
    assert told["death"]["signal"] == "SIGTERM"


def test_a_forked_child_that_hangs_is_the_story_of_its_parent(tmp_path):
    told = hung(tmp_path, programs.FORKED_LOCK)
    assert told["verdict"]["cause"] == "fork-unsafe"


def test_a_worker_that_was_killed_is_why_its_parent_waits(tmp_path):
    told = hung(tmp_path, programs.LOST_WORKER)
    assert told["mechanism"] == "killed"
    assert told["verdict"]["cause"] == "external-kill"
    assert told["verdict"]["culprit"]["name"] == "multiprocessing.Pool"


def test_a_program_that_only_waits_was_ended_by_somebody(tmp_path):
    told = hung(tmp_path, programs.IMPORTS + "print('ready', flush=True); time.sleep(1000)")
    assert told["mechanism"] == "killed"
    assert told["verdict"]["cause"] == "external-kill"


def test_a_loop_of_native_code_never_ends(tmp_path):
    told = hung(tmp_path, programs.NATIVE_LOOP)
    assert told["mechanism"] == "endless-loop"


def test_a_program_that_computes_was_ended_by_somebody(tmp_path):
    told = hung(tmp_path, "print('ready', flush=True)\nwhile True: sorted(range(1000), key=str)")
    assert told["mechanism"] == "killed"
    assert told["verdict"]["cause"] == "external-kill"
    assert told["death"]["signal"] == "SIGTERM"


def test_overtime_is_exit_status_124_and_tells_what_it_did(tmp_path):
    with Run(tmp_path, programs.TWO_LOCKS, "--timeout", "2") as run:
        assert run.ended() == 124
        assert run.verdict()["verdict"]["cause"] == "deadlock-own"


def test_whoever_ignores_the_end_of_his_time_is_killed_with_his_children(tmp_path):
    with Run(tmp_path, programs.STUBBORN, "--timeout", "2") as run:
        child = int(run.says())
        assert run.ended() == 124
        assert is_dead(child)


def test_a_command_that_ends_in_time_passes_its_status_on(tmp_path):
    with Run(tmp_path, "raise SystemExit(3)", "--timeout", "30", "--hang", "20") as run:
        assert run.ended() == 3


def test_a_hang_is_told_once_and_the_program_goes_on(tmp_path):
    with Run(tmp_path, programs.RESTS, "--hang", "1") as run:
        assert run.says() == "ready"
        assert run.says() == "goes on"
        assert run.ended() == 0
        run.words.seek(0)
        words = run.words.read()
    assert words.count("sigwhy: ") == 1
    assert "everybody waits" in words


@pytest.mark.parametrize("word", ["", "0", "-1", "x", "1x", "nan", "inf"])
def test_what_is_no_time_is_refused(word):
    from sigwhy.cli.run import seconds
    from sigwhy.model.error import UsageError

    with pytest.raises(UsageError, match="is no time"):
        seconds(word)


@pytest.mark.parametrize(("word", "value"), [("90", 90), ("1.5", 1.5), ("2m", 120), ("1h", 3600)])
def test_a_time_is_read_as_timeout_reads_it(word, value):
    from sigwhy.cli.run import seconds

    assert seconds(word) == value
