"""Conditions on arguments: what is so, what is not, and what nobody can say."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigwhy.model.condition import Condition, all_hold, holds, shown
from sigwhy.model.operation import Argument

ARGUMENTS = {
    a.name: a
    for a in (
        Argument(name="index", dtype="int32", shape=[], values=[-1], elements=1),
        Argument(name="grad", dtype="float32", shape=[3], values=[1.0, float("nan")], elements=3),
        Argument(name="var", dtype="float32", shape=[4, 2], elements=8),
        Argument(name="strides", kind="list", values=[1, 0, 1]),
        Argument(name="T", kind="dtype", text="int32"),
        Argument(name="mode", kind="string", values=["REFLECT"]),
        Argument(name="none", dtype="float32", shape=[0, 4], elements=0),
        Argument(name="unknown", dtype="float32"),
    )
}


def row(**fields):
    return msgspec.convert(fields, Condition)


def answer(argument, relation, than, **more):
    return holds(row(argument=argument, than=than, **{"is": relation}, **more), ARGUMENTS)


@pytest.mark.parametrize(
    ("argument", "what", "relation", "than"),
    [
        ("index", "value", "<", 0),
        ("grad", "rank", "==", 1),
        ("grad", "rank", "<", {"argument": "var", "what": "rank"}),
        ("grad", "rank", "==", {"argument": "var", "what": "rank", "plus": -1}),
        ("strides", "value", "==", 0),
        ("strides", "all", ">=", 0),
        ("strides", "length", "<", 4),
        ("strides", "product", "==", 0),
        ("T", "dtype", "in", ["int32", "int64"]),
        ("mode", "value", "begins", "REF"),
        ("none", "elements", "==", 0),
        ("none", "size", "==", 0),
        ("index", "memory", "==", "there"),
    ],
)
def test_it_is_so(argument, what, relation, than):
    assert answer(argument, relation, than, what=what) is True


@pytest.mark.parametrize(
    ("argument", "what", "relation", "than"),
    [
        ("index", "value", ">", 0),
        ("strides", "all", ">", 0),
        ("T", "dtype", "not in", ["int32"]),
        ("none", "value", "<", 0),
        ("mode", "value", "<", 3),
    ],
)
def test_it_is_not_so(argument, what, relation, than):
    assert answer(argument, relation, than, what=what) is False


def test_what_was_not_read_is_neither_true_nor_false():
    assert answer("unknown", "<", 0) is None
    assert answer("unknown", "==", 2, what="rank") is None
    assert answer("nobody", "==", 2, what="rank") is None
    assert answer("index", "<", {"argument": "nobody"}) is None


def test_behind_the_first_values_there_may_be_another_one():
    assert answer("grad", ">", 5.0) is None


def test_a_size_may_be_asked_for_by_its_dimension():
    assert answer("var", "==", 2, what="size", dimension=-1) is True
    assert answer("var", "==", 2, what="size", dimension=0) is False
    assert answer("var", "==", 2, what="size", dimension=7) is False


def test_several_conditions_hold_only_together():
    one, no, open_ = (
        row(argument="index", than=0, **{"is": "<"}),
        row(argument="index", than=0, **{"is": ">"}),
        row(argument="unknown", than=0, **{"is": "<"}),
    )
    assert all_hold([one, one], ARGUMENTS) is True
    assert all_hold([one, open_], ARGUMENTS) is None
    assert all_hold([open_, no], ARGUMENTS) is False


def test_what_stood_there_is_shown():
    assert shown(row(argument="strides", than=0, **{"is": "=="}), ARGUMENTS) == "0"
    assert shown(row(argument="grad", what="rank", than=2, **{"is": "<"}), ARGUMENTS) == "rank 1"


@pytest.mark.parametrize(
    "fields",
    [
        {"argument": "a", "is": "in", "than": 3},
        {"argument": "a", "is": "==", "than": [3]},
        {"argument": "a", "is": "<", "than": "x"},
        {"argument": "a", "is": "<", "than": 1, "what": "dtype"},
        {"argument": "a", "is": "==", "than": 1, "dimension": 2},
        {"argument": "a", "is": "~", "than": 1},
        {"argument": "a", "is": "==", "than": 1, "what": "colour"},
        {"argument": "a", "is": "==", "than": 1, "eval": "1"},
        {"is": "==", "than": 1},
    ],
)
def test_what_can_never_be_answered_is_refused(fields):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(fields, Condition)


plain = st.one_of(st.integers(), st.floats(), st.text(max_size=3), st.booleans())


@given(
    argument=st.sampled_from([*ARGUMENTS, "nobody"]),
    what=st.sampled_from(
        ["value", "all", "rank", "elements", "length", "size", "product", "dtype", "kind", "memory"]
    ),
    relation=st.sampled_from(["<", "<=", "==", "!=", ">=", ">", "in", "not in", "begins"]),
    than=plain | st.lists(plain, max_size=2) | st.just({"argument": "var", "what": "rank"}),
)
def test_every_row_that_is_accepted_has_an_answer(argument, what, relation, than):
    try:
        condition = row(argument=argument, what=what, than=than, **{"is": relation})
    except msgspec.ValidationError:
        return
    assert holds(condition, ARGUMENTS) in {True, False, None}
    shown(condition, ARGUMENTS)
