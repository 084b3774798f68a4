"""TensorFlow Lite models that die, each in one known operator: is it named, with its place and tensors?"""

import functools
import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.live.frameworks import python_of
from tests.live.watched import PYTHON, SECONDS

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(sys.platform != "linux", reason="sigwhy run works on Linux"),
]
MAKER = Path(__file__).parent / "tflite_models.py"
LEAST = -(2**31)
MODELS = """
import json, sys
sys.path.insert(0, {folder!r})
import tflite_models as made
from pathlib import Path
place = Path({place!r})
change = dict(made.damages("TRANSPOSE"))["TRANSPOSE-input1-none"]
(place / "absent.tflite").write_bytes(made.model("TRANSPOSE", change))
(place / "divisor.tflite").write_bytes(made.divisors(3))
(place / "layers.tflite").write_bytes(made.layers())
(place / "custom.tflite").write_bytes(made.without_options())
(place / "circle.tflite").write_bytes(made.circle())
"""


class Death(NamedTuple):
    """A model, what a program does with it, and what is to be said of its death."""

    model: str
    how: dict
    op: str | None
    index: int | None
    phase: str | None
    cause: str | None
    argument: str = ""


DEATHS = {
    "an input that is left out": Death("absent", {}, "TRANSPOSE", 5, "prepare", "malformed-model", "input 1"),
    "a quotient that does not fit": Death("divisor", {"fill": LEAST}, "FLOOR_MOD", 3, "invoke", None),
    "a file that was cut": Death("layers", {"fill": 1, "cut": 4096}, "FULLY_CONNECTED", 0, "invoke", "file-truncated"),
    "graphs that call each other": Death("circle", {}, "WHILE", 5, "prepare", "malformed-model"),
    "a constant that is written to": Death("layers", {"constant": "t1"}, "Interpreter.set_tensor", None, None, "op-argument", "t1"),
    "a custom operator without options": Death("custom", {}, "AudioSpectrogram", 3, "init", "malformed-model"),
    "an abort of the program's own": Death("divisor", {"fill": 1, "afterwards": True}, None, None, None, "self-abort"),
}  # fmt: skip


@functools.cache
def told(folder):
    """What is said of every death, in JSON."""
    python = python_of("tensorflow")
    place = Path(folder)
    code = MODELS.format(folder=str(MAKER.parent), place=str(place))
    subprocess.run([python, "-c", code], check=True, timeout=SECONDS, capture_output=True)
    with ThreadPoolExecutor(2) as pool:
        names = list(DEATHS)
        return dict(
            zip(names, pool.map(functools.partial(_die, python, place), names), strict=True)
        )


def _die(python, place, name):
    death = DEATHS[name]
    own = place / name.replace(" ", "-")
    own.mkdir()
    model = shutil.copy(place / f"{death.model}.tflite", own / "model.tflite")
    command = (python, str(MAKER), "use", str(model), json.dumps(death.how))
    run = (
        PYTHON,
        "-m",
        "sigwhy",
        "run",
        "--quiet",
        "--json",
        str(own / "told.json"),
        "--",
        *command,
    )
    done = subprocess.run(run, cwd=own, capture_output=True, check=False, timeout=SECONDS)
    assert done.returncode < 0, done.stderr.decode()
    return json.loads((own / "told.json").read_text())


@pytest.fixture(scope="module")
def all_told(tmp_path_factory):
    return told(str(tmp_path_factory.mktemp("models")))


@pytest.fixture
def op(all_told):
    return lambda name: all_told[name]["op"] or {}


@pytest.mark.parametrize("name", DEATHS)
def test_the_operator_is_named_with_its_place(op, name):
    death, found = DEATHS[name], op(name)
    assert (found.get("op"), found.get("index")) == (death.op, death.index)
    assert found.get("phase") == death.phase
    assert found.get("grade", "fact") == "fact"


@pytest.mark.parametrize("name", [name for name, death in DEATHS.items() if death.cause])
def test_the_cause_is_what_was_done(all_told, name):
    death, verdict = DEATHS[name], all_told[name]["verdict"]
    assert verdict["cause"] == death.cause
    assert death.argument in (verdict["culprit"]["argument"] or "")


def test_tensors_have_names_types_shapes_and_values(op):
    x, y = op("a quotient that does not fit")["inputs"]
    assert (x["name"], x["dtype"], x["shape"], x["values"]) == ("t0", "int32", [4], [LEAST] * 4)
    assert (y["dtype"], y["values"]) == ("int32", [-1] * 4)


def test_the_call_that_led_there_is_named(op):
    assert op("an input that is left out")["call"] == "Interpreter.allocate_tensors"
    assert op("a quotient that does not fit")["call"] == "Interpreter.invoke"


def test_the_model_file_is_named(op):
    assert op("graphs that call each other")["model"].endswith("model.tflite")


def test_options_of_the_operator_are_read_from_the_model(op):
    assert op("a file that was cut")["attributes"].get("fused_activation_function") in (
        "NONE",
        None,
    )
    assert op("graphs that call each other")["attributes"]["body_subgraph_index"] == 0


def test_the_line_of_the_program_is_found(all_told):
    culprit = all_told["an input that is left out"]["verdict"]["culprit"]
    assert culprit["file"].endswith(MAKER.name)
    assert culprit["node"] == "operator 5 of subgraph 0"
