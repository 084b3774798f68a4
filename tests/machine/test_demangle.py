"""Mangled names, also those that were made to hurt."""

import time

import pytest

from sigwhy.machine import demangle
from sigwhy.machine.demangle import demangled

BOMB = "_Z1f1aIiiE" + "".join(f"S_IS{n}_S{n}_E" for n in "0123456789ABCDEFGHIJKLMNOPQRST")


@pytest.mark.parametrize(
    ("mangled", "meant"),
    [
        ("_ZN10tensorflow12OpDefBuilder4AttrESs", "tensorflow::OpDefBuilder::Attr"),
        ("__ZN3foo3barEi", "foo::bar"),
        ("_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo"),
        ("_ZN3fooEv.part.0", "foo"),
        ("_Z3fooi@@V1.2", "foo"),
    ],
)
def test_a_mangled_name_is_read_with_and_without_a_run_time(mangled, meant, monkeypatch):
    assert demangled(mangled).startswith(meant)
    demangled.cache_clear()
    monkeypatch.setattr(demangle, "_run_time", lambda: None)
    assert demangled(mangled).startswith(meant)
    demangled.cache_clear()


@pytest.mark.parametrize("name", ["main", "", "_", "_Z", "_Zebra!", "cblas_sgemm", "_ZN9999999aE"])
def test_a_name_that_is_no_cxx_stays(name):
    assert demangled(name) == name


def test_a_name_that_would_fill_the_memory_is_not_unfolded():
    before = time.perf_counter()
    assert len(demangled(BOMB)) < 1000
    assert len(demangled("_Z1f" + "P" * 100_000 + "i")) > 1000
    assert time.perf_counter() - before < 1
