"""What two names of a C++ function tell about the strings that it was built with."""

import pytest

from sigwhy.machine.cxx_names import other_strings, qualified, spellings

OLD = b"_ZN10tensorflow12OpDefBuilder5InputESs"
NEW = b"_ZN10tensorflow12OpDefBuilder5InputENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"


@pytest.mark.parametrize(
    ("name", "scopes"),
    [
        (OLD, b"_ZN10tensorflow12OpDefBuilder5InputE"),
        (b"_ZN10tensorflow8OpKernelC2Ev", b"_ZN10tensorflow8OpKernelC2E"),
        (b"_ZNK1a1bB5cxx11Ev", b"_ZNK1a1bB5cxx11E"),
        (b"_ZN1aIiE1bEv", b""),
        (b"printf", b""),
        (b"_ZN999a", b""),
        (b"_ZN", b""),
    ],
)
def test_the_name_of_a_function_ends_before_its_arguments(name, scopes):
    assert qualified(name) == scopes


def test_the_kind_of_string_shows_in_an_argument_or_in_what_is_returned():
    assert other_strings(OLD, NEW)
    assert other_strings(NEW, OLD)
    assert not other_strings(NEW, NEW)
    assert other_strings(b"_ZNK1a1bEv", b"_ZNK1a1bB5cxx11Ev")
    assert not other_strings(b"_ZN1a1bEi", b"_ZN1a1bEd")
    assert spellings(b"_ZNK1a1bEv") == (b"_ZNK1a1bE", b"_ZNK1a1bB5cxx11E")
    assert spellings(b"_ZNK1a1bB5cxx11Ev") == (b"_ZNK1a1bB5cxx11E", b"_ZNK1a1bE")
