"""What ``check`` calls an error in a model is one: a real runtime dies of it, or refuses it, and runs the good ones."""

import runpy
import signal
import subprocess
from pathlib import Path

import pytest

from sigwhy.tflite.written import written
from tests.live.frameworks import python_of

pytestmark = pytest.mark.live

FOLDER = Path(__file__).parents[1] / "checks"
EXAMPLES = sorted(FOLDER.glob("tflite_*/*.py"))
RUN = """
import os, resource, sys
from ai_edge_litert.interpreter import Interpreter
import numpy as np
for line in sys.stdin:
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            with open(line.strip(), "rb") as stream:
                model = Interpreter(model_content=stream.read(), num_threads=1)
            model.allocate_tensors()
            for one in model.get_input_details():
                model.set_tensor(one["index"], np.zeros(one["shape"], one["dtype"]))
            model.invoke()
        except Exception:
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    print(-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status), flush=True)
"""


@pytest.fixture(scope="module")
def fates(tmp_path_factory):
    """What became of each example, in a child of its own."""
    folder = tmp_path_factory.mktemp("models")
    paths = []
    for n, example in enumerate(EXAMPLES):
        data = runpy.run_path(str(example))["MODEL"]
        paths.append(folder / f"{n}.tflite")
        paths[-1].write_bytes(data if isinstance(data, bytes) else written(data))
    done = subprocess.run(
        (python_of("tensorflow"), "-c", RUN),
        input="".join(f"{path}\n" for path in paths),
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    return dict(zip(EXAMPLES, map(int, done.stdout.split()), strict=True))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_runtime_agrees(fates, path):
    dies = runpy.run_path(str(path)).get("DIES")
    if path.stem.startswith("good_"):
        assert fates[path] == 0
    elif dies:
        assert fates[path] == -signal.Signals[dies]
