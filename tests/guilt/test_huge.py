from tests.guilt.tried import blamed, number, operation, tensor

THROWN = "terminate called after throwing an instance of 'std::length_error'\n  what():  cannot create std::vector larger than max_size()\n"


def cycles(count):
    return operation("Inter", [tensor("cycle_length", [], count, dtype="int64")], state="left")


def test_more_than_any_memory_holds_is_guilty_of_a_length_error():
    assert blamed(cycles(1 << 60), stderr=THROWN)["cycle_length"][0] == "exact"


def test_where_the_exception_has_no_name_it_is_likely():
    found = blamed(cycles(1 << 60), signal="SIGSEGV", address=8)
    assert found["cycle_length"] == (
        "likely",
        "cycle_length = 1152921504606846976 is more than memory can hold",
    )


def test_another_exception_is_not_about_sizes():
    thrown = "terminate called after throwing an instance of 'std::out_of_range'\n  what():  at\n"
    assert blamed(cycles(1 << 60), stderr=thrown) == {}


def test_minus_one_as_an_attribute_means_all_and_a_seed_may_be_anything():
    op = operation("Inter", attributes=[number("num_rows", -1), number("seed", 1 << 40)])
    assert blamed(op, stderr=THROWN) == {}
