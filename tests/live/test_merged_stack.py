"""A real crash below a callback from C: native and Python calls as one stack, on every Python here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sigwhy import explain
from sigwhy.report import issue, json, text
from tests.live.watched import fate, sigwhy

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(sys.platform != "linux", reason="sigwhy run works on Linux"),
]
CALLBACK = """\
import ctypes
libc = ctypes.CDLL(None)
KIND = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
def inner(depth):
    if depth == 0:
        return ctypes.string_at(1)
    return inner(depth - 1)
def compare(one, other):
    inner(2)
    return 0
def sort():
    numbers = (ctypes.c_int * 4)(4, 3, 2, 1)
    libc.qsort(numbers, 4, 4, KIND(compare))
sort()
"""
PYTHONS = [f"python3.{minor}" for minor in range(8, 15)]


def installed(name):
    """One of the interpreters that pyenv has made, which need not be on the PATH."""
    homes = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    version = name.removeprefix("python")
    return next(map(str, sorted(homes.glob(f"{version}.*/bin/{name}"))), None)


@pytest.fixture(params=PYTHONS, ids=lambda name: name.rpartition("/")[2])
def python(request):
    found = installed(request.param) or shutil.which(request.param)  # a shim of pyenv may refuse
    if not found or subprocess.run([found, "-c", "import ctypes"], check=False).returncode:
        pytest.skip(f"{request.param} is not here")
    return found


def test_python_and_native_calls_stand_in_the_order_of_their_calling(python, tmp_path):
    script = tmp_path / "callback.py"
    script.write_text(CALLBACK)
    ended = fate(*sigwhy("--incidents", str(tmp_path), "--", python, script))
    assert ended.status == -11
    report = explain(next(tmp_path.glob("*.sigwhy")))
    (died,) = (stack for stack in json.document(report).stacks if stack.crashed)
    told = [frame.function or "" for frame in died.frames]
    calls = ["string_at", *["inner"] * 3, "compare", "sort", "<module>"]
    python_calls = [frame.function for frame in died.frames if frame.language == "python"]
    assert python_calls == calls
    sorts = next(n for n, name in enumerate(told) if "sort" in name and name != "sort")
    assert told.index("compare") < sorts < told.index("sort")
    assert not any(name == "_PyEval_EvalFrameDefault" for name in told)
    assert "inner() at" in text.render(report)
    assert "callback.py" in issue.render(report)
