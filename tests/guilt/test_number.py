from tests.guilt.tried import blamed, number, operation, tensor

NEGATIVE = "Non-OK-status: InitDims(dim_sizes) status: INVALID_ARGUMENT: Expected shape dimensions to be non-negative, got "


def test_a_rare_number_is_found_again_among_the_attributes():
    record = operation("Record", attributes=[number("batch_size", -77), number("buffer", 4)])
    assert blamed(record, says=NEGATIVE + "-77") == {
        "batch_size": ("exact", "batch_size = -77 is negative")
    }


def test_minus_one_fits_but_not_exactly():
    record = operation("Record", attributes=[number("batch_size", -1)])
    assert blamed(record, says=NEGATIVE + "-1")["batch_size"][0] == "likely"


def test_a_number_that_was_cut_to_32_bits_is_recognised():
    record = operation("Pad", [tensor("paddings", [2], 1, (1 << 32) - 77, dtype="int64")])
    assert list(blamed(record, says=NEGATIVE + "-77")) == ["paddings"]


def test_a_size_that_overflows_is_named_with_its_place():
    big = operation("Fill", [tensor("dims", [2], 1 << 40, 1 << 40, dtype="int64")])
    says = "Non-OK-status: x status: INVALID_ARGUMENT: Encountered overflow when multiplying 1099511627776 with 1099511627776, result: -1"
    assert blamed(big, says=says)["dims"][0] == "exact"


def test_small_positive_numbers_stand_everywhere_and_prove_nothing():
    record = operation("Record", attributes=[number("batch_size", 3)])
    assert blamed(record, says="Check failed: rows == 4 (3 vs. 4)") == {}


def test_the_number_of_an_error_of_the_system_is_no_argument():
    record = operation("Record", attributes=[number("threads", 5000)])
    says = "Check failed: ret == 0 (5000 vs. 0) Thread creation via pthread_create() failed."
    assert blamed(record, says=says) == {}
