"""Checks of a machine, on machines that are folders; and of this one."""

import re
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sigwhy.checks import checks, looked
from sigwhy.machine.elf import DYNAMIC_SEGMENT, HEADER, LOAD, PROGRAM, SHARED, X86_64
from sigwhy.model.around import Around
from sigwhy.subjects.host import AT_PAGE_SIZE, Host
from sigwhy.subjects.python_environment import PythonEnvironment

FOLDER = Path(__file__).parent / "checks"
EXAMPLES = sorted(FOLDER.glob("host_*/*.txt"))
FILE = re.compile(r"^=== (/\S+)\n(.*?)(?=^=== |\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^([a-z ]+): (.+)$", re.MULTILINE)
every_example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: f"{p.parent.name}/{p.stem}")
linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")


def elf(alignment):
    """The head of a library with one part."""
    head = HEADER.pack(
        b"\x7fELF\x02\x01\x01" + bytes(9), SHARED, X86_64, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0
    )
    part = PROGRAM.pack(LOAD, 5, 0, 0, 0, 176, 176, alignment)
    return head + part + PROGRAM.pack(DYNAMIC_SEGMENT, 4, 0, 0, 0, 0, 0, 8)


def machine(path, root):
    """The machine of an example, built below a folder, and the problem that it has."""
    text = path.read_text(encoding="utf-8")
    rows = dict(ROW.findall(text.partition("===")[0]))
    for name, content in FILE.findall(text):
        file = root / name.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        if content.startswith("elf aligned to "):
            file.write_bytes(elf(int(content.split()[-1])))
        else:
            file.write_text(content)
    if "page size" in rows:
        auxv = root / "proc/self/auxv"
        auxv.parent.mkdir(parents=True, exist_ok=True)
        auxv.write_bytes(struct.pack("<QQQQ", AT_PAGE_SIZE, int(rows["page size"]), 0, 0))
    shared = tuple(int(n) for n in rows.get("shared memory", "").split()) or None
    env = PythonEnvironment.of(root / "env") if (root / "env").exists() else None
    return Host(root, env, int(rows.get("cpus", "2")), shared), rows.get("problem")


@every_example
def test_a_check_of_the_machine_finds_what_is_marked(path, tmp_path):
    host, problem = machine(path, tmp_path)
    found = [p.severity for p in checks()[path.parent.name].look(host)]
    assert found == ([problem] if problem else [])


@every_example
def test_no_other_check_of_the_machine_is_disturbed(path, tmp_path):
    host, _ = machine(path, tmp_path)
    found = looked(host, "host")
    assert not found.notes
    errors = {p.id for p in found.problems if p.severity == "error"}
    assert errors <= {path.parent.name.replace("_", "-")}


def test_a_machine_without_any_file_has_no_problem(tmp_path):
    found = looked(Host(tmp_path), "host")
    assert not found.problems
    assert not found.notes


@linux
def test_this_machine_is_looked_at_in_no_time():
    began = time.process_time()
    found = looked(Host.of(Around(own=sys.prefix)), "host")
    assert not found.notes
    assert time.process_time() - began < 0.5


# Calls that go through C: each takes some of the stack.
RECURSION = """
import sys
sys.setrecursionlimit(10**6)
def call(n): return sorted([n], key=lambda one: call(one - 1)) if n else 0
call(50_000)
"""


@linux
@pytest.mark.live
@pytest.mark.parametrize(
    ("limit", "value", "program", "status"),
    [
        # Each limit that a check warns of really ends a process.
        ("RLIMIT_STACK", 256 << 10, RECURSION, -11),
        ("RLIMIT_FSIZE", 4096, "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); open(__import__('sys').argv[1], 'wb').write(bytes(100000))", -25),
        ("RLIMIT_CPU", 1, "while True: pass", -24),
        ("RLIMIT_AS", 256 << 20, "bytearray(1 << 30)", 1),
        ("RLIMIT_NOFILE", 16, "[open('/dev/null') for _ in range(32)]", 1),
    ],
)  # fmt: skip
def test_a_limit_ends_a_process_as_the_check_says(limit, value, program, status, tmp_path):
    setting = (
        f"import resource, os, sys; resource.setrlimit(resource.{limit}, ({value}, {value + 5}))"
    )
    start = f"{setting}; os.execv(sys.executable, [sys.executable, '-c', *sys.argv[1:]])"
    done = subprocess.run(
        [sys.executable, "-c", start, program, str(tmp_path / "file")],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == status, done


SHARED_MEMORY = """
mount -t tmpfs -o size=1m tmpfs /dev/shm || exit 77
exec "$0" -c '
import mmap, os
f = os.open("/dev/shm/batch", os.O_RDWR | os.O_CREAT)
os.ftruncate(f, 8 << 20)
m = mmap.mmap(f, 8 << 20)
for n in range(0, 8 << 20, 4096): m[n] = 1
'
"""


@linux
@pytest.mark.live
def test_a_batch_that_does_not_fit_into_shared_memory_ends_in_sigbus():
    try:
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", SHARED_MEMORY, sys.executable],
            capture_output=True,
            timeout=60,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("no unshare here")
    if done.returncode in {1, 77}:
        pytest.skip("no right to mount here")
    assert done.returncode in {-7, 135}, done
