"""Pointers made of the bytes with which allocators fill memory."""

import pytest

from sigwhy.autopsy import poison
from sigwhy.model.fact import Notice
from tests.autopsy.made import fault, told


def notice(value, **known):
    known.setdefault("registers", {"rdi": value})
    return told(poison, fault(None, kind=128, **known), Notice)


@pytest.mark.parametrize(
    ("value", "who", "mechanism"),
    [
        (0xDDDD_DDDD_DDDD_DDDD, "Python's debug allocator", "use-after-free"),
        (0xDDDD_DDDD_DDDD_DDDD + 0x20, "Python's debug allocator", "use-after-free"),
        (0xCDCD_CDCD_CDCD_CDCD, "Python's debug allocator", "uninitialised-read"),
        (0xFDFD_FDFD_FDFD_FDFD, "Python's debug allocator", "out-of-bounds-read"),
        (0xDBDB_DBDB_DBDB_DBDB, "Python's debug allocator before 3.8", "use-after-free"),
        (0x5A5A_5A5A_5A5A_5A5A, "jemalloc", "use-after-free"),
        (0xBEBE_BEBE_BEBE_BEBE, "AddressSanitizer", "uninitialised-read"),
    ],
)
def test_a_pattern_tells_who_wrote_it_and_what_it_means(value, who, mechanism):
    found = notice(value)
    assert (found.subject, found.mechanism) == (who, mechanism)


@pytest.mark.parametrize("value", [0, 8, 0xDDDD_DDDD, 0xDDDD_DDDD_DDDD_0000, 0x4141_4141_4141_4141])
def test_other_values_are_no_pattern(value):
    assert notice(value) is None


def test_only_the_register_that_was_followed_counts():
    assert notice(0, registers={"rdi": 0x7F00, "rax": 0xDDDD_DDDD_DDDD_DDDD}) is None


def test_a_register_with_an_odd_name_does_no_harm():
    found = notice(0, registers={"(": 0xDDDD_DDDD_DDDD_DDDD, "rdi": 0xDDDD_DDDD_DDDD_DDDD})
    assert found.mechanism == "use-after-free"


def test_other_machines_and_unknown_code_tell_nothing():
    assert notice(0xDDDD_DDDD_DDDD_DDDD, machine="aarch64") is None
    assert notice(0xDDDD_DDDD_DDDD_DDDD, code="") is None
