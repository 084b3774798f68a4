import random
import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigwhy.tflite import MalformedError, Model
from sigwhy.tflite.alone import alone
from sigwhy.tflite.flat import SIZES, fields, members
from sigwhy.tflite.model import options
from sigwhy.tflite.schema import TABLES, UNIONS
from sigwhy.tflite.written import plain, written
from tests.tflite import models


def walk(data):
    """Everything that can be asked of a model."""
    model = Model.of(data)
    written(plain(model.root))
    for s, graph in enumerate(model.subgraphs):
        for tensor in graph.tables("tensors"):
            model.buffer(tensor)
        for n, operator in enumerate(graph.tables("operators")):
            model.op(operator)
            options(operator)
            alone(data, s, n)


def test_what_is_written_is_read_again():
    model = Model.of(models.bytes_of())
    dense = model.operator(0, 1)
    assert model.op(dense) == "FULLY_CONNECTED"
    assert list(dense.numbers("inputs")) == [1, 2, -1]
    assert options(dense)["fused_activation_function"] == "RELU"
    assert options(dense)["keep_num_dims"] is True
    assert model.tensor(0, -1) is None
    weights = model.tensor(0, 2)
    assert weights.text("name") == "w"
    assert bytes(model.buffer(weights)) == struct.pack("<8f", *range(8))
    assert model.buffer(model.tensor(0, 0)) is None


def test_writing_changes_nothing():
    data = models.bytes_of()
    assert written(plain(Model.of(data).root)) == data


def test_a_model_is_cut_to_one_operator_whose_numbers_stay():
    cut = alone(models.bytes_of(), 0, 1, {1: [3, 4]})
    model = Model.of(cut.data)
    assert (cut.op, cut.feeds) == ("FULLY_CONNECTED", (1,))
    assert len(model.subgraphs[0].tables("operators")) == 1
    assert list(model.operator(0, 0).numbers("inputs")) == [1, 2, -1]
    assert list(model.subgraphs[0].numbers("inputs")) == [1]
    assert list(model.subgraphs[0].numbers("outputs")) == [3]
    assert list(model.tensor(0, 1).numbers("shape")) == [3, 4]
    assert list(model.tensor(0, 2).numbers("shape")) == [2, 4]
    buffers = model.root.tables("buffers")
    assert [len(b["data"] or ()) for b in buffers] == [0, 32, 0]


def test_a_handle_comes_with_the_operator_that_makes_it():
    cut = alone(models.bytes_of(models.with_variable()), 0, 1)
    model = Model.of(cut.data)
    assert [model.op(o) for o in model.subgraphs[0].tables("operators")] == [
        "VAR_HANDLE",
        "READ_VARIABLE",
    ]
    assert cut.feeds == ()


def test_an_operator_that_runs_subgraphs_cannot_stand_alone():
    model = models.chain()
    model["operator_codes"].append({"deprecated_builtin_code": 119, "builtin_code": 119})
    loop = models.operator(2, [0], [1], builtin_options_type=93)
    loop["builtin_options"] = {"cond_subgraph_index": 0, "body_subgraph_index": 0}
    model["subgraphs"][0]["operators"].append(loop)
    with pytest.raises(MalformedError, match="runs subgraph 0"):
        alone(models.bytes_of(model), 0, 3)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "too few"),
        (b"\0\0\0\0TFL3", "leads outside"),
        (b"\x10\0\0\0GIF89a", "no .tflite model"),
        (b"\xff\xff\xff\xffTFL3", "leads outside"),
    ],
)
def test_what_is_no_model_is_refused_in_words(data, says):
    with pytest.raises(MalformedError, match=says):
        Model.of(data)


def test_an_index_that_leads_outside_says_so():
    with pytest.raises(MalformedError, match="there is no operator 3, only 3"):
        alone(models.bytes_of(), 0, 3)
    with pytest.raises(MalformedError, match="there is no subgraph 1"):
        alone(models.bytes_of(), 1, 0)


@given(st.data())
def test_no_mutation_raises_anything_else(data):
    whole = bytearray(models.bytes_of())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 4))
        word = data.draw(st.sampled_from([0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 4, 0xFFFF]))
        whole[at : at + 4] = word.to_bytes(4, "little")
    end = data.draw(st.integers(0, len(whole)))
    for part in (bytes(whole), bytes(whole[:end])):
        with suppress(MalformedError):
            walk(part)


def test_three_thousand_flipped_bits_raise_nothing_else():
    dice = random.Random(7)  # noqa: S311 -- no secret depends on it
    original = models.bytes_of()
    refused = 0
    for _ in range(3000):
        whole = bytearray(original)
        for _ in range(dice.randint(1, 3)):
            whole[dice.randrange(len(whole))] ^= 1 << dice.randrange(8)
        try:
            walk(bytes(whole))
        except MalformedError:
            refused += 1
    assert refused > 300


def test_a_table_that_holds_itself_ends():
    data = bytearray(models.bytes_of())
    model = Model.of(data)
    rows = model.root["subgraphs"]
    # Its only subgraph becomes the model itself, read as a subgraph again and again.
    at = rows.start
    root = model.root.at
    if at < root:
        data[at : at + 4] = (root - at).to_bytes(4, "little")
    try:
        walk(bytes(data))
    except MalformedError:
        return


def test_the_schema_is_whole():
    for table in TABLES:
        for field in fields(table).values():
            kind = field.item or field.type.strip("<>")
            assert kind in SIZES or kind == "string" or kind in TABLES or kind in UNIONS, field
    for union in UNIONS:
        assert set(members(union)[1:]) <= set(TABLES)
