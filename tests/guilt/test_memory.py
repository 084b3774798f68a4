from tests.guilt.tried import blamed, guilty, operation, report, tensor

DATA = 0x7F0000100000


def total(**more):
    return operation("Sum", [tensor("input", [1000], address=DATA, **more)])


def test_memory_that_is_gone_speaks_for_shared_memory_and_not_for_the_argument():
    told = report(total(standing="gone"), signal="SIGSEGV", address=DATA + 4)
    assert told.verdict.cause.id == "buffer-aliasing"
    assert told.culprit.argument == "input"
    assert told.seen.mechanism.id == "use-after-free"


def test_a_fault_elsewhere_makes_it_only_likely():
    assert blamed(total(standing="gone"), signal="SIGSEGV", address=8)["input"][0] == "likely"


def test_a_file_that_shrank_is_no_shared_memory():
    found = guilty(total(standing="gone", mapped="/srv/x.npy"), signal="SIGBUS", address=DATA + 8)
    assert found["input"].cause == "file-truncated"


def test_memory_that_is_there_is_innocent():
    assert blamed(total(), signal="SIGSEGV", address=DATA + 4) == {}
