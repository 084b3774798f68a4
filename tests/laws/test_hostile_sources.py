"""What must hold for any text that somebody calls C++."""

import random
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigwhy.checks import looked
from sigwhy.model.error import UsageError
from sigwhy.subjects.cpp_source import CppSource

EXAMPLES = sorted((Path(__file__).parents[1] / "checks").glob("cc_*/*.cc"))
PIECES = (b"(", b")", b"{", b"}", b"<", b">", b'"', b";", b"\n#if 0\n", b'R"(', b"/*", b"\0", b"\xff", b"::")  # fmt: skip


def damaged(path, seed):
    dice = random.Random(seed)  # noqa: S311 -- the same damage each time
    data = bytearray(path.read_bytes())
    for _ in range(dice.randint(1, 12)):
        at = dice.randrange(len(data))
        data[at : at + dice.choice((0, 1, 30))] = dice.choice(PIECES)
    return bytes(data)


@given(st.sampled_from(EXAMPLES), st.integers(0, 2**32))
def test_no_check_of_cpp_breaks(path, seed):
    assert looked(CppSource.of(damaged(path, seed)), "cc").notes == ()


@given(st.binary(max_size=300))
def test_any_bytes_may_be_called_cpp(data):
    assert looked(CppSource.of(data), "cc").notes == ()


@pytest.mark.parametrize(
    "data",
    [b"(" * 200_000, b"void f() {" * 50_000, b"a(" * 50_000, b"x->y(1)" * 50_000, b"\0" * 300_000],
    ids=lambda data: data[:10],
)
def test_a_source_without_end_is_left_in_time(data):
    start = time.process_time()
    try:
        assert looked(CppSource.of(data), "cc").notes == ()
    except UsageError as error:
        assert "nested" in str(error)  # noqa: PT017 -- either is right
    assert time.process_time() - start < 20
