"""Attaching says what a process waits for, and leaves it as it was."""

import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from sigwhy.model.error import UsageError

if sys.platform != "linux":
    pytest.skip("ptrace is of Linux", allow_module_level=True)

import sigwhy
from sigwhy.cli.attach import number
from sigwhy.explain import judge
from sigwhy.model.case import Gathered
from sigwhy.run import ptrace
from sigwhy.run.attach import Attaching
from tests.live import programs_that_hang as programs

pytestmark = pytest.mark.live
SECONDS = 30


@contextmanager
def running(source, **options):
    """A program that has said its first line, in a session of its own that ends with the test."""
    process = subprocess.Popen(
        [sys.executable, "-c", source],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )
    try:
        yield process, process.stdout.readline().strip()
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=SECONDS)


def seen(pid):
    with Attaching() as attaching:
        return attaching.see(pid)


def lines_of(found):
    report = judge(Gathered(()), found.incident)
    return [line for evidence in report.case.evidence for line in evidence.lines]


def until(told, seconds=SECONDS):
    end = time.monotonic() + seconds
    while not told():
        assert time.monotonic() < end
        time.sleep(0.01)


def state(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_two_locks_taken_in_opposite_order_are_a_deadlock_of_its_own():
    with running(programs.TWO_LOCKS) as (process, _):
        found = seen(process.pid)
    report = judge(Gathered(()), found.incident)
    assert report.seen.mechanism.id == "deadlock"
    assert report.verdict.cause.id == "deadlock-own"
    assert len(found.incident.threads) == 3
    assert found.held_seconds < 0.7


def test_a_child_that_waits_for_a_lock_of_its_parent_was_forked_at_a_line():
    with running(programs.FORKED_LOCK) as (_, child):
        until(lambda: Path(f"/proc/{child}/wchan").read_text().startswith("futex"))
        report = judge(Gathered(()), seen(int(child)).incident)
    assert report.verdict.cause.id == "fork-unsafe"
    assert report.culprit.function == "launch"


def test_a_lock_names_the_thread_that_holds_it_and_is_not_there():
    with running(programs.FORKED_MUTEX) as (_, child):
        until(lambda: Path(f"/proc/{child}/wchan").read_text().startswith("futex"))
        report = judge(Gathered(()), seen(int(child)).incident)
    assert report.verdict.cause.id == "fork-unsafe"
    assert any(
        "no such thread is in this process" in line
        for e in report.case.evidence
        for line in e.lines
    )


def test_a_native_thread_that_sleeps_does_not_hide_a_deadlock():
    with running(programs.BESIDE_A_SLEEPER) as (process, _):
        report = judge(Gathered(()), seen(process.pid).incident)
    assert report.verdict.cause.id == "deadlock-own"


def test_a_process_goes_on_with_all_its_threads():
    with running(programs.COUNTING) as (process, _):
        for _ in range(3):
            found = seen(process.pid)
            assert len(found.incident.threads) == 4
        process.stdin.write("\n")
        process.stdin.flush()
        before = [int(word) for word in process.stdout.readline().split()]
        time.sleep(0.2)
        process.stdin.write("\n")
        process.stdin.flush()
        after = [int(word) for word in process.stdout.readline().split()]
        assert all(then < now for then, now in zip(before, after, strict=True))
        told = Path(f"/proc/{process.pid}/status").read_text()
        assert "TracerPid:\t0" in told


def test_a_stopped_process_stays_stopped():
    with running(programs.COUNTING) as (process, _):
        os.kill(process.pid, signal.SIGSTOP)
        until(lambda: state(process.pid) == "T")
        assert len(seen(process.pid).incident.threads) == 4
        until(lambda: state(process.pid) == "T", 5)
        os.kill(process.pid, signal.SIGCONT)
        until(lambda: state(process.pid) != "T", 5)


def test_a_signal_that_comes_while_it_is_held_is_not_lost():
    source = programs.IMPORTS + (
        "signal.signal(signal.SIGUSR1, lambda *_: print('heard', flush=True))\n"
        "print('ready', flush=True)\n"
        "while True: time.sleep(0.01)\n"
    )
    with running(source) as (process, _):
        sender = subprocess.Popen(
            [
                sys.executable,
                "-c",
                f"import os,time\nfor n in range(100): os.kill({process.pid}, 10); time.sleep(0.01)",
            ]
        )
        seen(process.pid)
        sender.wait(SECONDS)
        time.sleep(0.05)
        heard = os.read(process.stdout.fileno(), 1 << 16).decode().split()
        assert len(heard) > 50  # two that come at once may be one, as without sigwhy


def test_a_process_that_waits_for_its_user_is_not_a_deadlock():
    with running(programs.IMPORTS + "print('ready', flush=True); sys.stdin.read()") as (process, _):
        found = seen(process.pid)
    report = judge(Gathered(()), found.incident)
    assert report.verdict is None
    assert any("waits for input" in line for e in report.case.evidence for line in e.lines)


@pytest.mark.parametrize(
    ("pid", "says"),
    [(1 << 22, "there is no process"), (os.getpid(), "sigwhy itself")],
    ids=["nobody", "ourselves"],
)
def test_what_cannot_be_looked_at_is_refused_in_one_line(pid, says):
    with pytest.raises(UsageError, match=says) as refused:
        seen(pid)
    assert "\n" not in str(refused.value)


def test_a_thread_of_the_kernel_is_refused():
    kernel = next(
        (
            int(path.name)
            for path in Path("/proc").iterdir()
            if path.name.isdecimal()
            and int(path.joinpath("stat").read_text().split()[-44]) & 0x200000
        ),
        None,
    )
    if kernel is None:
        pytest.skip("none is seen from inside this container")
    with pytest.raises(UsageError, match="thread of the kernel"):
        seen(kernel)


def test_a_process_that_is_watched_already_is_refused():
    with running(programs.COUNTING) as (process, _):
        ptrace.seize(process.pid, 0)
        try:
            with pytest.raises(UsageError, match="one watcher"):
                seen(process.pid)
        finally:
            ptrace.interrupt(process.pid)
            os.waitpid(process.pid, ptrace.ALL_THREADS)
            ptrace.let_go(process.pid)


def test_a_zombie_is_refused_with_its_parent_named():
    source = (
        programs.IMPORTS
        + "pid = os.fork()\nif not pid: os._exit(0)\nprint(pid, flush=True); sys.stdin.read()"
    )
    with running(source) as (process, child):
        until(lambda: state(child) == "Z")
        with pytest.raises(UsageError, match=f"attach to {process.pid}"):
            seen(int(child))


@pytest.mark.parametrize("word", ["x", "-1", "0", "", "1.5", "99999999999"])
def test_what_is_no_number_is_no_process(word):
    with pytest.raises(UsageError, match="no process id"):
        number(word)


def test_attaching_is_public(tmp_path):
    with running(programs.TWO_LOCKS) as (process, _):
        report = sigwhy.attach(process.pid, incidents=tmp_path)
    assert report.verdict.cause.id == "deadlock-own"
    (path,) = tmp_path.glob("*.sigwhy")
    assert sigwhy.explain(path).verdict.cause.id == "deadlock-own"


def test_who_waits_for_a_child_that_hangs_is_told_of_the_child():
    with running(programs.FORKED_LOCK) as (process, child):
        until(lambda: Path(f"/proc/{child}/wchan").read_text().startswith("futex"))
        report = sigwhy.attach(process.pid)
    assert report.verdict.cause.id == "fork-unsafe"
    assert report.incidents[0].pid == int(child)


def test_a_process_on_a_terminal_keeps_it():
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", "print(input('? ').upper())"])  # noqa: S606 -- it is our own Python
    try:
        assert b"?" in os.read(terminal, 99)
        assert any("waits for input" in line for line in lines_of(seen(pid)))
        os.write(terminal, b"yes\n")
        said = b""
        while b"YES" not in said:
            said += os.read(terminal, 99)
    finally:
        os.close(terminal)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.mark.skipif(os.getuid() != 0, reason="needs root")
def test_a_process_of_another_user_is_refused():
    with running(programs.TWO_LOCKS) as (process, _):
        asker = os.fork()
        if asker == 0:
            os.setgid(65534)
            os.setuid(65534)
            try:
                seen(process.pid)
            except UsageError as error:
                os._exit(17 if f"sudo sigwhy attach {process.pid}" in str(error) else 18)
            finally:
                os._exit(19)
        assert os.waitstatus_to_exitcode(os.waitpid(asker, 0)[1]) == 17


def test_a_folder_that_cannot_be_written_leaves_the_verdict(tmp_path):
    with running(programs.TWO_LOCKS) as (process, _):
        report = sigwhy.attach(process.pid, incidents="/proc/nowhere")
    assert report.verdict.cause.id == "deadlock-own"
    assert any("could not be kept" in note for note in report.notes)


def test_the_command_keeps_an_incident_and_writes_json(tmp_path):
    with running(programs.TWO_LOCKS) as (process, _):
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "sigwhy",
                "attach",
                str(process.pid),
                "--incidents",
                str(tmp_path),
                "--json",
                "-",
            ],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert process.poll() is None
    assert done.returncode == 0, done.stderr
    assert '"deadlock-own"' in done.stdout
    assert len(list(tmp_path.glob("*.sigwhy"))) == 1
