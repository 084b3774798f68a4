"""The command as its user meets it: a child with a time limit, judged by status, output and errors."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT_ONLY = pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only root can become somebody else"
)
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices with POSIX names")
CRASH = "$ python -c 'import fastlib'\nIllegal instruction (core dumped)\n"
BARE = "Segmentation fault (core dumped)\n"
NOBODY = 65534


def sigwhy(*args, stdin="", env=None, cwd=None, user=None):
    command = [sys.executable, "-m", "sigwhy", *map(str, args)]
    world = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    return subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        env=world | (env or {}),
        cwd=cwd,
        check=False,
        user=user,
    )


def complaint(done):
    """The one line of a command that was used wrongly."""
    assert done.returncode == 2, done
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("sigwhy: ")
    return lines[0]


@pytest.fixture
def crash(tmp_path):
    path = tmp_path / "crash.log"
    path.write_text(CRASH)
    return path


def test_a_verdict_ends_with_0_and_its_first_line_says_what_happened(crash):
    done = sigwhy("explain", crash)
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.startswith("sigwhy: python died of SIGILL")


def test_an_undecided_case_ends_with_3_and_says_what_to_do():
    done = sigwhy("explain", "-", stdin=BARE)
    assert done.returncode == 3
    assert "faulthandler" in done.stdout


def test_several_files_are_one_case(crash, tmp_path):
    other = tmp_path / "other.log"
    other.write_text("loss: 0.5\n")
    assert sigwhy("explain", other, crash).returncode == 0
    assert sigwhy("explain", tmp_path).returncode == 0
    assert sigwhy("explain", tmp_path / "*.log").returncode == 0


def test_json_on_standard_output_is_nothing_but_json(crash):
    for args in (["--json", "-"], ["--format", "json"]):
        done = sigwhy("explain", crash, *args)
        assert json.loads(done.stdout)["verdict"]["cause"] == "cpu-isa"


def test_json_goes_to_a_file_beside_the_report(crash, tmp_path):
    done = sigwhy("explain", crash, "--json", tmp_path / "r.json")
    assert done.stdout.startswith("sigwhy: ")
    assert json.loads((tmp_path / "r.json").read_text())["schema"] == 1


@pytest.mark.parametrize(
    ("name", "begins"), [("r.html", "<!doctype html>"), ("r.md", "**sigwhy"), ("r.txt", "sigwhy: ")]
)
def test_the_name_of_the_file_decides_the_form(crash, tmp_path, name, begins):
    done = sigwhy("explain", crash, "-o", tmp_path / name)
    assert done.stdout == ""
    assert (tmp_path / name).read_text().startswith(begins)


def test_a_file_is_written_whole_or_not_at_all(crash, tmp_path):
    target = tmp_path / "r.html"
    target.write_text("before")
    target.chmod(0o640)
    sigwhy("explain", crash, "-o", target)
    assert target.stat().st_mode & 0o777 == 0o640
    assert target.read_text().endswith("</html>\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["crash.log", "r.html"]


def test_a_folder_that_is_not_there_is_named(crash, tmp_path):
    line = complaint(sigwhy("explain", crash, "-o", tmp_path / "no" / "r.html"))
    assert str(tmp_path / "no") in line


def test_a_folder_is_no_file_to_write_to(crash, tmp_path):
    assert "is a folder" in complaint(sigwhy("explain", crash, "-o", tmp_path))


def test_a_missing_file_is_named():
    assert "/no/such.log does not exist" in complaint(sigwhy("explain", "/no/such.log"))


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ([], "name a command"),
        (["explian", "x"], "did you mean explain"),
        (["--frobnicate"], "unknown option or argument: --frobnicate"),
        (["explain"], "missing: FILE"),
        (["explain", "--jsn", "x", "y"], "unknown option or argument: --jsn"),
        (["explain", "x", "--format", "pdf"], "'html'"),
        (["explain", "x", "--json"], "expected one argument"),
        (["cause", "cpuisa"], "did you mean cpu-isa"),
        (["cause", "a", "b"], "unknown option or argument: b"),
        (["cause", "\x1b[31m"], "no cause is called"),
    ],
)
def test_wrong_use_is_one_line_that_says_what_to_do(args, says):
    line = complaint(sigwhy(*args))
    assert says in line
    assert "\x1b" not in line


def test_a_file_in_the_place_of_a_command_is_recognised(crash):
    assert f"sigwhy explain {crash}" in complaint(sigwhy(crash))


@ROOT_ONLY
def test_a_file_that_may_not_be_read_is_named(tmp_path_factory):
    folder = Path("/tmp") / f"sigwhy-test-{os.getpid()}"  # noqa: S108 -- nobody must get as far as here
    folder.mkdir()
    secret = folder / "crash.log"
    try:
        secret.write_text(CRASH)
        secret.chmod(0)
        script = (
            # All is loaded before: nobody may not be able to read our modules either.
            "import contextlib, io, os, sys; from sigwhy.cli import main\n"
            "with contextlib.redirect_stderr(io.StringIO()): main(['explain', '/no/such.log'])\n"
            "os.setuid(int(sys.argv[1])); sys.exit(main(['explain', sys.argv[2]]))"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(NOBODY), str(secret)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "may not be read" in complaint(done)
    finally:
        secret.unlink()
        folder.rmdir()


@POSIX
def test_a_pipe_or_device_does_not_hang(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert "pipe" in complaint(sigwhy("explain", fifo))
    assert "device" in complaint(sigwhy("explain", "/dev/zero"))


@POSIX
def test_a_reader_that_goes_away_is_no_error(crash):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "sigwhy", "cause"],
        stdout=write,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(write)
    assert done.stderr == b""
    assert done.returncode == 141


@POSIX
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("args", [["explain", "CRASH"], ["cause"], ["--version"]])
def test_a_full_disk_is_one_line(crash, args, unbuffered):
    args = [str(crash) if arg == "CRASH" else arg for arg in args]
    with open("/dev/full", "w") as full:  # noqa: PTH123 -- a device is opened, not a file
        done = subprocess.run(
            [sys.executable, "-m", "sigwhy", *args],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
    assert done.returncode == 2
    assert done.stderr == "sigwhy: cannot write: No space left on device\n"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_a_file_whose_reading_fails_is_one_line():
    assert "/proc/self/mem: this cannot be read" in complaint(sigwhy("explain", "/proc/self/mem"))


def test_an_empty_text_is_called_empty():
    done = sigwhy("explain", "-", stdin="\n \n")
    assert done.returncode == 3
    assert "The text is empty" in done.stdout
    assert "-X faulthandler" in done.stdout


@POSIX
def test_closed_streams_are_no_error(crash):
    for closed, status in ((">&-", 0), ("2>&-", 0), ("<&-", 0)):
        done = subprocess.run(
            ["sh", "-c", f'"$0" -m sigwhy explain "$1" {closed}', sys.executable, str(crash)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert done.returncode == status


def test_a_terminal_that_knows_only_ascii_gets_ascii(crash):
    done = sigwhy("explain", crash, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert done.stdout.isascii()


def test_colour_is_for_terminals_and_for_those_who_force_it(crash):
    assert "\x1b[" not in sigwhy("explain", crash).stdout
    assert "\x1b[" in sigwhy("explain", crash, env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[" not in sigwhy("explain", crash, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout


def test_colour_never_goes_into_a_file(crash, tmp_path):
    sigwhy("explain", crash, "-o", tmp_path / "r.txt", env={"FORCE_COLOR": "1"})
    assert "\x1b" not in (tmp_path / "r.txt").read_text()


def test_an_interrupt_is_quiet(tmp_path):
    script = (
        "import sigwhy.cli as cli; cli._run = lambda given: (_ for _ in ()).throw(KeyboardInterrupt);"
        "raise SystemExit(cli.main(['x']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.parametrize(("debug", "traceback"), [("", False), ("1", True)])
def test_our_own_mistake_is_one_line_unless_debugged(debug, traceback):
    script = (
        "import sigwhy.cli as cli; cli._run = lambda given: {}['gone'];"
        "raise SystemExit(cli.main(['x']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"SIGWHY_DEBUG": debug},
        check=False,
    )
    assert ("Traceback" in done.stderr) == traceback
    if not traceback:
        assert done.returncode == 70
        assert "KeyError: 'gone'" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_help_and_version_are_there():
    assert "sigwhy explain" in sigwhy("--help").stdout
    assert sigwhy("--version").stdout.startswith("sigwhy 0.")
    for command in ("explain", "cause", "demo"):
        done = sigwhy(command, "--help")
        assert done.returncode == 0
        assert len(done.stdout.splitlines()) > 5


def test_the_manual_lists_every_cause_and_shows_each():
    listed = sigwhy("cause", env={"COLUMNS": "200"}).stdout.splitlines()
    assert any(line.startswith("cpu-isa ") for line in listed)
    assert len(listed) > 30
    page = sigwhy("cause", "CPU_ISA").stdout
    assert page.startswith("cpu-isa\n")
    assert "What happens" in page


def test_two_at_once_do_not_meet_in_the_file(crash, tmp_path):
    target = tmp_path / "r.html"
    runs = [
        threading.Thread(target=sigwhy, args=("explain", crash, "-o", target)) for _ in range(4)
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert target.read_text().endswith("</html>\n")


@pytest.mark.live
def test_the_demo_dies_and_names_the_line_that_is_to_blame(tmp_path):
    page = tmp_path / "r.html"
    done = sigwhy("demo", "-o", page, env={"TMPDIR": str(tmp_path), "COLUMNS": "200"})
    assert done.returncode == 0, done
    assert "train.py died of SIGSEGV" in done.stdout
    whole = "".join(done.stdout.split())  # a long temporary path is broken over lines
    assert "train.py:11inmodel_path()" in whole
    assert str(page) in done.stdout
    assert "interpreter-abuse" in page.read_text()
