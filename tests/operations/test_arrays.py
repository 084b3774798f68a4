"""Python objects by their address, in memory as NumPy 1 and NumPy 2 lay it out."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigwhy.machine.memory import PAGE, Memory, UnreadableError
from sigwhy.operations.arrays import buffers
from sigwhy.operations.python_objects import PythonObjects, address_of, function_named

AT, TYPE, NAME, NUMBERS, KIND, DATA = (0x10000 + n * 0x200 for n in range(6))
METATYPE = 0x11000


class Made(Memory):
    """One stretch of bytes, and nothing around it."""

    def __init__(self, content, start=0x10000):
        super().__init__()
        self.content, self.start = content, start

    def fetch(self, address):
        at = address - self.start
        return bytes(self.content[at : at + PAGE]) if 0 <= at < len(self.content) else b""


def array(  # noqa: PLR0913 -- each names one field of the object
    *, numpy=2, shape=(3, 4), strides=(32, 8), kind=b"f", item=8, name=b"numpy.ndarray", rank=None
):
    whole = bytearray(4 * PAGE)

    def put(at, form, *values):
        struct.pack_into(form, whole, at - 0x10000, *values)

    put(
        AT,
        "<QQQi4xQQQQ",
        1,
        TYPE,
        DATA,
        len(shape) if rank is None else rank,
        NUMBERS,
        NUMBERS + 0x100,
        0,
        KIND,
    )
    put(TYPE + 8, "<QQQ", METATYPE, 0, NAME)
    put(METATYPE + 8, "<QQQ", METATYPE, 0, METATYPE + 0x100)
    put(METATYPE + 0x100, "5s", b"type")
    put(NAME, f"{len(name) + 1}s", name)
    put(NUMBERS, f"<{len(shape)}q", *shape)
    put(NUMBERS + 0x100, f"<{len(strides)}q", *strides)
    put(KIND + 24, "c", kind)
    if numpy == 1:
        put(KIND + 32, "<iiQ", item, item, 0)
    else:
        put(KIND + 32, "<QQ", 0x3F, item)
    return whole


def held(whole, value=f"<numpy.ndarray at {AT:#x}>"):
    return list(buffers([("x", address_of(value))], PythonObjects(Made(whole))))


@pytest.mark.parametrize("numpy", [1, 2])
def test_an_array_is_read_as_it_lies_in_memory(numpy):
    (found,) = held(array(numpy=numpy))
    assert (found.name, found.shape, found.dtype) == ("x", [3, 4], "float64")
    assert (found.address, found.size, found.start) == (DATA, 96, DATA)


def test_strides_that_go_back_begin_before_the_first_element():
    (found,) = held(array(shape=(4,), strides=(-8,)))
    assert (found.address, found.size, found.start) == (DATA - 24, 32, DATA)


def test_an_empty_array_has_no_memory():
    (found,) = held(array(shape=(0, 4)))
    assert found.size == 0


def test_a_scalar_array_is_one_element():
    (found,) = held(array(shape=(), strides=(), kind=b"i", item=4))
    assert (found.size, found.dtype) == (4, "int32")


@pytest.mark.parametrize(
    "damaged",
    [
        array(name=b"numpy.matrix"),
        array(rank=65),
        array(rank=-1),
        array(shape=(-3, 4)),
        array(kind=b"?"),
        array(item=0),
        array(item=1 << 30),
        bytearray(PAGE),
        bytearray(b"\xff") * PAGE,
        bytearray(),
    ],
    ids=["subclass", "rank", "below", "shape", "kind", "empty", "huge", "zeros", "ones", "nothing"],
)
def test_what_does_not_fit_together_is_not_believed(damaged):
    assert held(damaged) == []


@given(st.lists(st.tuples(st.integers(0, 0xBFF), st.integers(0, 255)), max_size=40))
def test_no_damage_makes_it_raise(changes):
    whole = array()
    for at, value in changes:
        whole[at] = value
    for found in held(whole):
        assert found.size >= 0


@pytest.mark.parametrize(
    "value",
    ["<numpy.ndarray at 0x10>", "<numpy.ndarray at 0xffffffffffffffff>", "3"],
)
def test_a_value_elsewhere_is_no_array(value):
    assert held(array(), value) == []


def test_each_array_counts_once():
    assert len(list(buffers([("x", AT), ("y", AT)], PythonObjects(Made(array()))))) == 1


def test_a_built_in_function_tells_its_name():
    whole = bytearray(PAGE)
    struct.pack_into("<Q", whole, 16, 0x10100)
    struct.pack_into("<Q", whole, 0x100, 0x10200)
    struct.pack_into("5s", whole, 0x200, b"sqrt")
    told = "<builtin_function_or_method at 0x10000>"
    assert function_named(told, Made(whole)) == "sqrt"
    struct.pack_into("5s", whole, 0x200, b"a b")
    assert function_named(told, Made(whole)) is None
    assert function_named("<function at 0x10000>", Made(whole)) is None
    assert function_named("<builtin_function_or_method at 0x1>", Made(whole)) is None


def test_a_page_that_was_cut_off_is_not_read_for_ever():
    memory = Made(b"abc")
    assert memory.read(0x10000, 3) == b"abc"
    with pytest.raises(UnreadableError):
        memory.read(0x10000, 4)
    with pytest.raises(UnreadableError):
        memory.text(0x10000)


def test_memory_of_arm_lies_higher_than_that_of_x86():
    start = 0xFFFF_9C00_0000
    assert Made(b"abcd" * 1024, start).read(start, 4) == b"abcd"
