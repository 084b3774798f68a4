"""``sigwhy.enable()`` sees the death of a process that it did not start, and changes nothing else."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("ptrace is of Linux", allow_module_level=True)

import sigwhy
from sigwhy import inside
from tests.live import watched

pytestmark = pytest.mark.live
SECONDS = 30
IMPORTS = "import ctypes, os, signal, subprocess, sys, threading, time\n"
ENABLE = IMPORTS + "import sigwhy\nsigwhy.enable(incidents={folder!r}, wait=20)\n"
# A filter that lets everything through but one system call: {what} is 0x30000 to trap, 0x50001 for EPERM.
FILTER = """
import struct
def forbid(call, what):
    rules = [(0x20, 0, 0, 0), (0x15, 0, 1, call), (0x06, 0, 0, what), (0x06, 0, 0, 0x7fff0000)]
    packed = ctypes.create_string_buffer(b''.join(struct.pack('<HBBI', *rule) for rule in rules))
    program = ctypes.create_string_buffer(struct.pack('<H6xQ', len(rules), ctypes.addressof(packed)))
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
"""
PTRACE, SOCKET = 101, 41


def fate(source, folder=None, **how):
    """How a program ends, and the Incident that is kept of it."""
    return subprocess.run(
        [sys.executable, "-c", (ENABLE.format(folder=str(folder)) if folder else IMPORTS) + source],
        capture_output=True,
        timeout=SECONDS,
        check=False,
        text=True,
        cwd=folder,
        **how,
    )


def kept(folder, seconds=10):
    """The Incidents, when they are written: the watcher ends after the process."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := list(folder.glob("[!.]*.sigwhy")):  # the others are being written
            return [watched.record(path) for path in found]
        time.sleep(0.02)
    return []


@contextmanager
def living(folder, source):
    """A program that is watched and has said its first line."""
    process = subprocess.Popen(
        [sys.executable, "-c", ENABLE.format(folder=str(folder)) + source],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process, process.stdout.readline().strip()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=SECONDS)


def status(pid, name):
    with suppress(FileNotFoundError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return line.split()[1]
    return None


def watcher_of(pid):
    return int(status(pid, "TracerPid"))


def until(told, seconds=SECONDS):
    end = time.monotonic() + seconds
    while not told():
        assert time.monotonic() < end
        time.sleep(0.01)


WAYS = {
    "a null pointer": "ctypes.string_at(0)",
    "abort": "os.abort()",
    **{
        f"{how} {name}": f"{call}(signal.{name})"
        for name in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGTRAP", "SIGFPE", "SIGILL")
        for how, call in (("raise", "signal.raise_signal"),)
    },
    "kill SIGSEGV": "os.kill(os.getpid(), signal.SIGSEGV)",
    "a thread": "threading.Thread(target=ctypes.string_at, args=(0,)).start(); time.sleep(20)",
}


@pytest.mark.parametrize("source", WAYS.values(), ids=WAYS)
def test_a_death_is_seen_and_is_what_it_was(tmp_path, source):
    bare, seen = fate(source), fate(source, tmp_path)
    assert (seen.returncode, seen.stdout) == (bare.returncode, bare.stdout)
    (incident,) = kept(tmp_path)
    assert incident["way"] == "handler"
    assert incident["signal"]["number"] == -bare.returncode
    assert any(thread.get("python") for thread in incident["threads"])


def test_the_verdict_stands_where_the_process_speaks(tmp_path):
    assert "sigwhy: " in fate("ctypes.string_at(0)", tmp_path).stderr


def test_a_system_call_that_is_trapped_is_sigsys(tmp_path):
    source = FILTER + f"forbid({SOCKET}, 0x30000)\nimport socket\nsocket.socket()"
    assert fate(source, tmp_path).returncode == -signal.SIGSYS
    assert kept(tmp_path)[0]["signal"]["name"] == "SIGSYS"


def test_a_program_that_recovers_from_faults_goes_on(tmp_path):
    source = (
        "import faulthandler\nfaulthandler.enable()\n"
        "signal.signal(signal.SIGUSR1, lambda *_: None)\n"
        "for n in range(50): os.kill(os.getpid(), signal.SIGUSR1)\n"
        "signal.signal(signal.SIGSEGV, lambda *_: None)\n"
        "os.kill(os.getpid(), signal.SIGSEGV)\n"
    )
    done = fate(source, tmp_path)
    assert done.returncode == 0, done.stderr
    assert watched.incidents(tmp_path) == []


def test_faulthandler_of_the_program_still_speaks(tmp_path):
    source = "import faulthandler\nfaulthandler.enable()\nctypes.string_at(0)"
    done = fate(source, tmp_path)
    assert done.returncode == -signal.SIGSEGV
    assert "Fatal Python error: Segmentation fault" in done.stderr
    assert kept(tmp_path)[0]["signal"]["address"] == 0


def test_ctrl_c_arrives_once(tmp_path):
    source = (
        "count = []\nsignal.signal(signal.SIGINT, lambda *_: count.append(1))\n"
        "print('ready', flush=True); sys.stdin.readline(); print(len(count), flush=True)\n"
    )
    with living(tmp_path, source) as (process, _):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.2)
        assert process.communicate("\n", timeout=SECONDS)[0].strip() == "1"


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGWINCH, signal.SIGCONT])
def test_a_signal_to_the_watcher_is_not_for_the_process(tmp_path, number):
    with living(tmp_path, "print('ready', flush=True); sys.stdin.readline()") as (process, _):
        watcher = watcher_of(process.pid)
        os.kill(watcher, number)
        time.sleep(0.2)
        assert watcher_of(process.pid) == watcher
        process.communicate("\n", timeout=SECONDS)
        assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT, signal.SIGKILL, signal.SIGSTOP])
