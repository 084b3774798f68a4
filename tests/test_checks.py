"""A check finds exactly the lines marked ``# problem: SEVERITY`` in its examples, and no other."""

import re
from pathlib import Path

import pytest

from sigwhy.checks import checks, looked
from sigwhy.subjects.python_source import PythonSource

FOLDER = Path(__file__).parent / "checks"
PYTHON = sorted(FOLDER.glob("py_*/*.py"))
MARK = re.compile(r"# problem: (error|warning|note)$", re.MULTILINE)


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
