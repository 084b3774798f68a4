"""What ``check`` calls an error in a source is one: the program dies as its first line says."""

import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.live.frameworks import python_of

pytestmark = pytest.mark.live

FOLDER = Path(__file__).parents[1] / "checks"
DIES = re.compile(r"# dies: (SIG\w+)\n")
EXAMPLES = {
    path: found[1]
    for path in sorted(FOLDER.glob("py_*/*.py"))
    if (found := DIES.match(path.read_text(encoding="utf-8")))
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_bad_example_dies(path, tmp_path):
    done = subprocess.run(
        (python_of("tensorflow"), str(path)),
        cwd=tmp_path,
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == -signal.Signals[EXAMPLES[path]], done.stderr[-2000:]
