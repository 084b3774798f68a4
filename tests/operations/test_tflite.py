"""TensorFlow Lite interpreters in memory, as they are and as they are not."""

import struct

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigwhy.model.incident import Signal
from sigwhy.model.operation import Argument
from sigwhy.operations import tflite
from sigwhy.operations.functions import namespace, qualified
from sigwhy.operations.scene import Scene
from sigwhy.operations.tflite_interpreter import Interpreters
from sigwhy.operations.tflite_phase import API, LEADS_TO, PHASES
from sigwhy.operations.tflite_tensors import Tensors
from tests.operations.tflite_made import (
    CONTEXT,
    HEAP,
    NODES,
    STACK,
    SUBGRAPH,
    TENSORS,
    interpreter,
    thread,
)


def scene(memory, **more):
    died = Signal(name="SIGSEGV", number=11)
    return Scene(memory=memory, threads=[thread(**more)], signal=died)


def graph(memory):
    seen = scene(memory)
    known = Interpreters(memory, seen.classes)
    return seen, known, known.subgraph(SUBGRAPH)


@pytest.mark.parametrize("registration", [80, 88, 96])
def test_a_subgraph_is_found_however_long_a_registration_is(registration):
    _, known, found = graph(interpreter(registration=registration))
    assert (found.node_count, found.node_bytes) == (3, 80 + registration)
    assert (found.index, found.tensor_count, found.tensor_bytes) == (0, 4, 112)
    assert [node.registration.op for node in known.nodes(found, 9)] == ["ABS"] * 3


def test_a_context_leads_to_its_subgraph():
    _, known, found = graph(interpreter())
    assert known.of_context(SUBGRAPH + CONTEXT) == found
    assert known.of_context(SUBGRAPH + CONTEXT + 8) is None


def test_a_node_has_its_tensors():
    seen, known, found = graph(interpreter())
    node = known.node(found, 1)
    (given,) = Tensors(seen, known, found).arguments(node.inputs, "input", planned=True)
    assert (given.name, given.dtype, given.shape, given.values) == (
        "t1",
        "float32",
        [1, 3],
        [1.0, 1.5, -1.0],
    )
    assert (given.number, given.scales, given.zero_points, given.standing) == (
        1,
        [0.5],
        [3],
        "there",
    )


@pytest.mark.parametrize("scale", [float("nan"), float("inf"), 0.0])
def test_a_scale_that_is_none_can_be_kept_in_a_record(scale):
    made = interpreter()
    made.put(TENSORS + 24, "<f", scale)
    seen, known, found = graph(made)
    argument = Tensors(seen, known, found).argument(0, "input 0")
    kept = msgspec.json.decode(msgspec.json.encode(argument), type=Argument)
    assert kept == argument
    assert kept.scales == [str(scale) if scale else 0.0]


def test_a_tensor_that_is_left_out_and_one_that_does_not_exist_are_told():
    seen, known, found = graph(interpreter())
    tensors = Tensors(seen, known, found)
    assert tensors.argument(-1, "input 0").text == "none (-1)"
    assert "there is no tensor 9" in tensors.argument(9, "input 0").note


def test_pointers_into_the_middle_of_a_node_are_none():
    _, _, found = graph(interpreter())
    assert found.node_at(NODES + 168) == 1
    assert found.node_at(NODES + 168 + 80) == 1
    assert found.node_at(NODES + 168 + 8) is None
    assert found.node_at(NODES + 3 * 168) is None


def test_an_array_of_another_size_than_the_context_says_is_not_read():
    made = interpreter()
    made.put(SUBGRAPH + 16, "<Q", TENSORS + 4 * 112 + 8)
    seen, known, found = graph(made)
    assert found.tensor_bytes == 0
    assert Tensors(seen, known, found).argument(0, "input 0").kind == "none"


def test_no_class_no_subgraph():
    made = interpreter()
    made.put(SUBGRAPH, "<Q", HEAP + 0x100)
    assert graph(made)[2] is None


def test_without_a_sign_on_the_stack_the_call_alone_is_named():
    made = interpreter()
    made.put(STACK, "<Q", SUBGRAPH)
    (found,) = tflite.find(scene(made))
    assert (found.op, found.call, found.model.index) == ("Interpreter.invoke",) * 2 + (None,)


def test_a_pointer_without_its_code_names_nothing():
    made = interpreter()
    made.put(STACK, "<QQQ", SUBGRAPH, NODES + 168, NODES + 168)
    assert all(found.model.index is None for found in tflite.find(scene(made)))


def test_where_no_thread_is_there_is_no_operation():
    assert tflite.find(Scene(memory=interpreter(), threads=[], signal=None)) == []


def test_names_lose_their_arguments_and_return_types():
    assert (
        qualified("void a::(anonymous namespace)::b<int (*)(c)>::d(e) const")
        == "a::{}::b<int (*)(c)>::d"
    )
    assert qualified("tflite::Subgraph::Invoke()") == "tflite::Subgraph::Invoke"
    assert qualified("a::operator()(b)") == "a::operator{}"
    assert qualified("main") == "main"
    assert namespace("a::b::c<(a::d::e)1>") == "a::b"


def test_every_call_that_has_phases_leads_to_known_ones():
    phases = {name for name, _ in PHASES}
    assert all(set(leads) <= phases for _, leads in LEADS_TO)
    assert all("." in name or name == "Interpreter" for name in API.values())


words = st.one_of(
    st.integers(0, 2**64 - 1),
    st.sampled_from([0, 1, 2**32 - 1, 2**63, SUBGRAPH, TENSORS, NODES, STACK, SUBGRAPH + CONTEXT]),
)
places = st.integers(0, 0x5000 // 8 - 1)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(places, words), min_size=1, max_size=30))
def test_damaged_memory_ends_in_no_exception_and_in_no_node(damage):
    made = interpreter()
    made.put(STACK, "<QQQQ", SUBGRAPH, NODES, NODES + 168, SUBGRAPH + CONTEXT)
    for place, value in damage:
        made.put(HEAP + 8 * place, "<Q", value)
    for found in tflite.find(scene(made)):
        assert found.model.index is None  # none of its code is on the stack


@settings(max_examples=100, deadline=None)
@given(st.lists(words, max_size=64))
def test_any_stack_will_do(stack):
    made = interpreter()
    made.put(STACK, f"<{len(stack)}Q", *stack)
    assert len(tflite.find(scene(made))) <= 1


def test_numbers_that_are_no_list_are_none():
    made = interpreter()
    _, known, _ = graph(made)
    made.put(HEAP + 0x6000, "<i", -5)
    assert known.numbers(HEAP + 0x6000) is None
    assert known.numbers(0) == ()
    assert known.numbers(struct.unpack("<Q", b"12345678")[0]) is None
