"""Arrays of a call, and the one that explains the death."""

import pytest

from sigwhy.model.extent import extent
from sigwhy.model.incident import Mapping
from sigwhy.model.operation import Argument, Operation
from tests.guilt.tried import blamed, guilty, report

DATA = 0x7F0000100000


def array(name="x", shape=(1000,), strides=(1,), dtype="float64", **more):
    more.setdefault("address", DATA)
    return Argument(
        name=name, kind="array", dtype=dtype, shape=list(shape), strides=list(strides), **more
    )


def call(*inputs, attributes=(), op="numpy.add"):
    return Operation(framework="numpy", op=op, inputs=list(inputs), attributes=list(attributes))


def test_a_view_that_leaves_its_owner_is_guilty_of_what_lies_behind():
    view = array("wide", (1 << 40,), storage=(DATA, 128))
    told = report(call(view), signal="SIGSEGV", address=DATA + 4096)
    assert told.verdict.cause.id == "buffer-aliasing"
    assert (told.culprit.kind, told.culprit.name) == ("api", "numpy.add")
    assert told.culprit.argument == "wide"


@pytest.mark.parametrize("address", [DATA + 64, DATA - 8, DATA + (1 << 50)])
def test_a_view_is_innocent_of_what_lies_within_its_owner_or_out_of_its_reach(address):
    view = array("wide", (1 << 40,), storage=(DATA, 128))
    assert blamed(call(view), signal="SIGSEGV", address=address) == {}


def test_an_element_that_memory_showed_is_named_with_its_place():
    element = Argument(name="m.indices[700]", kind="index", values=[2_000_000_000], text="v")
    found = guilty(call(array(), attributes=[element]), signal="SIGSEGV", address=8 << 40)
    assert found["m.indices[700]"].value == "2000000000"
    assert found["m.indices[700]"].cause == "op-argument"


def test_a_file_that_ends_before_the_address_is_to_blame():
    mapped = [Mapping(DATA, DATA + 8192, "r--s", 0, "/srv/x.bin")]
    found = guilty(
        call(array(mapped="/srv/x.bin")),
        signal="SIGBUS",
        why="BUS_ADRERR",
        address=DATA + 4096,
        mappings=mapped,
        sizes={"/srv/x.bin": 0},
    )
    assert (found["x"].rule, found["x"].cause) == ("file", "file-truncated")


def test_a_write_to_what_may_only_be_read_is_told_with_its_array():
    found = guilty(
        call(array("table"), op="numpy.ndarray.fill"),
        signal="SIGSEGV",
        why="SEGV_ACCERR",
        address=DATA + 8,
        code="488907",
        registers={"rip": 0x1000, "rdi": DATA + 8},
        mappings=[Mapping(DATA, DATA + 8192, "r--p")],
    )
    assert found["table"].rule == "read-only"


@pytest.mark.parametrize(
    ("owner", "register", "fit"),
    [
        ("bytearray", 0x4142434445464748, "exact"),
        ("mmap.mmap", 0x1234, "likely"),
        ("numpy.ndarray", 0x4142434445464748, None),
    ],
)
def test_objects_over_plain_bytes_are_no_objects(owner, register, fit):
    note, values = f"its memory is that of a {owner}", [0x4142434445464748]
    odd = array("odd", (4,), dtype="object", note=note, values=values)
    found = blamed(call(odd), signal="SIGSEGV", registers={"rax": register})
    assert (found.get("odd") or (None,))[0] == fit


def test_strides_that_go_back_reach_before_the_first_element():
    assert extent(array(shape=(4,), strides=(-1,))) == (DATA - 24, DATA + 8)
    assert extent(array(shape=(0,))) is None
    assert extent(array(dtype="str")) is None
    assert extent(array(strides=(1, 2))) is None
