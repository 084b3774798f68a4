"""Checks of shared objects: each finds what is wrong in its examples, and the loader agrees."""

import platform
import re
import shutil
import sys
from pathlib import Path

import pytest

from sigwhy.checks import checks, looked
from sigwhy.subjects.python_environment import PythonEnvironment
from sigwhy.subjects.shared_object import SharedObject, this_cpu
from tests.built import IMPORT, LOAD, Example, outcome

FOLDER = Path(__file__).parent / "checks"
EXAMPLES = sorted(FOLDER.glob("so_*/*.c*"))
ENVIRONMENTS = sorted(FOLDER.glob("env_*/*.c*"))
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("cc") or not shutil.which("c++"),
    reason="shared objects are built here with a C compiler of Linux",
)
every_example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: f"{p.parent.name}/{p.stem}")


@pytest.fixture
def built(path, tmp_path):
    example = Example.of(path)
    cpu = example.one("cpu")
    if cpu and platform.machine() != cpu.replace("-", "_"):
        pytest.skip(f"for {cpu} only")
    if example.one("unless cpu") in this_cpu():
        pytest.skip(f"this CPU has {example.one('unless cpu')}")
    return example, *example.build(tmp_path)


@every_example
def test_a_check_of_shared_objects_finds_what_is_marked(path, built):
    example, file, around = built
    found = [p.severity for p in checks()[path.parent.name].look(SharedObject.of(file, around))]
    marked = example.one("problem")
    assert found == ([marked] if marked else [])


@every_example
def test_no_other_check_of_shared_objects_is_disturbed(path, built):
    _, file, around = built
    found = looked(SharedObject.of(file, around), "so")
    assert not found.notes
    errors = {p.id for p in found.problems if p.severity == "error"}
    assert errors <= {path.parent.name.replace("_", "-")}


@pytest.mark.live
@every_example
def test_the_loader_agrees(path, built):
    example, file, _ = built
    way = "import" if example.one("import") else "load"
    said = outcome(IMPORT if way == "import" else LOAD, file)
    assert re.search(example.one(way), said), said


@pytest.mark.parametrize("path", ENVIRONMENTS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_check_of_environments_finds_what_is_marked(path, built):
    example, _, around = built
    env = PythonEnvironment.of(Path(around.env))
    found = [p.severity for p in checks()[path.parent.name].look(env)]
    marked = example.one("problem")
    assert found == ([marked] if marked else [])
    assert not looked(env, "env").notes
