from tests.guilt.tried import TENSOR_CC, blamed, dtype, handle, operation, tensor

SAYS = "Check failed: dtype() == expected_dtype (1 vs. 2)  double expected, got float"


def test_the_tensor_that_brought_the_other_type_is_guilty():
    apply = operation("Apply", [handle("var"), tensor("alpha", [], 0.1, dtype="float64")])
    assert blamed(apply, says=SAYS, file=TENSOR_CC) == {
        "alpha": ("exact", "alpha is float64, what var leads to is float32")
    }


def test_without_such_a_tensor_it_is_the_attribute():
    gather = operation(
        "Gather",
        [handle(), tensor("indices", [1], 0, dtype="int32")],
        [dtype("dtype", "int32"), dtype("Tindices", "int32")],
    )
    says = "Check failed: dtype() == expected_dtype (1 vs. 3)  int32 expected, got float"
    assert list(blamed(gather, says=says, file=TENSOR_CC)) == ["dtype"]


def test_the_type_of_the_indices_is_never_to_blame():
    gather = operation("Gather", [handle(), tensor("indices", [1], 0, dtype="float64")])
    assert blamed(gather, says=SAYS, file=TENSOR_CC) == {}


def test_of_several_variables_any_may_hold_the_other_type():
    adam = operation("Adam", [handle("var"), handle("m"), tensor("lr", [], 0.1, dtype="float64")])
    found = blamed(adam, says=SAYS, file=TENSOR_CC)
    assert list(found) == ["var", "m"]
    assert found["m"] == (
        "exact",
        "what m leads to is float32, the call is made for float64",
    )
