"""Owners of arrays, attributes and plain values, of living objects on every Python here."""

import json
import shutil
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigwhy.machine.memory import PAGE, Memory
from sigwhy.model.incident import Mapping, PythonFrame, Signal, Thread
from sigwhy.operations.array_owner import owner
from sigwhy.operations.arrays import Array, array
from sigwhy.operations.attributes import attributes
from sigwhy.operations.numpy import find
from sigwhy.operations.python_objects import PythonObjects
from sigwhy.operations.python_values import in_cell, shown
from sigwhy.operations.scene import Scene
from sigwhy.operations.wild_index import wild_index
from sigwhy.run.held_memory import HeldMemory
from tests.live.frameworks import python_of

PYTHONS = [sys.executable, *(f"python3.{minor}" for minor in range(8, 15))]
OBJECTS = """\
import json, os, mmap, ctypes
class Plain:
    def __init__(self):
        self.weights, self.bias = 1.5, None
class Late(Plain):
    pass
plain, late = Plain(), Late()
late.added = 7
opened = Plain()
opened.__dict__
def around():
    inside = (1, 2)
    return lambda: inside
values = [None, True, 0, 7, -7, 1 << 40, -(1 << 75), 2.5, "text", (1, -2), [3, "four"], json]
cell = around().__closure__[0]
print(json.dumps([[id(v) for v in values], [repr(v) for v in values], id(cell),
                  [id(plain), id(late), id(opened)]]), flush=True)
os.read(0, 1)
"""
ARRAYS = """\
import ctypes, json, mmap, numpy as np, os
small, view = np.zeros(4), memoryview(b"12345678")
made = [
    np.zeros(3), np.frombuffer(b"abcdefgh", "u1"), np.frombuffer(bytearray(80), "f8")[2:],
    np.frombuffer(mmap.mmap(-1, 4096), "i4"), np.ctypeslib.as_array((ctypes.c_int * 5)(1)),
    np.frombuffer(view, "u1"), np.lib.stride_tricks.as_strided(small, (100,), (8,)),
    np.ones((3, 4)).T, np.zeros(2, ">i4"),
]
print(json.dumps([id(one) for one in made]), flush=True)
os.read(0, 1)
"""


def living(python, code):
    """A process that told of its objects and waits, and what it told."""
    found = shutil.which(python)
    if not found or subprocess.run([found, "-c", ""], check=False, capture_output=True).returncode:
        pytest.skip(f"{python} is not here")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    child = subprocess.Popen([found, "-c", code], text=True, **pipes)
    line = child.stdout.readline()
    if not line:
        child.wait(10)
        pytest.skip(f"{python} cannot run this")
    return child, json.loads(line)


@pytest.mark.live
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read on Linux")
@pytest.mark.parametrize("python", PYTHONS, ids=lambda name: name.rpartition("/")[2])
def test_values_and_attributes_are_read_as_they_are(python):
    child, (places, wanted, cell, things) = living(python, OBJECTS)
    with child, HeldMemory(child.pid) as memory:
        objects = PythonObjects(memory)
        told = [shown(objects, at) for at in places]
        held = [attributes(objects, at) for at in things]
        inside = in_cell(objects, f"<cell at {cell:#x}>")
        weights = [shown(objects, one.get("weights", 0)) for one in held]
        added = shown(objects, held[1].get("added", 0))
        child.stdin.close()
    assert told == [*wanted[:-1], "<module json>"]
    assert weights == ["1.5"] * 3
    assert (added, inside) == ("7", "(1, 2)")
    assert [set(one) for one in held] == [
        {"weights", "bias"},
        {"weights", "bias", "added"},
        {"weights", "bias"},
    ]


@pytest.mark.live
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read on Linux")
def test_whose_memory_an_array_looks_at():
    child, places = living(python_of("arrays"), ARRAYS)
    with child, HeldMemory(child.pid) as memory:
        objects = PythonObjects(memory)
        found = [array(objects, at) for at in places]
        owners = [owner(objects, one) for one in found]
        child.stdin.close()
    kinds = [one and (one.kind.partition("_Array")[0], one.size) for one in owners]
    assert kinds == [
        None,
        ("bytes", 8),
        ("bytearray", 80),
        ("mmap.mmap", 4096),
        ("c_int", 20),
        ("bytes", 8),
        ("numpy.ndarray", 32),
        ("numpy.ndarray", 96),
        None,
    ]
    assert (found[7].shape, found[7].is_dense) == ((4, 3), False)
    assert [one.native for one in found] == [True] * 8 + [False]


BASE = 0x10000


class Bytes(Memory):
    """A few pages of anything."""

    def __init__(self, content):
        super().__init__([Mapping(BASE, BASE + 4 * PAGE, "rw-p")])
        self.content = content.ljust(4 * PAGE, b"\0")

    def fetch(self, address):
        at = address - BASE
        return self.content[at : at + PAGE] if 0 <= at < len(self.content) else b""


WORDS = st.lists(
    st.one_of(
        st.integers(0, 4 * PAGE // 8 - 1).map(lambda n: BASE + 8 * n),
        st.integers(0, 300),
        st.integers(0, (1 << 64) - 1),
    ),
    max_size=400,
)


@given(WORDS, st.integers(0, 300).map(lambda n: BASE + 8 * n))
def test_no_memory_makes_a_reader_raise(words, at):
    packed = b"".join(word.to_bytes(8, "little") for word in words)
    objects = PythonObjects(Bytes(packed))
    objects.type_of = lambda place: "dict" if place % 16 else "int"
    shown(objects, at)
    attributes(objects, at)
    objects.is_a = lambda _place, name: name == "numpy.ndarray"
    if found := array(objects, at):
        owner(objects, found)
        wild_index(objects.memory, [found, found], at)


def whole(start, shape, item=4, dtype="int32", strides=None):
    steps = strides or (*(item * n for n in shape[1:]), item)
    return Array(at=start, start=start, shape=shape, strides=steps, dtype=dtype, item=item)


def test_an_element_that_leads_to_the_fault_is_found():
    indices = whole(BASE, (4,))
    data = whole(BASE + 64, (10,), item=8, dtype="float64")
    held = b"".join(n.to_bytes(4, "little", signed=True) for n in (1, 2, -900, 3))
    memory = Bytes(held)
    found = wild_index(memory, [indices, data], data.start - 900 * 8)
    assert (found.at, found.value, found.into) == (2, -900, data)
    assert wild_index(memory, [indices, data], data.start + 2 * 8) is None
    assert wild_index(memory, [indices, data], data.start - 901 * 8 - 80) is None


def test_an_index_of_rows_counts_in_rows():
    indices = whole(BASE, (1,))
    table = whole(BASE + 64, (10, 3), item=8, dtype="float64", strides=(24, 8))
    memory = Bytes((5000).to_bytes(4, "little"))
    assert wild_index(memory, [indices, table], table.start + 5000 * 24 + 16).value == 5000


def test_a_process_without_arrays_has_no_call():

    frame = PythonFrame(function="f", file="a.py")
    thread = Thread(tid=1, crashed=True, registers={"rsp": BASE, "rip": BASE}, python=[frame])
    scene = Scene(memory=Bytes(b""), threads=[thread], signal=Signal(name="SIGSEGV", number=11))
    assert find(scene) == []
