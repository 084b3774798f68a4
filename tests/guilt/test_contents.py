import pytest

from sigwhy.guilt.contents import absurd
from tests.guilt.tried import blamed, operation, report, tensor

UPRIGHT = b"BM" + b"\0" * 16 + (4).to_bytes(4, "little") + (4).to_bytes(4, "little")
ON_ITS_HEAD = UPRIGHT[:22] + (-4).to_bytes(4, "little", signed=True)
ZSTD = b"\x28\xb5\x2f\xfd"


def decode(data, op="DecodeBmp"):
    return operation(op, [tensor("contents", [], repr(data), dtype="string")])


def test_a_bitmap_on_its_head_is_to_blame():
    found = blamed(decode(ON_ITS_HEAD), signal="SIGSEGV", address=8)
    assert found["contents"] == (
        "exact",
        "contents is a bitmap that stands on its head (its height is -4)",
    )


def test_bytes_that_look_right_are_only_likely():
    assert blamed(decode(UPRIGHT), signal="SIGSEGV", address=8)["contents"][0] == "likely"


def test_they_speak_for_the_data_and_not_for_the_call():
    assert (
        report(decode(ON_ITS_HEAD), signal="SIGSEGV", address=8).verdict.cause.id
        == "malformed-input"
    )


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (ZSTD + bytes([0xC0]) + b"\0" + (1 << 60).to_bytes(8, "little"), str(1 << 60)),
        (ZSTD + bytes([0xE0]) + (1 << 60).to_bytes(8, "little"), str(1 << 60)),
        (b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + b"\x7f\xff\xff\xff" * 2, "2147483647"),
    ],
)
def test_a_head_that_announces_more_than_there_is_tells_so(head, said):
    assert said in absurd(head)


@pytest.mark.parametrize("head", [b"", b"BM", ZSTD, ZSTD + b"\xff", b"\x89PNG\r\n\x1a\n", UPRIGHT])
def test_a_torn_or_ordinary_head_is_not_absurd(head):
    assert absurd(head) is None


def test_an_operation_that_decodes_nothing_has_no_contents():
    assert blamed(decode(ON_ITS_HEAD, "StringJoin"), signal="SIGSEGV", address=8) == {}


THROWN = (
    "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n"
)


def test_memory_did_not_run_out_where_the_data_asked_for_more_than_there_is():
    told = report(decode(ON_ITS_HEAD), stderr=THROWN)
    assert told.verdict.cause.id == "malformed-input"
    assert told.seen.mechanism.id == "uncaught-exception"


def test_data_that_looks_right_leaves_it_open_whether_memory_ran_out():
    assert report(decode(UPRIGHT), stderr=THROWN).seen.mechanism.id == "out-of-memory"