def test_a_process_whose_watcher_is_ended_or_stopped_goes_on_alone(tmp_path, number):
    with living(tmp_path, "print('ready', flush=True); sys.stdin.readline()") as (process, _):
        os.kill(watcher_of(process.pid), number)
        until(lambda: watcher_of(process.pid) == 0)
        process.communicate("\n", timeout=SECONDS)
        assert process.returncode == 0


def test_a_stopped_process_stops_and_goes_on(tmp_path):
    with living(tmp_path, "print('ready', flush=True); sys.stdin.readline()") as (process, _):
        os.kill(process.pid, signal.SIGSTOP)
        assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
        os.kill(process.pid, signal.SIGCONT)
        assert os.WIFCONTINUED(os.waitpid(process.pid, os.WCONTINUED)[1])
        process.communicate("\n", timeout=SECONDS)
        assert process.returncode == 0


def test_the_process_gets_no_child_and_no_descriptor():
    source = IMPORTS + (
        "import sigwhy\nbefore = os.listdir('/proc/self/fd')\nsignals = [signal.getsignal(n) for n in range(1, 32)]\n"
        "sigwhy.enable(wait=20)\n"
        "assert os.listdir('/proc/self/fd') == before\n"
        "assert [signal.getsignal(n) for n in range(1, 32)] == signals\n"
        "try: os.wait()\nexcept ChildProcessError: print('no child')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.stdout.strip() == "no child", done.stderr


def test_closed_standard_streams_are_no_hindrance(tmp_path):
    source = IMPORTS + (
        "import sigwhy\nfor number in (0, 1, 2): os.close(number)\n"
        f"sigwhy.enable(incidents={str(tmp_path)!r}, wait=20)\nos.abort()"
    )
    assert fate(source).returncode == -signal.SIGABRT
    assert kept(tmp_path)[0]["signal"]["name"] == "SIGABRT"


def test_the_watcher_has_nothing_of_the_process_and_ends_with_it(tmp_path):
    with living(tmp_path, "print('ready', flush=True); sys.stdin.readline()") as (process, _):
        watcher = watcher_of(process.pid)
        files = {str(path.readlink()) for path in Path(f"/proc/{watcher}/fd").iterdir()}
        assert {
            name for name in files if name.startswith(("pipe:", "socket:", "/dev/pts"))
        } == set()
        assert os.getsid(watcher) != os.getsid(process.pid)
        process.communicate("\n", timeout=SECONDS)
        until(lambda: status(watcher, "State") in (None, "Z"))
    assert watched.incidents(tmp_path) == []


def test_children_are_followed_on_request_only(tmp_path):
    source = "child = subprocess.Popen(['sleep', '20'])\nprint(child.pid, flush=True); sys.stdin.readline()"
    with living(tmp_path, source) as (_, child):
        assert watcher_of(child) == 0


def test_a_child_that_is_followed_is_seen_when_it_dies(tmp_path):
    source = IMPORTS + (
        f"import sigwhy\nsigwhy.enable(incidents={str(tmp_path)!r}, follow=True, wait=20)\n"
        "pid = os.fork()\n"
        "if not pid: ctypes.string_at(0)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), pid)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    status, child = done.stdout.split()
    assert int(status) == -signal.SIGSEGV
    assert kept(tmp_path)[0]["pid"] == int(child)


def test_it_begins_at_once():
    source = (
        "import time, sigwhy\nsigwhy.enable()\n"  # the second time is that of a program which runs
        "import sigwhy.inside as inside\ninside._watched.clear()\ninside._status = lambda: {}\n"
        "before = time.process_time(); sigwhy.enable(); print(time.process_time() - before)"
    )
    seconds = [
        float(
            subprocess.run(
                [sys.executable, "-c", source],
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=True,
            ).stdout
        )
        for _ in range(3)
    ]
    assert min(seconds) < 0.005


def test_under_sigwhy_run_it_has_nothing_to_do(tmp_path):
    asks = [sys.executable, "-c", "import sigwhy; print(sigwhy.enable())"]
    done = subprocess.run(
        [*watched.sigwhy("--incidents", str(tmp_path), "--"), *asks],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.stdout.strip() == "watched"


def test_where_ptrace_is_refused_the_python_lines_are_kept(tmp_path):
    source = (
        IMPORTS
        + FILTER
        + (
            f"forbid({PTRACE}, 0x50001)\n"
            f"import sigwhy\nprint(sigwhy.enable(incidents={str(tmp_path)!r}))\ntime.sleep(2)\n"
            "def risky(): ctypes.string_at(0)\nrisky()\n"
        )
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, timeout=SECONDS, check=False
    )
    assert done.returncode == -signal.SIGSEGV
    (incident,) = kept(tmp_path)
    assert "risky" in incident["stderr"]
    assert any("ptrace is refused" in blind for blind in incident["blind"])
    until(lambda: not list(tmp_path.glob(".sigwhy-*")))


def test_who_dies_before_the_watcher_comes_leaves_his_python_lines(tmp_path):
    begin = f"import sigwhy\nsigwhy.enable(incidents={str(tmp_path)!r})\n"
    source = FILTER + f"forbid({PTRACE}, 0x50001)\n" + begin + "os.abort()"
    assert fate(source).returncode == -signal.SIGABRT
    assert "Fatal Python error" in kept(tmp_path)[0]["stderr"]


def test_an_old_python_is_watched_by_a_new_one(tmp_path):
    old = next((str(path) for path in Path.home().glob(".pyenv/versions/3.8*/bin/python")), None)
    if old is None:
        pytest.skip("no Python 3.8 here")
    source = (
        "import importlib.util, ctypes, os\n"
        f"spec = importlib.util.spec_from_file_location('inside', {inside.__file__!r})\n"
        "inside = importlib.util.module_from_spec(spec); spec.loader.exec_module(inside)\n"
        f"print(inside.enable(incidents={str(tmp_path)!r}, python={sys.executable!r}, wait=20))\n"
        "ctypes.string_at(0)\n"
    )
    done = subprocess.run(
        [old, "-c", source],
        capture_output=True,
        timeout=SECONDS,
        check=False,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert done.returncode == -signal.SIGSEGV, done.stderr
    (incident,) = kept(tmp_path)
    assert incident["python_version"].startswith("3.8")
    assert json.dumps(incident)


def test_it_is_public():
    assert sigwhy.enable is inside.enable
