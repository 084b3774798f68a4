from tests.guilt.tried import blamed, number, operation, report, tensor


def test_the_attribute_that_is_zero_is_the_divisor():
    pool = operation("Pool", [tensor("x", [4, 4])], [number("strides", 1, 0, 1, 1)])
    assert blamed(pool, signal="SIGFPE") == {"strides": ("exact", "strides[1] = 0 is the divisor")}
    assert report(pool, signal="SIGFPE").culprit.argument == "strides"


def test_a_seed_or_an_axis_of_zero_is_none():
    pool = operation("Pool", attributes=[number("seed", 0), number("axis", 0)])
    assert blamed(pool, signal="SIGFPE") == {}


def test_a_square_that_is_zero_in_32_bits_is_one():
    depth = operation("Depth", attributes=[number("block_size", 1 << 29)])
    assert blamed(depth, signal="SIGFPE")["block_size"][1] == (
        "the square of block_size = 536870912 is 0 in 32 bits, and that is the divisor"
    )


def test_a_size_of_zero_is_likely_one():
    pool = operation("Pool", [tensor("x", [4, 0])])
    assert blamed(pool, signal="SIGFPE")["x"][0] == "likely"


def test_a_zero_matters_only_where_something_was_divided():
    pool = operation("Pool", attributes=[number("strides", 1, 0)])
    assert blamed(pool, signal="SIGABRT") == {}
