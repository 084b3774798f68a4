"""What must hold for any bytes that somebody calls a model."""

import random
import struct
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from sigwhy.checks import looked
from sigwhy.subjects.tflite_model import TfliteModel
from sigwhy.verify import model_problems
from tests.tflite.zoo import ZOO, bytes_of

FILES = {name: bytes_of(name) for name in ZOO}


def damaged(name, seed):
    dice = random.Random(seed)  # noqa: S311 -- the same damage each time
    data = bytearray(FILES[name])
    for _ in range(dice.randint(1, 6)):
        at = dice.randrange(0, len(data) - 4)
        struct.pack_into(
            "<I", data, at, dice.choice((0, 1, 7, 2**31 - 1, 2**32 - 4, dice.getrandbits(32)))
        )
    return bytes(data[: dice.randint(len(data) // 2, len(data))])


@given(st.sampled_from(sorted(ZOO)), st.integers(0, 2**32))
def test_no_check_breaks(name, seed):
    assert looked(TfliteModel.of(damaged(name, seed)), "tflite").notes == ()


@given(st.binary(max_size=300))
def test_any_bytes_are_no_model(data):
    assert model_problems(data)


@given(st.sampled_from(sorted(ZOO)), st.integers(0, 4000))
def test_a_cut_model_is_found(name, length):
    data = FILES[name]
    if length < len(data) - 64:  # what is lost may be nothing but a name
        problems = model_problems(data[:length])
        assert any(problem.severity == "error" for problem in problems)


def test_tables_that_lead_to_each_other_over_and_over_end():
    vtable = struct.pack("<HHHHHH", 12, 12, 0, 0, 4, 0)
    head = struct.pack("<I4s", 32, b"TFL3")
    data = bytearray(head + bytes(8) + vtable + bytes(4))
    data += struct.pack("<i", 16) + bytes(8)
    many = struct.pack("<I", 200_000) + b"".join(
        struct.pack("<I", 4 * (200_000 - n)) for n in range(200_000)
    )
    struct.pack_into("<I", data, 36, len(data) - 36)
    assert model_problems(bytes(data + many + bytes(64)))


def test_the_verifier_imports_nothing_heavy():
    code = "import sys, sigwhy.verify as v; v.model_problems(b'x'); print(*{'numpy', 'rich', 'msgspec'} & set(sys.modules))"
    done = subprocess.run(
        (sys.executable, "-c", code), capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == []
