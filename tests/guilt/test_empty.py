from tests.guilt.tried import blamed, operation, tensor

MATCH = operation("Match", [tensor("patterns", [0], dtype="string"), tensor("x", [2])])


def test_the_only_empty_input_is_guilty_of_a_read_near_null():
    assert blamed(MATCH, signal="SIGSEGV", address=16) == {
        "patterns": ("exact", "patterns is empty, and its first element was asked for")
    }


def test_it_is_innocent_of_a_read_elsewhere():
    assert blamed(MATCH, signal="SIGSEGV", address=0x7F0000000000) == {}


def test_an_empty_input_is_only_likely_where_the_operation_had_ended():
    left = operation("Match", MATCH.inputs, state="left")
    assert blamed(left, signal="SIGSEGV", address=16)["patterns"][0] == "likely"
