"""Whatever a program does to end, it ends as it would have without sigwhy, and the death is seen."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from tests.live.watched import PYTHON, fate, program, watched

pytestmark = pytest.mark.live

NULL = "import ctypes; ctypes.string_at(0)"
privileged = pytest.mark.skipif(os.getuid() != 0, reason="needs root")

# Each child meets one signal in one way and tells how it ended; the same words must come out.
EVERY_SIGNAL = """
import os, signal, sys, resource
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
for number in sorted(signal.valid_signals()):
    if number in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
        continue
    for way in sys.argv[1:]:
        child = os.fork()
        if child == 0:
            if number not in (signal.SIGKILL,):
                handler = {"ignored": signal.SIG_IGN, "caught": lambda n, f: os._exit(44)}
                signal.signal(number, handler.get(way, signal.SIG_DFL))
                if way == "blocked":
                    signal.pthread_sigmask(signal.SIG_BLOCK, {number})
            if way == "kill":
                os.kill(os.getpid(), number)
            else:
                signal.raise_signal(number)
            for _ in range(3):
                os.getpid()
            os._exit(33)
        print(number, way, os.waitpid(child, 0)[1])
"""


@pytest.mark.parametrize("way", ["raise", "kill", "blocked", "ignored", "caught"])
def test_every_signal_ends_a_child_as_it_would_have(way, tmp_path):
    command = (PYTHON, "-c", EVERY_SIGNAL, way)
    assert watched(tmp_path, *command)[0] == fate(*command)


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 24, 25, 31, 34])
def test_a_command_that_dies_of_a_signal_dies_of_the_same_for_us(number, tmp_path):
    command = ("sh", "-c", f"echo out; echo err >&2; kill -{number} $$")
    ended, _ = watched(tmp_path, *command)
    assert ended == fate(*command)
    assert ended.status == -number


@pytest.mark.parametrize(
    ("way", "name", "code"),
    [
        ("fault", "SIGSEGV", "SEGV_MAPERR"),
        ("fault-blocked", "SIGSEGV", "SEGV_MAPERR"),
        ("fault-ignored", "SIGSEGV", "SEGV_MAPERR"),
        ("abort", "SIGABRT", "SI_TKILL"),
        ("overflow", "SIGSEGV", "SEGV_MAPERR"),
        ("thread-overflow", "SIGSEGV", "SEGV_ACCERR"),
        ("at-once", "SIGSEGV", "SEGV_MAPERR"),
        ("seccomp-trap", "SIGSYS", "SYS_SECCOMP"),
    ],
)
def test_a_death_is_seen_where_it_happens(way, name, code, tmp_path):
    command = (program(), way)
    ended, found = watched(tmp_path, *command)
    assert ended == fate(*command)
    assert len(found) == 1
    assert (found[0]["signal"]["name"], found[0]["signal"]["code"]) == (name, code)
    crashed = next(thread for thread in found[0]["threads"] if thread.get("crashed"))
    assert crashed["registers"]["rip"]


def test_a_thread_that_dies_beside_seven_others_is_reported_with_all_threads(tmp_path):
    _, found = watched(tmp_path, program(), "at-once")
    assert len(found[0]["threads"]) == 9


def test_a_death_that_cannot_be_stopped_at_is_passed_on(tmp_path):
    command = (program(), "seccomp-kill")
    assert watched(tmp_path, *command)[0] == fate(*command)
    assert fate(*command).status == -signal.SIGSYS


@pytest.mark.parametrize("status", ["0", "1"])
def test_a_program_that_recovers_from_faults_has_nothing_to_explain(status, tmp_path):
    command = (program(), "recover", status)
    ended, found = watched(tmp_path, *command)
    assert ended == fate(*command)
    assert ended.status == int(status)
    assert not found


def test_a_raise_that_is_ignored_is_no_death(tmp_path):
    ended, found = watched(tmp_path, program(), "raise-ignored")
    assert (ended.status, found) == (5, [])


@pytest.mark.parametrize("way", ["leave", "leave-reentrant"])
def test_a_handler_that_ends_the_process_hides_no_death(way, tmp_path):
    command = (program(), way)
    ended, found = watched(tmp_path, *command)
    assert ended == fate(*command)
    assert (found[0]["signal"]["name"], found[0]["masked"]) == ("SIGSEGV", True)
    assert found[0]["signal"]["address"] == 0x10


@pytest.mark.parametrize("options", [(), ("-X", "faulthandler")])
def test_with_faulthandler_the_first_fault_counts(options, tmp_path):
    command = (PYTHON, *options, "-c", NULL)
    ended, found = watched(tmp_path, *command)
    assert ended.status == -signal.SIGSEGV
    assert found[0]["signal"]["code"] == "SEGV_MAPERR"
    assert found[0]["signal"].get("address", 0) == 0


def test_who_sent_a_signal_stands_in_the_record(tmp_path):
    killer = "import os, signal, sys; os.kill(os.getppid(), signal.SIGBUS)"
    dying = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {killer!r}])"
    ended, found = watched(tmp_path, PYTHON, "-c", dying)
    assert ended.status == -signal.SIGBUS
    assert found[0]["signal"]["code"] == "SI_USER"
    assert found[0]["signal"]["sender_name"].startswith("python")


CHILDREN = {
    "fork": "import os; p = os.fork() or ctypes.string_at(0); print(os.waitpid(p, 0)[1])",
    "spawn": "import multiprocessing as m; p = m.get_context('spawn').Process(target=ctypes.string_at, args=(0,)); p.start(); p.join(); print(p.exitcode)",
    "forkserver": "import multiprocessing as m; p = m.get_context('forkserver').Process(target=ctypes.string_at, args=(0,)); p.start(); p.join(); print(p.exitcode)",
    "pool": textwrap.dedent("""
        import concurrent.futures as c
        with c.ProcessPoolExecutor(1) as pool:
            try:
                pool.submit(ctypes.string_at, 0).result()
            except c.process.BrokenProcessPool as error:
                print(error)
    """),
    "shell": "import subprocess as s; print(s.run(['sh', '-c', 'kill -SEGV $$; echo no'], capture_output=True))",
}


@pytest.mark.parametrize("way", CHILDREN)
def test_a_child_that_dies_is_seen_while_the_parent_lives_on(way, tmp_path):
    script = tmp_path / "parent.py"
    body = textwrap.indent(CHILDREN[way], "    ")
    script.write_text(f"import ctypes\nif __name__ == '__main__':\n{body}\n", encoding="utf-8")
    command = (PYTHON, script)
    ended, found = watched(tmp_path, *command)
    assert ended == fate(*command)
    assert ended.status == 0
    assert [incident["signal"]["name"] for incident in found] == ["SIGSEGV"]


@pytest.mark.parametrize("flags", [(), ("-static",)])
@pytest.mark.parametrize("way", ["exec-from-thread", "vfork", "fault"])
def test_c_programs_are_seen_however_they_are_linked(flags, way, tmp_path):
    command = (program("fates", *flags), way)
    ended, found = watched(tmp_path, "sh", "-c", f"{command[0]} {way}; exit $?")
    bare = fate("sh", "-c", f"{command[0]} {way}; exit $?")
    assert ended.status == bare.status
    assert [incident["signal"]["name"] for incident in found] == ["SIGSEGV"]


@pytest.mark.parametrize("options", [("-I",), ("-E",), ("-S",)])
def test_python_that_reads_no_environment_is_seen(options, tmp_path):
    ended, found = watched(tmp_path, PYTHON, *options, "-c", NULL)
    assert ended.status == -signal.SIGSEGV
    assert len(found) == 1


def test_a_program_without_environment_is_seen_and_gets_none(tmp_path):
    ended, _ = watched(tmp_path, "env", "-i", "env")
    assert ended == (0, b"", b"")
    ended, found = watched(tmp_path, "env", "-i", PYTHON, "-c", NULL)
    assert ended.status == -signal.SIGSEGV
    assert len(found) == 1


@privileged
def test_a_program_that_gives_up_its_rights_is_seen(tmp_path):
    command = (PYTHON, "-c", f"import ctypes, os; os.setgid(65534); os.setuid(65534); {NULL}")
    ended, found = watched(tmp_path, *command)
    assert ended.status == -signal.SIGSEGV
    assert len(found) == 1


def test_a_process_that_may_not_be_dumped_is_seen(tmp_path):
    command = (program(), "undumpable")
    ended, found = watched(tmp_path, *command)
    assert ended == fate(*command)
    assert [incident["signal"]["name"] for incident in found] == ["SIGSEGV"]


@privileged
@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv")
def test_a_process_that_may_not_be_dumped_is_no_trouble_without_rights(request):
    place = tempfile.TemporaryDirectory(prefix="sigwhy-open-")
    request.addfinalizer(place.cleanup)
    tmp_path = Path(place.name)
    tmp_path.chmod(0o777)
    target = shutil.copy(program(), tmp_path / "fates")
    user = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
    bare = fate(*user, target, "undumpable")
    ended = fate(
        *user, PYTHON, "-m", "sigwhy", "run", "--quiet", "--incidents", tmp_path, "--", target, "undumpable"
    )  # fmt: skip
    assert ended == bare
    assert bare.status == -signal.SIGSEGV


@privileged
@pytest.mark.skipif(not shutil.which("unshare"), reason="needs unshare")
def test_the_first_process_of_a_namespace_dies_of_its_fault(tmp_path):
    command = ("unshare", "--pid", "--fork", PYTHON, "-c", NULL)
    if fate("unshare", "--pid", "--fork", "true").status:
        pytest.skip("no new namespaces here")
    ended, found = watched(tmp_path, *command)
    assert ended.status == fate(*command).status
    assert found[0]["command"][0] == PYTHON  # unshare ends itself in the same way, after it
    command = ("unshare", "--pid", "--fork", "sh", "-c", "kill -SEGV $$; exit 4")
    assert watched(tmp_path, *command)[0] == fate(*command)


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_strace_inside_works_as_before(tmp_path):
    command = ("strace", "-f", "-e", "trace=none", "sh", "-c", "kill -SEGV $$")
    quiet, _ = watched(tmp_path, *command)
    assert quiet.status == fate(*command).status
    assert b"SIGSEGV" in quiet.err
    loud = fate(PYTHON, "-m", "sigwhy", "run", "--", "strace", "-o", "/dev/null", "true")
    assert loud.status == 0
    assert b"strace ran inside" in loud.err


@pytest.mark.skipif(not shutil.which("gdb"), reason="needs gdb")
def test_gdb_may_look_at_a_process_of_ours(tmp_path):
    script = textwrap.dedent("""
        import os, subprocess
        done = subprocess.run(["gdb", "-nx", "-batch", "-p", str(os.getpid()), "-ex", "info threads"], capture_output=True, text=True)
        print(done.returncode, "Thread" in done.stdout or "process" in done.stdout, "not permitted" in done.stderr)
    """)
    ended, _ = watched(tmp_path, PYTHON, "-c", script)
    assert (ended.status, ended.out) == (0, b"0 True False\n")


def test_a_program_sees_that_it_is_traced_and_nothing_else():
    # What cannot be hidden: docs/run.md says so.
    assert fate(program(), "tracer").out == b"0\n"


def test_ten_thousand_short_children_leave_nothing_behind(tmp_path):
    script = "i=0; while [ $i -lt 10000 ]; do (:); i=$((i+1)); done; echo done"
    ended, found = watched(tmp_path, "sh", "-c", script)
    assert (ended, found) == ((0, b"done\n", b""), [])


def test_descendants_live_on_when_the_command_has_ended(tmp_path):
    told = tmp_path / "told"
    script = f"(sleep 0.6; sh -c 'echo alive'; echo on) > {told} 2>&1 &"
    ended, _ = watched(tmp_path, "sh", "-c", script)
    assert ended.status == 0
    assert not told.read_text(encoding="utf-8")
    waiting = (
        f"import sys,time\nwhile open({str(told)!r}).read() != 'alive\\non\\n': time.sleep(0.02)"
    )
    subprocess.run([sys.executable, "-c", waiting], timeout=20, check=True)
