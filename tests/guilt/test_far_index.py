import msgspec

from tests.guilt.tried import blamed, operation, report, tensor

DATA = 0x7F0000100000
FAR = 1 << 33


def data(name="data", shape=(4, 3), strides=(3, 1)):
    return tensor(name, list(shape), strides=list(strides), address=DATA)


def numbers(name, *extremes, elements=100_000):
    return tensor(name, [elements], 1, 2, dtype="int64", extremes=list(extremes))


def test_a_value_that_was_not_kept_is_found_by_the_address_it_leads_to():
    at = DATA + FAR * 3 * 4 + 8
    found = report(
        operation("take", [data(), numbers("where", 0, FAR)]), signal="SIGSEGV", address=at
    )
    assert (found.culprit.argument, found.culprit.value) == ("where", str(FAR))


def test_a_value_that_leads_elsewhere_is_only_odd():
    told = blamed(
        operation("take", [data(), numbers("indices", 0, FAR)]), signal="SIGSEGV", address=8
    )
    assert told == {
        "indices": ("likely", f"indices holds {FAR}, which is an index of nothing here")
    }


def test_large_numbers_that_are_no_index_are_innocent():
    given = [data(), numbers("seconds", 0, FAR)]
    assert blamed(operation("mul", given), signal="SIGSEGV", address=8) == {}


def test_numbers_within_the_data_are_innocent():
    given = [data(shape=(100_000, 3)), numbers("indices", 0, 99_999)]
    assert blamed(operation("take", given), signal="SIGSEGV", address=DATA + 4) == {}


def test_the_indices_of_a_sparse_tensor_are_held_against_its_shape():
    given = [tensor("x", [4, 4]), numbers("x.indices", 0, 4), tensor("x.values", [9])]
    assert blamed(operation("add", given), signal="SIGSEGV", address=8)["x.indices"] == (
        "exact",
        "x.indices holds 4, and x has the shape [4, 4]",
    )
    given[1] = numbers("x.indices", 0, 3)
    assert blamed(operation("add", given), signal="SIGSEGV", address=8) == {}


def test_the_rows_of_a_compressed_matrix_count_its_values():
    rows = numbers("x.compressed_indices", 0, 10)
    given = [tensor("x", [4, 4]), rows, tensor("x.values", [9])]
    assert "x.compressed_indices" in blamed(operation("mv", given), signal="SIGSEGV", address=8)
    given[1] = msgspec.structs.replace(rows, extremes=[0, 9])
    assert blamed(operation("mv", given), signal="SIGSEGV", address=8) == {}


def test_a_length_that_runs_past_the_end_is_guilty():
    given = [data(shape=(4,), strides=(1,)), numbers("lengths", FAR, FAR, elements=1)]
    told = blamed(operation("reduce", given), signal="SIGSEGV", address=DATA + 0x20000)
    assert told["lengths"][0] == "exact"
