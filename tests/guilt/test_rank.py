import pytest

from tests.guilt.tried import blamed, number, operation, report, tensor

CHECK = "Check failed: "
FORMAT_H = "tensorflow/core/util/tensor_format.h"
LAYOUT = (
    "Check failed: index >= 0 && index < num_total_dims Invalid index from the dimension: 3, 0, C"
)


def test_the_only_input_of_that_rank_is_guilty():
    crop = operation("Crop", [tensor("image", [1, 4, 4, 3]), tensor("boxes", [3])])
    assert blamed(crop, says=CHECK + "d < dims() (1 vs. 1)") == {
        "boxes": ("exact", "boxes has rank 1, the kernel wants at least 2")
    }


def test_a_list_of_indices_is_of_rank_one_in_every_call():
    apply = operation(
        "Apply", [tensor("grad", [3]), tensor("indices", [3], 0, 1, 2, dtype="int32")]
    )
    assert list(blamed(apply, says=CHECK + "d < dims() (1 vs. 1)")) == ["grad"]


def test_beside_data_a_list_of_whole_numbers_is_a_setting():
    band = operation("Band", [tensor("diagonal", [3]), tensor("k", [1], 0, dtype="int32")])
    assert list(blamed(band, says=CHECK + "d < dims() (1 vs. 1)")) == ["diagonal"]


def test_two_of_the_same_rank_are_rivals_and_none_is_chosen():
    conv = operation("Conv", [tensor("input", [8]), tensor("filter", [8])])
    told = report(conv, says=CHECK + "NDIMS == dims() (4 vs. 1) Asking for tensor of 4 dimensions")
    assert told.culprit.argument == "input or filter"
    assert told.verdict.cause.id == "op-argument"


def test_the_wanted_rank_stands_on_the_left_of_a_comparison_of_ranks():
    crop = operation("Crop", [tensor("a", [2, 2]), tensor("b", [2])])
    for says in ("NDIMS == dims() (2 vs. 1)", "dims() == 2 (1 vs. 2)"):
        assert blamed(crop, says=CHECK + says)["b"][1] == "b has rank 1, the kernel wants 2"


@pytest.mark.parametrize("values", ["(-1 vs. 0)", "(0 vs. -1)"])
def test_a_size_before_the_first_was_asked_of_a_scalar_whichever_way_it_is_printed(values):
    fake = operation("Fake", [tensor("inputs", [], 1.0), tensor("min", [4])])
    assert list(blamed(fake, says=CHECK + "d >= 0 " + values)) == ["inputs"]


def test_an_axis_that_is_no_dimension_is_guilty_before_any_scalar():
    gather = operation(
        "Gather", [tensor("params", [3, 2]), tensor("axis", [], 1 << 62, dtype="int64")]
    )
    assert list(blamed(gather, says=CHECK + "d >= 0 (-1 vs. 0)")) == ["axis"]


def test_a_short_list_of_strides_and_a_flat_tensor_fall_short_of_the_layout():
    short = operation("Conv", [tensor("input", [1, 4, 4, 1])], [number("strides", 1, 1, 1)])
    assert blamed(short, says=LAYOUT, file=FORMAT_H) == {
        "strides": ("exact", "strides has 3 values, the layout needs 4")
    }
    flat = operation("Conv", [tensor("input", [9])], [number("strides", 1, 1, 1, 1)])
    assert list(blamed(flat, says=LAYOUT, file=FORMAT_H)) == ["input"]


def test_a_check_about_something_else_blames_nobody():
    crop = operation("Crop", [tensor("boxes", [3])])
    for says in (
        "ret == 0 (11 vs. 0) Thread creation via pthread_create() failed.",
        "ptr != nullptr",
    ):
        assert blamed(crop, says=CHECK + says) == {}


def test_no_input_of_that_rank_is_nobody():
    crop = operation("Crop", [tensor("boxes", [3, 4]), tensor("unknown", None)])
    assert blamed(crop, says=CHECK + "d < dims() (1 vs. 1)") == {}
