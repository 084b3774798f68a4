"""Real deaths in NumPy, SciPy, pandas, OpenCV, Arrow and HDF5: which call it was, and which array."""

import json
import subprocess
import sys

import pytest

from tests.live.array_programs import PROGRAMS
from tests.live.frameworks import python_of
from tests.live.watched import SECONDS

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(sys.platform != "linux", reason="sigwhy run works on Linux"),
]


def died(folder, code):
    """What the document says of a program that was run in a folder of its own."""
    script = folder / "program.py"
    script.write_text(f"{code}\n")
    command = [sys.executable, "-m", "sigwhy", "run", "--quiet", "--incidents", folder / "kept"]
    command += ["--json", folder / "said.json", "--", python_of("arrays"), script]
    subprocess.run(command, cwd=folder, capture_output=True, timeout=SECONDS, check=False)
    return json.loads((folder / "said.json").read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_call_and_the_array_are_named(name, tmp_path):
    program = PROGRAMS[name]
    said = died(tmp_path, program.code)
    op = said["op"] or {}
    assert (op.get("framework"), op.get("op")) == (program.framework, program.op)
    if program.framework:
        assert op["grade"] == "fact"
    verdict = said["verdict"]
    assert verdict["cause"] in program.causes
    if program.guilty:
        marked = [one["name"] for one in op["inputs"] if one["guilty"]]
        assert program.guilty in (verdict["culprit"]["argument"], *marked)


def test_a_hole_in_an_array_is_told_in_the_words_of_the_user(tmp_path):
    said = died(tmp_path, PROGRAMS["an operator"].code)
    (lent,) = (one for one in said["op"]["inputs"] if one["guilty"])
    assert (lent["dtype"], lent["shape"], lent["memory"]) == ("float64", [131072], "protected")
    assert lent["variable"] == "lent"
    assert said["op"]["call"] == "bias + …"
