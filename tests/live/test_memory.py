"""Real processes that run out of memory, or are killed for another reason, under watch."""

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(sys.platform != "linux", reason="sigwhy run works on Linux"),
]
VERSION_1 = Path("/sys/fs/cgroup/memory")
LIMIT = 160 << 20
ENTER = """
import os, sys
open(sys.argv[1] + "/cgroup.procs", "w").write(str(os.getpid()))
"""
LEAK = """
import time
def step():
    kept.append(b"x" * (3 << 20))
    time.sleep(0.02)
kept = []
while True:
    step()
"""
LEAP = """
import time
time.sleep(0.3)
whole = b"x" * (1 << 30)
"""


@pytest.fixture
def group():
    """A control group with a limit, where this user may make one."""
    place = VERSION_1 / f"sigwhy_test_{os.getpid()}"
    try:
        place.mkdir()
        (place / "memory.limit_in_bytes").write_text(str(LIMIT))
    except OSError:
        pytest.skip("needs a memory control group of version 1 that may be written")
    yield place
    for _ in range(50):
        try:
            place.rmdir()
            break
        except OSError:  # the last process is not quite gone
            time.sleep(0.05)


def _run(tmp_path, code, *arguments, options=()):
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(code))
    told = tmp_path / "told.json"
    command = [sys.executable, "-m", "sigwhy", "run", "--json", str(told), *options]
    done = subprocess.run(
        [*command, "--", sys.executable, str(script), *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done, json.loads(told.read_text()) if told.exists() else None


def test_a_leak_is_told_from_its_growth(tmp_path, group):
    done, told = _run(tmp_path, ENTER + LEAK, str(group))
    assert done.returncode == -9
    assert told["verdict"]["mechanism"] == "out-of-memory"
    assert told["verdict"]["cause"] == "memory-leak"
    assert "oom_kill went from 0 to 1" in done.stderr


def test_one_big_step_is_told_from_a_leak(tmp_path, group):
    done, told = _run(tmp_path, ENTER + LEAP, str(group))
    assert done.returncode == -9
    assert (told["verdict"]["mechanism"], told["verdict"]["cause"]) == (
        "out-of-memory",
        "memory-demand",
    )


def test_a_worker_that_is_killed_for_memory_is_the_story_though_its_parent_lives_on(
    tmp_path, group
):
    code = f"""
    import os, sys
    child = os.fork()
    if child == 0:
        sys.argv[1:] = [{str(group)!r}]
        exec({ENTER + LEAP!r})
    os.waitpid(child, 0)
    sys.exit(3)
    """
    done, told = _run(tmp_path, code)
    assert done.returncode == 3
    assert told["verdict"]["mechanism"] == "out-of-memory"
    assert told["death"]["signal"] == "SIGKILL"


def test_a_kill_without_need_of_memory_is_no_lack_of_memory(tmp_path):
    code = """
    import os, signal, subprocess, sys, time
    subprocess.Popen(["sh", "-c", f"sleep 0.2; kill -9 {os.getpid()}"])
    time.sleep(10)
    """
    done, told = _run(tmp_path, code)
    assert done.returncode == -9
    if "its count (oom_kill)" in done.stderr:  # nobody else was killed for memory meanwhile
        assert (told["verdict"]["mechanism"], told["verdict"]["cause"]) == (
            "killed",
            "external-kill",
        )


def test_a_program_that_ends_well_is_not_spoken_of(tmp_path):
    done, told = _run(tmp_path, "print('done')")
    assert (done.returncode, done.stdout, done.stderr, told) == (0, "done\n", "", None)


def test_a_file_that_is_cut_while_it_is_mapped_is_named(tmp_path):
    code = """
    import mmap, os
    with open("shard.bin", "wb") as out:
        out.write(bytes(1 << 20))
    held = mmap.mmap(os.open("shard.bin", os.O_RDONLY), 0, prot=mmap.PROT_READ)
    os.truncate("shard.bin", 4096)
    os.unlink("shard.bin")
    held[1 << 19]
    """
    done, told = _run(tmp_path, code)
    assert done.returncode == -7
    assert (told["verdict"]["mechanism"], told["verdict"]["cause"]) == (
        "bus-error",
        "file-truncated",
    )
    assert "shard.bin" in told["verdict"]["culprit"]["file"]


def test_a_limit_of_processor_time_is_named(tmp_path):
    code = """
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, (1, 5))
    while True:
        pass
    """
    done, told = _run(tmp_path, code)
    assert done.returncode == -24
    assert told["verdict"]["cause"] == "os-limit"


def test_a_limit_of_address_space_is_named(tmp_path):
    code = """
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))
    import time
    time.sleep(0.6)
    whole = b"x" * (1 << 30)
    """
    done, told = _run(tmp_path, code)
    assert done.returncode == 1
    assert told["verdict"]["cause"] in {"os-limit", "memory-demand"}
