"""PyTorch's operators in memory made by hand: found where all fits, and never where it does not."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigwhy.machine.memory import PAGE
from sigwhy.model.incident import Thread
from sigwhy.operations import torch
from sigwhy.operations.torch_threads import employers
from sigwhy.operations.torch_types import KINDS, unpacked
from tests.operations.made_tensorflow import HEAP, STACK
from tests.operations.made_torch import INT64, NEW, OLD, World

FORMS = pytest.mark.parametrize("form", [NEW, OLD])


def found(world, **registers):
    return list(torch.find(world.scene(**registers)))


@FORMS
def test_an_operator_is_told_with_its_arguments_by_name(form):
    (one,) = found(World(form))
    assert (one.op, one.is_hint, one.tid) == ("aten::add", False, 71)
    first, second = one.inputs
    assert (first.name, first.dtype, first.shape, first.strides) == ("input", "float32", [2, 3], [3, 1])  # fmt: skip
    assert first.values == [1.5, 2, 3, 4, 5, 6]
    assert (second.name, second.standing, second.storage) == ("other", "missing", (0, 0))
    assert [(a.name, a.kind, a.values) for a in one.attributes] == [("alpha", "int", [3])]


@FORMS
def test_without_its_entry_the_record_alone_tells(form):
    world = World(form)
    world.memory.put(world.pointer + 64, 0)
    (one,) = found(world)
    assert (one.op, one.is_hint) == ("add", False)


@FORMS
def test_an_entry_alone_is_a_hint(form):
    world = World(form)
    world.memory.put(world.place + 8, 0)
    assert found(world) == []  # and one without tensors is nothing at all
    world.memory.put(world.pointer + 128, *world.tensors)
    (one,) = found(world)
    assert (one.op, one.is_hint, one.attributes) == ("aten::add", True, [])
    assert [a.standing for a in one.inputs] == ["there", "missing"]


@FORMS
def test_a_record_whose_tensor_is_none_is_dead(form):
    world = World(form)
    world.memory.put(world.pointer + 64, 0)
    world.memory.put(world.place + 64, world.memory.python("builtin_function_or_method", 1, 2))
    assert found(world) == []


@FORMS
def test_a_record_without_what_must_be_given_is_dead(form):
    world = World(form)
    world.memory.put(world.pointer + 64, 0)
    world.memory.put(world.place + 72, 0)
    assert found(world) == []


@FORMS
def test_what_may_be_none_need_not_be_given(form):
    world = World(form)
    made = world.memory
    parameters = made.word(world.signature + (32 if form == NEW else 8))
    made.write(parameters + 256 + 5, b"\1")
    made.put(world.place + 72, 0)
    (one,) = found(world)
    assert [a.name for a in one.inputs] == ["input"]


@FORMS
def test_a_tensor_that_lies_about_its_elements_is_none(form):
    world = World(form)
    place = world.tensors[1] + (56 if form == NEW else 64)
    world.memory.put(place + 96, 7)
    world.memory.put(world.pointer + 64, 0)
    assert found(world) == []


def test_an_entry_whose_schema_has_another_name_is_none():
    world = World()
    world.memory.says(world.entry + 64, "aten::mul")
    (one,) = found(world)
    assert one.op == "add"


def test_a_whole_input_is_kept():
    scene = World().scene()
    (one,) = torch.find(scene)
    assert scene.keeper.members[one.inputs[0].member].endswith(
        struct.pack("<6f", 1.5, 2, 3, 4, 5, 6)
    )


def test_of_whole_numbers_the_smallest_and_the_largest_are_told():
    world = World()
    made = world.memory
    data = made.write(made.room(800), struct.pack("<100q", *range(50), 1 << 40, -7, *[0] * 48))
    made.put(world.objects[0] + 16, made.tensor((100,), (1,), data, 800, kind=INT64))
    (one,) = found(world)
    assert one.inputs[0].extremes == [-7, 1 << 40]
    assert len(one.inputs[0].values) == 8


def test_a_thread_of_a_pool_is_known_by_the_stack_that_it_points_into():
    world = World()
    helper = Thread(tid=72, crashed=True, registers={"rsp": STACK + 3 * PAGE})
    owner = Thread(tid=71, registers={"rsp": world.pointer})
    scene = world.scene()
    object.__setattr__(scene, "threads", [helper, owner])
    world.memory.put(STACK + 3 * PAGE + 64, world.place)
    assert employers(scene, helper) == [owner]


def test_every_type_with_a_form_can_be_unpacked():
    for kind in KINDS:
        if kind.form:
            assert unpacked(kind, bytes(kind.size)) in {0, "0j"}


@given(st.lists(st.tuples(st.integers(0, 6000), st.integers(0, 255)), max_size=40))
def test_damage_raises_nothing_and_renames_nothing(damages):
    world = World()
    for at, byte in damages:
        world.memory.bytes[HEAP][at] = byte
    for one in found(world):
        assert one.is_hint or one.op in {"aten::add", "add"}


@given(st.lists(st.tuples(st.integers(0, 2047), st.integers(0, (1 << 64) - 1)), max_size=40))
def test_a_stack_full_of_anything_raises_nothing(words):
    world = World(OLD)
    for n, word in words:
        world.memory.put(STACK + 8 * n, word)
    found(world, rax=words[0][1] if words else 0)


@given(st.binary(max_size=4096))
def test_memory_full_of_anything_has_no_operator(data):
    world = World()
    world.memory.bytes[HEAP][: len(data)] = data.ljust(4096, b"\xff")
    assert all(one.is_hint for one in found(world))
