from tests.guilt.tried import blamed, operation, report, tensor

DATA = 0x7F0000100000
LOAD = "8b0488"  # mov eax, [rax+rcx*4]


def take(*indices):
    inputs = [
        tensor("params", [4, 3], address=DATA),
        tensor("indices", [len(indices)], *indices, dtype="int32"),
    ]
    return operation("Take", inputs)


def test_an_index_whose_row_is_where_the_fault_was_is_guilty():
    at = DATA + 12 * 100_000 + 4
    assert blamed(take(1, 100_000), signal="SIGSEGV", address=at) == {
        "indices": ("exact", "indices[1] = 100000 leads outside of params, whose first size is 4")
    }


def test_an_index_inside_of_the_data_is_never_guilty():
    assert blamed(take(1, 2), signal="SIGSEGV", address=DATA + 12) == {}


def test_a_rare_value_in_the_index_register_is_guilty():
    held = {"rax": DATA, "rcx": 7_000_000, "rip": 0x400000}
    found = blamed(take(0, 7_000_000), signal="SIGSEGV", address=1, code=LOAD, registers=held)
    assert found["indices"] == (
        "exact",
        "indices[1] = 7000000 is what the instruction counted with, in rcx",
    )


def test_a_small_value_in_a_register_proves_nothing():
    held = {"rax": DATA, "rcx": 2, "rip": 0x400000}
    assert blamed(take(2), signal="SIGSEGV", address=1, code=LOAD, registers=held) == {}


def test_a_negative_index_is_likely_where_nothing_else_tells():
    told = report(take(-3, 2), signal="SIGSEGV", address=0x10)
    assert told.culprit.argument == "indices"
    assert told.culprit.value == "-3"


def test_an_index_is_guilty_only_of_a_death_by_memory():
    assert blamed(take(-3), signal="SIGFPE") == {}
