"""The small core of an Incident, in the hands of other debuggers."""

import shutil
import subprocess
import sys
import textwrap

import pytest

from sigwhy.autopsy.incident_file import core_of
from tests.live.watched import PYTHON, SECONDS, watched

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(sys.platform != "linux", reason="sigwhy run works on Linux"),
]
DIES = textwrap.dedent("""
    import ctypes, threading, time
    def waits():
        time.sleep(60)
    def deeper(n):
        return deeper(n - 1) if n else ctypes.string_at(0)
    threading.Thread(target=waits, daemon=True).start()
    time.sleep(0.2)
    deeper(3)
""")


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    (folder / "dies.py").write_text(DIES, encoding="utf-8")
    watched(folder, PYTHON, folder / "dies.py")
    with core_of(next(folder.glob("[!.]*.sigwhy"))) as place:
        yield place


def said(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    return done.stdout


def test_pystack_reads_the_calls_of_all_threads(core):
    told = said(PYTHON, "-m", "pystack", "core", core, PYTHON)
    assert told.count("in deeper") == 4
    assert "in waits" in told
    assert "time.sleep(60)" in told


def test_gdb_stands_at_the_fault(core):
    if not shutil.which("gdb"):
        pytest.skip("no gdb here")
    words = ("-ex", "bt 40", "-ex", "info threads")
    told = said("gdb", "-batch", "-nx", *words, PYTHON, str(core))
    assert "signal SIGSEGV" in told
    assert "PyEval" in told
    assert told.count("LWP") >= 2
