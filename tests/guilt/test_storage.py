import msgspec

from sigwhy.guilt import storage
from tests.guilt.tried import blamed, guilty, operation, report, tensor

DATA = 0x7F0000100000


def product(*inputs):
    return msgspec.structs.replace(operation("aten::mul", inputs), framework="torch")


def view(size, *, shape=(100, 100), strides=(100, 1), offset=0, data=DATA, **more):
    return tensor(
        "other", list(shape), strides=list(strides), offset=offset, address=data or None,
        storage=(data, size), standing="there" if data else "missing", **more,
    )  # fmt: skip


def test_a_storage_that_was_freed_speaks_for_shared_memory():
    told = report(product(view(0, data=0)), signal="SIGSEGV", address=0x40)
    assert told.verdict.cause.id == "buffer-aliasing"
    assert (told.culprit.argument, told.culprit.value) == ("other", "storage of 0 bytes")


def test_a_view_beyond_its_storage_is_guilty_where_the_fault_lies_behind_the_storage():
    at = DATA + 4096
    assert blamed(product(view(64)), signal="SIGSEGV", address=at)["other"] == (
        "exact",
        "other needs 40000 bytes, and its storage has 64: it was resized",
    )


def test_a_fault_elsewhere_makes_the_view_only_likely():
    assert blamed(product(view(64)), signal="SIGSEGV", address=8)["other"][0] == "likely"


def test_strides_and_offset_count():
    wide = view(400, shape=(10,), strides=(100,), offset=0)
    assert "other" in blamed(product(wide), signal="SIGSEGV", address=DATA + 3600)
    late = view(400, shape=(10,), strides=(1,), offset=95)
    assert "other" in blamed(product(late), signal="SIGSEGV", address=DATA + 404)


def test_what_fits_its_storage_is_innocent():
    exact = view(40000)
    assert blamed(product(exact), signal="SIGSEGV", address=DATA + 4) == {}
    repeated = view(4, strides=(0, 0))
    assert blamed(product(repeated), signal="SIGSEGV", address=DATA + 4) == {}


def test_a_tensor_without_elements_needs_no_storage():
    empty = product(view(0, shape=(0, 4), data=0))
    found = guilty(empty, signal="SIGSEGV", address=8).values()
    assert not {one.rule for one in found} & {"freed", "view"}


def test_the_memory_of_a_device_is_not_judged():
    far = msgspec.structs.replace(view(0), standing="device")
    assert blamed(product(far), signal="SIGSEGV", address=8) == {}


def test_other_frameworks_have_no_such_storage():
    assert blamed(operation("Mul", [view(64)]), signal="SIGSEGV", address=DATA + 4096) == {}


def test_a_narrow_type_is_measured_in_its_own_bytes():
    assert storage._reach(view(0, dtype="bfloat16")) == 20000
    assert storage._reach(view(0, dtype="float8_e5m2")) == 10000
    assert storage._reach(view(0, dtype="complex64")) == 80000
