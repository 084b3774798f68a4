"""Deaths that nobody watched."""

import json
import os
import resource
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(sys.platform != "linux", reason="sigwhy last works on Linux"),
]
CRASH = "import ctypes; ctypes.string_at(8)"


def _last(tmp_path, *options):
    return subprocess.run(
        [sys.executable, "-m", "sigwhy", "last", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def _with_core():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def test_a_core_in_this_folder_is_found_and_explained(tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-c", CRASH],
        cwd=tmp_path,
        preexec_fn=_with_core,  # noqa: PLW1509 -- only a limit is set
    )
    child.wait(30)
    if not list(tmp_path.glob("core*")):
        pytest.skip("the kernel keeps no cores in the folder of the process")
    told = tmp_path / "told.json"
    done = _last(tmp_path, "--pid", str(child.pid), "--json", str(told))
    assert done.returncode == 0
    assert json.loads(told.read_text())["verdict"]["mechanism"] == "null-pointer"
    assert f"process {child.pid}, by" in done.stderr


def test_a_death_that_left_nothing_says_where_was_looked(tmp_path):
    done = _last(tmp_path, "--command", "no-such-program-here")
    assert done.returncode == 3
    assert "Looked at" in done.stderr
    assert "sigwhy run -- COMMAND" in done.stderr
    assert done.stdout == ""


def test_nothing_known_is_json_too(tmp_path):
    done = _last(tmp_path, "--command", "no-such-program-here", "--json", "-")
    assert json.loads(done.stdout)["verdict"] is None
    assert done.returncode == 3


def test_an_incident_in_this_folder_is_found(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "sigwhy", "run", "--quiet", "--", sys.executable, "-c", CRASH],
        cwd=tmp_path,
        timeout=60,
        check=False,
        env={**os.environ},
    )
    told = json.loads(_last(tmp_path, "--json", "-").stdout)
    assert told["verdict"]["mechanism"] == "null-pointer"


@pytest.mark.parametrize(
    "options",
    [("--pid", "x"), ("--pid", "-1"), ("--since", "4y"), ("--since", "0"), ("--exit", "999")],
)
def test_what_cannot_be_asked_is_one_line(tmp_path, options):
    done = _last(tmp_path, *options)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
