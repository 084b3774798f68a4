"""A repro dies of the same signal as the program, in a fresh interpreter."""

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sigwhy.autopsy import incident_file
from sigwhy.report.repro import repro
from tests.live.frameworks import python_of
from tests.tflite import models

SECONDS = 100
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "2"}
pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

PROGRAMS = {
    # Called by Python itself: an integer is divided by the product of the known sizes.
    "eager": (
        "tensorflow",
        "SIGFPE",
        (
            "import tensorflow as tf\n"
            "tf.reshape(tf.zeros([5]), [0, 1879048192, 100000000, 1610612736, -1])\n"
        ),
    ),
    # The same as a node of a graph in a thread of tf.data, with an input too long for the script.
    "in tf.data": (
        "tensorflow",
        "SIGFPE",
        (
            "import tensorflow as tf\n"
            "@tf.function(input_signature=[tf.TensorSpec(None, tf.float32), tf.TensorSpec(None, tf.int32)])\n"
            "def risky(values, sizes):\n"
            "    return tf.reshape(values, sizes, name='risky')\n"
            "pair = (tf.range(500.0), [0, 1879048192, 100000000, 1610612736, -1])\n"
            "for one in tf.data.Dataset.from_tensors(pair).map(risky):\n"
            "    pass\n"
        ),
    ),
    # A variable of another type than the update: its handle tells its type and shape.
    "variable": (
        "tensorflow",
        "SIGABRT",
        (
            "import tensorflow as tf\n"
            "v = tf.Variable(tf.zeros([5, 2], tf.float64))\n"
            "tf.raw_ops.ResourceScatterNdUpdate(ref=v.handle, indices=[[0]], updates=[[1, 2]])\n"
        ),
    ),
    # The storage of a tensor was given back, and the tensor is used.
    "empty storage": (
        "arrays",
        "SIGSEGV",
        (
            "import torch\n"
            "x = torch.arange(4.0e5)\n"
            "x.untyped_storage().resize_(0)\n"
            "print(torch.sum(x))\n"
        ),
    ),
    # A strided view over an empty storage.
    "strides": (
        "arrays",
        "SIGSEGV",
        (
            "import torch\n"
            "x = torch.zeros(8).as_strided((2, 4), (1, 2))\n"
            "x.untyped_storage().resize_(0)\n"
            "print(torch.add(x, 1.0))\n"
        ),
    ),
    # Memory that may not be touched any more.
    "forbidden": (
        "arrays",
        "SIGSEGV",
        (
            "import ctypes, mmap, torch\n"
            "held = mmap.mmap(-1, 1 << 22)\n"
            "x = torch.frombuffer(held, dtype=torch.float32)\n"
            "libc = ctypes.CDLL(None)\n"
            "libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]\n"
            "libc.mprotect(x.data_ptr(), 1 << 22, 0)\n"
            "print(torch.mul(x, 2.0))\n"
        ),
    ),
    # A mapped file was cut.
    "cut file": (
        "arrays",
        "SIGBUS",
        (
            "import tempfile, torch\n"
            "file = tempfile.NamedTemporaryFile()\n"
            "file.truncate(1 << 22)\n"
            "x = torch.from_file(file.name, shared=True, size=1 << 20)\n"
            "file.truncate(0)\n"
            "print(torch.sum(x))\n"
        ),
    ),
    # The second operator of a model lacks its weights.
    "operator": (
        "tensorflow",
        "SIGSEGV",
        (
            "from ai_edge_litert.interpreter import Interpreter\n"
            "interpreter = Interpreter(model_path='model.tflite')\n"
            "interpreter.allocate_tensors()\n"
            "interpreter.invoke()\n"
        ),
    ),
}


@pytest.fixture(scope="module")
def _alone():
    """Frameworks are heavy: their programs die one after the other, also where tests run side by side."""
    import fcntl

    with Path(f"/tmp/sigwhy-repro-{os.getuid()}.lock").open("w") as lock:  # noqa: S108 -- a lock, no secret
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def ended(command, folder):
    world = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | QUIET
    return subprocess.run(
        command, cwd=folder, env=world, capture_output=True, timeout=SECONDS, check=False
    )


def died(folder, framework, program, *options):
    """The Incident of a program that died."""
    (folder / "train.py").write_text(program)
    watch = [
        sys.executable,
        "-m",
        "sigwhy",
        "run",
        "--quiet",
        "--incidents",
        folder,
        *options,
        "--",
    ]
    done = ended([*map(str, watch), python_of(framework), "train.py"], folder)
    kept = sorted(folder.glob("*.sigwhy"))
    assert kept, done.stderr
    return kept[0]


@pytest.mark.usefixtures("_alone")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_repro_dies_of_the_same_signal(name, tmp_path):
    framework, expected, program = PROGRAMS[name]
    broken = models.chain()
    broken["subgraphs"][0]["operators"][1]["inputs"] = [1, -1, -1]
    (tmp_path / "model.tflite").write_bytes(models.bytes_of(broken))
    path = died(tmp_path, framework, program)
    incident = incident_file.read(path)
    assert incident.signal.name == expected
    made = repro(incident, incident_file.inputs_of(path), name="again")
    place = tmp_path / "elsewhere"
    place.mkdir()
    files = made.write(place / "again.py")
    done = ended([python_of(framework), "again.py"], place)
    assert -done.returncode == getattr(signal, expected), (made.script, done.stderr[-800:])
    if name == "in tf.data":
        assert [file.name for file in files] == ["again.py", "again.npz"]
    if name == "operator":
        assert (place / "again.tflite").stat().st_size < (tmp_path / "model.tflite").stat().st_size


@pytest.mark.usefixtures("_alone")
def test_as_much_of_the_inputs_is_kept_as_is_asked_for(tmp_path):
    program = (
        "import torch\n"
        "x = torch.zeros(1 << 20)\n"
        "y = torch.arange(8.0)\n"
        "y.untyped_storage().resize_(0)\n"
        "torch.cat([x, y])\n"
    )
    sizes = {}
    for amount in ("none", "small", "full"):
        folder = tmp_path / amount
        folder.mkdir()
        with zipfile.ZipFile(died(folder, "arrays", program, "--inputs", amount)) as packed:
            sizes[amount] = sum(
                m.file_size for m in packed.infolist() if m.filename.startswith("inputs/")
            )
            core = packed.getinfo("core").file_size
        assert core < 12 << 20
    assert sizes["none"] == 0
    assert sizes["small"] < 1 << 20
    assert sizes["full"] > 4 << 20


@pytest.mark.usefixtures("_alone")
def test_the_demo_lets_an_operation_die_and_die_again(tmp_path):
    page = tmp_path / "report.html"
    python = python_of("tensorflow")
    demo = [sys.executable, "-m", "sigwhy", "demo", "--python", python, "-o", str(page)]
    world = os.environ | {"TMPDIR": str(tmp_path), "COLUMNS": "200"}
    done = subprocess.run(demo, env=world, capture_output=True, text=True, timeout=280, check=False)
    assert "died of SIGSEGV in the TensorFlow op RaggedTensorToTensor" in done.stdout, done
    assert "<- guilty" in done.stdout
    assert "op = tf.raw_ops.RaggedTensorToTensor" in done.stdout
    assert "SIGSEGV: it dies of the same signal" in done.stdout
    assert "RaggedTensorToTensor" in page.read_text()
