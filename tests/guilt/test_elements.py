from tests.guilt.tried import TENSOR_CC, Argument, blamed, operation, tensor

SAYS = "Check failed: 1 == NumElements() (1 vs. 3) Must have a one element tensor"


def test_the_input_with_so_many_elements_is_guilty():
    adam = operation("Adam", [tensor("lr", [3]), tensor("grad", [2, 2])])
    assert blamed(adam, says=SAYS, file=TENSOR_CC) == {
        "lr": ("exact", "lr has 3 elements, the kernel wants 1")
    }


def test_what_lies_inside_of_a_variant_is_only_likely():
    variant = Argument(name="dataset", kind="variant", dtype="variant", shape=[])
    assert (
        blamed(operation("Write", [variant]), says=SAYS, file=TENSOR_CC)["dataset"][0] == "likely"
    )


def test_nobody_has_so_many():
    assert blamed(operation("Adam", [tensor("lr", [2])]), says=SAYS, file=TENSOR_CC) == {}
