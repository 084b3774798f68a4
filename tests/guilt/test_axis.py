from tests.guilt.tried import blamed, number, operation, tensor


def test_an_axis_far_from_every_dimension_is_guilty():
    given = operation("quantise", [tensor("x", [2, 2])], [number("axis", -1250999896764)])
    assert blamed(given, signal="SIGSEGV", address=8)["axis"][0] == "exact"


def test_an_axis_of_the_input_is_innocent():
    given = operation("sum", [tensor("x", [2, 2])], [number("dim", -1), number("size", 1 << 40)])
    assert blamed(given, signal="SIGSEGV", address=8) == {}
