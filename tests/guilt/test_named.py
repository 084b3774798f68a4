from tests.guilt.tried import blamed, number, operation, tensor

FILE = "tensorflow/core/kernels/some_op.cc"


def test_an_argument_whose_name_and_number_stand_in_the_check_is_guilty():
    pool = operation("Pool", attributes=[number("ksize", 2, 2, 1)])
    assert blamed(pool, says="Check failed: ksize.size() == 4 (3 vs. 4)", file=FILE)["ksize"] == (
        "exact",
        "the check that failed is about ksize: ksize.size() == 4 (3 vs. 4)",
    )


def test_a_name_alone_is_likely():
    pool = operation("Pool", attributes=[number("ksize", 2, 2)])
    assert blamed(pool, says="Check failed: ksize_ok(ksize)", file=FILE)["ksize"][0] == "likely"


def test_everyday_words_are_no_names():
    pool = operation("Pool", [tensor("data", [2]), tensor("size", [1])])
    assert blamed(pool, says="Check failed: data.size() == size (2 vs. 1)", file=FILE) == {}
