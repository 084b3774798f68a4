"""TensorFlow operations in memory made by hand: found where all fits, and never where it does not."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigwhy.machine.memory import PAGE
from sigwhy.operations import tensorflow
from tests.operations.made_tensorflow import (
    DEVICE_NAME,
    HEAP,
    LIBRARY,
    NEW,
    OLD,
    STACK,
    STRING,
    Made,
    World,
)

FORMS = pytest.mark.parametrize("form", [NEW, OLD])


def found(world, **registers):
    return list(tensorflow.find(world.scene(**registers)))


@FORMS
def test_an_operation_is_told_with_all_that_it_was_given(form):
    (one,) = found(World(form))
    assert (one.op, one.node, one.device) == ("Concatenate", "outer/together", DEVICE_NAME)
    assert (one.kernel, one.library) == ("tensorflow::AddOps", LIBRARY)
    assert (one.state, one.is_hint, one.missing) == ("running", False, [])
    assert [a.name for a in one.inputs] == ["values[0]", "values[1]", "axis"]
    first, second, third = one.inputs
    assert (first.dtype, first.shape, first.values) == ("float32", [2, 3], [1.5, 2, 3, 4, 5, 6])
    assert (second.shape, second.elements, second.standing) == ([0, 3], 0, "none")
    assert (third.dtype, third.shape, third.values) == ("int32", [], [-1])


@FORMS
def test_attributes_are_told_by_their_kinds(form):
    told = {a.name: a for a in found(World(form))[0].attributes}
    assert {name: a.kind for name, a in told.items()} == {
        "T": "dtype", "N": "int", "sizes": "list", "one": "list", "words": "string",
        "ratio": "float", "flag": "bool", "form": "shape",
    }  # fmt: skip
    assert told["T"].text == "float32"
    assert told["sizes"].values == [4, 5, 6]
    assert told["one"].values == [9]
    assert told["words"].values == ["VALID"]
    assert told["ratio"].values == [0.5]
    assert told["flag"].values == [True]
    assert told["form"].shape == [2, -1]


def test_whole_inputs_are_kept():
    world = World()
    scene = world.scene()
    (one,) = tensorflow.find(scene)
    assert scene.keeper.members[one.inputs[0].member].endswith(
        struct.pack("<6f", 1.5, 2, 3, 4, 5, 6)
    )


def test_parameters_on_the_heap_are_found_through_a_context():
    world = World(place=HEAP + 20 * PAGE)
    context = world.memory.put(STACK + 2 * PAGE, 0, 0, 0, world.place)
    world.memory.put(STACK + PAGE, context)
    (one,) = found(world)
    assert (one.op, one.found) == ("Concatenate", "the stack points to its context")


def test_parameters_on_the_heap_are_found_through_a_closure():
    world = World(place=HEAP + 20 * PAGE)
    context = world.memory.put(world.memory.room(64), 0, 0, world.place)
    closure = world.memory.put(world.memory.room(64), 1, 2, 3, context)
    (one,) = found(world, rdi=closure)
    assert (one.op, one.found) == ("Concatenate", "a closure on the stack holds its context")


def test_a_kernel_that_is_being_made_has_no_inputs_yet():
    world = World(place=HEAP + 20 * PAGE)
    construction = world.memory.put(STACK + 2 * PAGE, 0, world.device, 5, world.properties)
    world.memory.put(STACK + PAGE, construction)
    (one,) = found(world)
    assert (one.op, one.state, one.inputs) == ("Concatenate", "constructing", [])
    assert one.missing


def test_the_old_words_of_a_construction_name_nothing():
    world = World(place=HEAP + 20 * PAGE)
    world.memory.put(STACK + 2 * PAGE, 0, world.device, 5, world.properties)
    assert found(world) == []


def test_dead_words_are_read_only_while_an_exception_is_in_flight():
    world = World(pointer=STACK + 2 * PAGE)
    assert found(world) == []
    flying = world.memory.put(world.memory.room(64), 0x474E5543432B2B00)
    world.memory.put(STACK + 2 * PAGE + 512, flying)
    (one,) = found(world)
    assert (one.op, one.state, one.is_hint) == ("Concatenate", "left", True)


@FORMS
def test_an_operation_that_its_definition_does_not_know_is_not_named(form):
    world = World(form)
    other = world.memory.definition(form, "Subtract", [], [])
    world.memory.put(world.properties, other)
    scene = world.scene()
    assert list(tensorflow.find(scene)) == []
    (note,) = scene.notes
    assert "tensorflow::AddOps" in note


def test_a_kernel_whose_own_name_is_another_is_not_named():
    world = World()
    world.memory.put(world.kernel + 200, 4, world.memory.data(b"else"))
    assert found(world) == []


def test_an_object_of_another_class_is_no_device():
    world = World()
    world.memory.put(world.device, world.memory.table("N10tensorflow5OtherE"))
    assert found(world) == []


@FORMS
def test_an_operation_without_inputs_lacks_none(form):
    world = World(form)
    made = world.memory
    definition = made.definition(form, "Produce", [], [("out", STRING, "", "")])
    node = made.properties(form, ("new", "Produce"), definition, {"x": 1}, ([], [STRING]))
    made.params(made.kernel(node, "new", "Produce"), world.device, [], world.place)
    (one,) = found(world)
    assert (one.op, one.inputs, one.missing) == ("Produce", [], [])


def test_where_a_pipeline_is_asked_the_iterator_that_it_died_in_comes_first():
    world = World(op="IteratorGetNext")
    made = world.memory
    dataset = made.put(
        made.room(160), made.table("N10tensorflow9MyDatasetE", "N10tensorflow4data11DatasetBaseE")
    )
    for n, text in enumerate(("MatchingDataset", "MatchingDataset/_1")):
        made.string_at(dataset + 24 + 32 * n, text.encode())
    iterator = made.put(
        made.room(160),
        made.table("N10tensorflow2ItE", "N10tensorflow4data12IteratorBaseE"),
        dataset,
    )
    made.string_at(iterator + 32, b"Iterator::Root::Matching")
    made.put(STACK + 512, iterator)
    inner, outer = found(world)
    assert (inner.op, inner.node, inner.pipeline) == (
        "MatchingDataset",
        "MatchingDataset/_1",
        "Iterator::Root::Matching",
    )
    assert (outer.op, outer.pipeline) == ("IteratorGetNext", "Iterator::Root::Matching")


def test_a_tensor_that_contradicts_itself_is_not_told():
    world = World()
    tensors = [world.memory.tensor(1, (2, 3), HEAP + 64, elements=7)] * 3
    world.memory.params(world.kernel, world.device, tensors, world.place)
    (one,) = found(world)
    assert one.op == "Concatenate"
    assert one.inputs == []
    assert one.missing == [
        "the inputs: no list of tensors was found that has the types of the node"
    ]


def test_an_input_whose_memory_is_gone_says_so():
    world = World()
    gone = world.memory.tensor(1, (2, 3), 0x660000000000)
    axis = world.memory.tensor(3, (), HEAP + 64)
    world.memory.params(world.kernel, world.device, [gone, gone, axis], world.place)
    (one,) = found(world)
    assert [(a.standing, a.values) for a in one.inputs[:2]] == [("gone", [])] * 2


def test_names_that_onednn_gives_lead_to_the_public_one():
    (one,) = found(World(op="_MklNativeConv3D"))
    assert (one.op, one.inner) == ("Conv3D", "_MklNativeConv3D")


@pytest.mark.parametrize(
    "text", [b"", b"short", b"a text that is longer than it could be inside", b"nul\0at the end\0"]
)
def test_strings_are_read_however_they_are_laid_out(text):
    from sigwhy.operations.tensorflow_tensors import string

    made = Made()
    there = made.data(text)
    at = made.room(24)
    forms = [struct.pack("<QQQ", len(text) << 2 | 1, 64, there)]
    forms.append(struct.pack("<QQ", len(text) << 2 | 3, there).ljust(24, b"\0"))
    forms.append(struct.pack("<II", len(text) << 2 | 2, there - at & 0xFFFFFFFF).ljust(24, b"\0"))
    if len(text) < 23:
        forms.append((bytes([len(text) << 2]) + text).ljust(24, b"\0"))
    for packed in forms if there > at else forms[:2]:
        made.write(at, packed)
        assert string(made, at, 1000) == text


def test_string_tensors_are_kept_whole():
    world = World()
    made = world.memory
    words = made.room(48)
    made.write(
        words,
        (bytes([3 << 2]) + b"a\0\0").ljust(24, b"\0") + (bytes([1 << 2]) + b"b").ljust(24, b"\0"),
    )
    definition = made.definition(
        NEW, "Join", [("words", STRING, "", "")], [("out", STRING, "", "")]
    )
    node = made.properties(NEW, ("join", "Join"), definition, {"x": 1}, ([STRING], [STRING]))
    kernel = made.kernel(node, "join", "Join")
    made.params(kernel, world.device, [made.tensor(STRING, (2,), words)], world.place)
    scene = world.scene()
    (one,) = tensorflow.find(scene)
    assert one.inputs[0].values == ["b'a\\x00\\x00'", "b"]
    assert scene.keeper.members[one.inputs[0].member].endswith(b"a\0\0\x01b\x01\0\0")


DAMAGE = st.lists(
    st.tuples(st.sampled_from([HEAP, STACK]), st.integers(0, 24 * PAGE), st.integers(0, 255)),
    min_size=1,
    max_size=40,
)


@FORMS
@given(damage=DAMAGE, at=st.integers(0, 4 * PAGE))
def test_damage_breaks_nothing_and_makes_no_other_operation(form, damage, at):
    world = World(form, pointer=STACK + at)
    for region, place, value in damage:
        held = world.memory.bytes[region]
        held[place % len(held)] = value
    assert {one.op for one in found(world)} <= {"Concatenate"}


@FORMS
@given(words=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 2000)), max_size=30))
def test_words_that_change_places_make_no_other_operation(form, words):
    world = World(form)
    held = world.memory.bytes[HEAP]
    for one, other in words:
        a, b = held[8 * one : 8 * one + 8], held[8 * other : 8 * other + 8]
        held[8 * one : 8 * one + 8], held[8 * other : 8 * other + 8] = b, a
    assert {one.op for one in found(world)} <= {"Concatenate"}


def test_damaged_cores_name_nothing_that_was_not_there(tmp_path):
    from tools.fuzz_cores import damaged

    path = tmp_path / "core"
    path.write_bytes(World(place=STACK + 1024).core())
    result = damaged(str(path), 300, 7)
    assert (result.tried, result.raised, dict(result.wrong)) == (300, [], {})
    assert 0 < result.right < 300
    assert result.slowest < 5
