from tests.guilt.tried import blamed, number, operation, tensor

FILE = "tensorflow/core/kernels/some_conv_ops.cc"
SAYS = "Check failed: out_rows > 0 (0 vs. 0)"


def test_a_filter_larger_than_the_input_is_guilty():
    conv = operation("Conv", [tensor("input", [1, 1, 4, 3]), tensor("filter", [2, 2, 3, 1])])
    assert blamed(conv, says=SAYS, file=FILE) == {
        "filter": ("exact", "filter is 2 wide in dimension 0 of the window, input only 1")
    }


def test_so_is_a_window_given_as_a_list():
    pool = operation("Pool", [tensor("value", [1, 4, 1, 3])], [number("ksize", 1, 2, 2, 1)])
    assert list(blamed(pool, says=SAYS, file=FILE)) == ["ksize"]


def test_an_input_without_any_rows_is_guilty_itself():
    conv = operation("Conv", [tensor("input", [0, 4, 4, 3]), tensor("filter", [2, 2, 3, 1])])
    assert list(blamed(conv, says=SAYS, file=FILE)) == ["input"]


def test_a_window_that_fits_is_innocent():
    conv = operation("Conv", [tensor("input", [1, 4, 4, 3]), tensor("filter", [2, 2, 3, 1])])
    assert blamed(conv, says=SAYS, file=FILE) == {}
