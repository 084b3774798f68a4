"""A check finds what is wrong in its bad examples, and nothing in its good ones.

Of a source the guilty lines are marked ``# problem: SEVERITY``. An example of a model is a file that builds it:
``MODEL``, and what is found in ``PLACE``, with ``SEVERITY`` where that is not ``error``; ``DIES`` is the signal by which it
kills the runtime of the live tests.
"""

import re
import runpy
from pathlib import Path

import pytest

from sigwhy.checks import checks, looked
from sigwhy.model.target import Target
from sigwhy.subjects.cpp_source import CppSource
from sigwhy.subjects.python_source import PythonSource
from sigwhy.subjects.tflite_model import TfliteModel
from sigwhy.tflite.written import written
from tests.tflite.zoo import ZOO, bytes_of

FOLDER = Path(__file__).parent / "checks"
MODELS = sorted(FOLDER.glob("tflite_*/*.py"))
PYTHON = sorted(FOLDER.glob("py_*/*.py"))
CPP = sorted(FOLDER.glob("cc_*/*.cc"))
MARK = re.compile(r"(?:#|//) problem: (error|warning|note)$", re.MULTILINE)


@pytest.mark.parametrize("path", PYTHON, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_check_finds_what_is_marked(path):
    source = PythonSource.of(path.read_bytes(), path.name)
    marked = [(n, m[1]) for n, line in enumerate(source.lines, 1) if (m := MARK.search(line))]
    found = [(p.line, p.severity) for p in checks()[path.parent.name].look(source)]
    assert found == marked


@pytest.mark.parametrize("path", PYTHON, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_no_other_check_is_disturbed(path):
    found = looked(PythonSource.of(path.read_bytes(), path.name), "py")
    assert not found.notes
    if path.stem.startswith("good_"):
        assert not [p for p in found.problems if p.severity == "error"]


@pytest.mark.parametrize("path", CPP, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_check_finds_what_is_marked_in_cpp(path):
    source = CppSource.of(path.read_bytes(), path.name)
    lines = source.text.split("\n")
    marked = [(n, m[1]) for n, line in enumerate(lines, 1) if (m := MARK.search(line))]
    found = [(p.line, p.severity) for p in checks()[path.parent.name].look(source)]
    assert found == marked


@pytest.mark.parametrize("path", CPP, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_good_cpp_example_is_good_for_every_check(path):
    found = looked(CppSource.of(path.read_bytes(), path.name), "cc")
    assert not found.notes
    if path.stem.startswith("good_"):
        assert not found.problems


def model(path):
    """What an example of a model says."""
    said = runpy.run_path(str(path))
    data = said["MODEL"]
    return said, TfliteModel.of(
        data if isinstance(data, bytes) else written(data),
        targets=tuple(Target.of(word) for word in said.get("TARGETS", ())),
        memory_limit=said.get("LIMIT"),
        verbose=said.get("VERBOSE", False),
    )


@pytest.mark.parametrize("path", MODELS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_check_finds_what_is_wrong_in_a_model(path):
    said, subject = model(path)
    problems = list(checks()[path.parent.name].look(subject))
    if path.stem.startswith("good_"):
        assert problems == []
        return
    wanted = said.get("SEVERITY", "error")
    assert any(said["PLACE"] in p.place and p.severity == wanted for p in problems), problems


@pytest.mark.parametrize("name", ZOO)
def test_a_valid_model_has_no_problem(name):
    found = looked(TfliteModel.of(bytes_of(name)), "tflite")
    assert found.problems == found.notes == ()
