"""The call that runs, by its line."""

import warnings

import pytest

from sigwhy.autopsy.written import written
from sigwhy.model.incident import Incident, PythonFrame


def call(line, part=None):
    """What the line calls, where ``part`` of it runs; without it no columns are known."""
    column = end = None
    if part is not None:
        column = line.encode().index(part.encode())
        end = column + len(part.encode())
    frame = PythonFrame(function="f", file="/a.py", line=1, column=column, end_column=end)
    return written(Incident(sources={"/a.py": {1: line}}), frame)


@pytest.mark.parametrize(
    ("line", "part", "name"),
    [
        ("y = lib.free(p + 8)", "lib.free(p + 8)", "lib.free"),
        ("y = f(lib.free(p), g(1))", "g(1)", "g"),
        ("größe = 'ä'; lib.größe(1)", "lib.größe(1)", "lib.größe"),  # columns count bytes
        ("v = pointer.contents", "pointer.contents", "pointer.contents"),
        ("v = table[9]", "table[9]", "table[…]"),
        ("v = (a + b)[9]", "(a + b)[9]", "…[…]"),
        ("v = a @ b", "a @ b", "a @ …"),
        ("v = f(1) // b", "f(1) // b", "f() // …"),
        ("v = a << b", "a << b", "a ? …"),
        ("CFUNCTYPE(None)(8)()", "CFUNCTYPE(None)(8)()", "CFUNCTYPE()()"),
        ("libs['x'].go(1)", "libs['x'].go(1)", "libs[].go"),
        ("v = -x + lib.go(1)", "-x", "lib.go"),  # no call: that of the line
    ],
)
def test_a_column_names_what_runs(line, part, name):
    assert call(line, part) == name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("    y = lib.free(p)", "lib.free"),
        ("print(lib.free(p))", "lib.free"),  # a wrapper is none
        ("if lib.check(p):", "lib.check"),
        ("for x in lib.rows(p):", "lib.rows"),
        ("with lib.open(p) as f:", "lib.open"),
        ("result = lib.crash(", "lib.crash"),  # it goes on below
        ("result = lib.crash(x, [1,", "lib.crash"),
        ("else:", None),
        ("x = 1", None),
        ("print(x)", None),
        ("", None),
        ("@#$%", None),
        ("x = '", None),
        ("\0", None),
    ],
)
def test_before_python_3_11_the_line_must_do(line, name):
    assert call(line) == name


@pytest.mark.parametrize(
    "line",
    ["(" * 100_000, "-" * 100_000 + "1", "a." * 50_000 + "b()", "f(" * 900, "x" * 1_000_000],
    ids=["open", "minus", "dots", "calls", "name"],
)
def test_a_hostile_line_is_survived(line):
    found = call(line, line[:500])
    assert found is None or len(found) < 500


def test_columns_beyond_the_line_and_halves_of_characters_do_no_harm():
    for column, end in ((0, 10**6), (-5, -1), (1, 2), (9, 3)):
        frame = PythonFrame(function="f", file="/a.py", line=1, column=column, end_column=end)
        assert written(Incident(sources={"/a.py": {1: "ää.f(1) \ud800"}}), frame) is None
        assert written(Incident(sources={"/a.py": {1: "ää.f(1)"}}), frame) in {None, "ää.f"}


def test_a_line_that_python_would_warn_of_is_read_in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert call(r"lib.find('\d')") == "lib.find"


def test_a_line_that_was_not_kept_is_not_guessed():
    frame = PythonFrame(function="f", file="/a.py", line=2)
    assert written(Incident(sources={"/a.py": {1: "f()"}}), frame) is None
    assert written(Incident(), frame) is None
