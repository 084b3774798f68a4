"""The names of a process that stands still, on every Python here, and in memory that is damaged."""

import shutil
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigwhy.autopsy import python_frames
from sigwhy.machine.memory import PAGE, Memory
from sigwhy.model.incident import Mapping, PythonFrame, Thread
from sigwhy.operations.variables import Variables
from sigwhy.run import proc
from sigwhy.run.held_memory import HeldMemory

PROGRAM = """\
import os, json
THING, more = {}, dict()
def inner(thing):
    alias = thing
    print(id(THING), id(more), id(only), id(json), flush=True)
    os.read(0, 1)
def outer():
    global only
    only = object()
    json.loads('1', parse_int=lambda text: inner(more))
outer()
"""
PYTHONS = [sys.executable, *(f"python3.{minor}" for minor in range(8, 15))]


def waiting(pid):
    """The stack pointer of a process that waits in the kernel."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        words = proc.text(f"/proc/{pid}/syscall").split()
        if len(words) == 9 and words[0] == "0":
            return int(words[-2], 16)
        time.sleep(0.01)
    raise TimeoutError


@pytest.mark.live
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read on Linux")
@pytest.mark.parametrize("python", PYTHONS, ids=lambda name: name.rpartition("/")[2])
def test_an_object_has_the_name_that_the_user_gave_it(python, tmp_path):
    found = shutil.which(python)
    if not found or subprocess.run([found, "-c", ""], check=False, capture_output=True).returncode:
        pytest.skip(f"{python} is not here")
    script = tmp_path / "names.py"
    script.write_text(PROGRAM)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([found, script], text=True, **pipes) as child:
        try:
            thing, more, only, module = map(int, child.stdout.readline().split())
            registers = {"rsp": waiting(child.pid)}
            frames = python_frames.interpreter(python_frames.of_process(child.pid)).frames
            thread = Thread(tid=child.pid, registers=registers, python=frames[child.pid])
            with HeldMemory(child.pid) as memory:
                variables = Variables(memory, [thread])
                assert variables.of(only) == "only"
                assert variables.of(thing) == "THING"
                assert variables.of(more) in {"thing", "more"}
                assert variables.of(module) == "json"
                assert variables.of(0x1234) == ""
                assert "__name__" not in {name for name, _ in variables.all()}
                assert variables.users(only) == "only"
        finally:
            child.stdin.close()


def test_the_users_names_come_before_those_of_a_package():
    own = PythonFrame(function="f", file="a.py", locals={"mine": "<x at 0x10000>"})
    file = "/lib/python3.11/site-packages/p/q.py"
    inner = PythonFrame(function="g", file=file, locals={"x": "<x at 0x10000>", "y": "<x at 0x20>"})
    variables = Variables(Memory(), [Thread(tid=1, python=[inner, own])])
    assert (variables.of(0x10000), variables.of(0x20)) == ("mine", "y")
    assert (variables.users(0x10000), variables.users(0x20)) == ("mine", "")


class Noise(Memory):
    """Words that point among themselves, all of them writable."""

    def __init__(self, content):
        super().__init__([Mapping(0x10000, 0x10000 + PAGE, "rw-p")])
        self.content = content.ljust(PAGE, b"\0")

    def fetch(self, address):
        return self.content if address == 0x10000 else b""


WORDS = st.one_of(
    st.integers(0x10000 // 8, (0x10000 + PAGE) // 8).map(lambda n: n * 8), st.integers(0, 300)
)


@given(st.lists(WORDS, max_size=PAGE // 8))
def test_no_memory_makes_it_raise(words):
    memory = Noise(b"".join(word.to_bytes(8, "little") for word in words))
    frame = PythonFrame(function="f", file="a.py")
    thread = Thread(tid=1, registers={"rsp": 0x10000}, python=[frame])
    assert list(Variables(memory, [thread]).all()) == []
