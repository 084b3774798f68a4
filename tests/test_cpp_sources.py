"""C++ sources: what the tree tells, and what is said where there is no parser."""

import sys

import pytest

import sigwhy
from sigwhy.check import Wishes, inspect
from sigwhy.model.error import UsageError
from sigwhy.subjects import cpp_source
from sigwhy.subjects.cpp_source import CppSource, always_before

PROGRAM = """#include "tensorflow/lite/interpreter.h"
void Run(tflite::Interpreter* i) {
  /* ä */ i->Invoke();
}
"""
BRANCHES = b"""
void Op::Compute(OpKernelContext* c) {
  a();
  if (x) { b(); } else { d(); }
  auto f = [&] { e(); };
  g();
}
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "run.cc"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


@pytest.fixture
def without_parser(monkeypatch):
    monkeypatch.setitem(sys.modules, "tree_sitter_cpp", None)
    cpp_source._parser.cache_clear()
    yield
    cpp_source._parser.cache_clear()


def test_columns_are_characters(program):
    (problem,) = sigwhy.check(program)
    assert (problem.id, problem.line, problem.column) == ("cc-tflite-status-ignored", 3, 11)


def test_a_comment_takes_a_problem_away(program):
    program.write_text(PROGRAM.replace(";\n}", ";  // sigwhy: ignore[cc-tflite-status-ignored]\n}"))
    assert sigwhy.check(program) == []


def test_without_the_parser_it_is_said_how_to_get_it(program, without_parser):
    with pytest.raises(UsageError, match=r"pip install 'sigwhy\[cpp\]'"):
        inspect([program], Wishes(cache=False))


def test_without_the_parser_other_files_are_looked_at(program, without_parser):
    program.with_suffix(".py").write_text("import tensorflow\n", encoding="utf-8")
    program.with_name("two.cc").write_text(PROGRAM, encoding="utf-8")
    done = inspect([program.parent], Wishes(cache=False))
    assert done.checked == 1
    assert done.notes == (cpp_source.LACKING,)


def test_what_runs_before_what_is_known():
    source = CppSource.of(BRANCHES)
    (function,) = source.functions
    assert (function.owner, function.name, function.context) == ("Op", "Compute", "c")
    at = {call.name: call.node for call in function.calls}
    pairs = {(x, y) for x in at for y in at if always_before(at[x], at[y])}
    assert pairs == {("a", y) for y in "bdeg"}
