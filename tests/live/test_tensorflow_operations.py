"""Programs that die in an operation of a real TensorFlow: is it named, and what it was given?"""

import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from sigwhy import explain
from sigwhy.autopsy.opened import opened
from sigwhy.model.fact import Op
from tests.live.frameworks import python_of

pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(500),
    pytest.mark.skipif(sys.platform != "linux", reason="sigwhy run works on Linux"),
]
HERE = Path(__file__).parent
PROGRAMS, SOURCE = HERE / "tensorflow_dying.py", HERE / "dying_op.cc"
SECONDS = 300
FLAGS = "import tensorflow as tf; print(*tf.sysconfig.get_compile_flags(), *tf.sysconfig.get_link_flags())"
SEGV, ABRT, FPE = (int(s) for s in (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE))
BY_OWN = ("nested", "constructor", "thrown", "divide", "check", "large")
OWN = ["first", "parts[0]", "parts[1]", "mixed[0]", "mixed[1]", "words"]


class Truth(NamedTuple):
    """How a program ends, in which operation and node, and in which state that was."""

    signal: int
    op: str
    node: str
    inputs: list
    state: str = "running"


TRUTHS = {
    "eager": Truth(SEGV, "Cumsum", "Cumsum", ["x", "axis"]),
    "function": Truth(SEGV, "Tanh", "outer/middle", ["x"]),
    "session": Truth(SEGV, "DiesAsTold", "deep/inside", ["first", "mixed[0]", "words"]),
    "pipeline": Truth(SEGV, "Cumsum", "Cumsum", ["x", "axis"]),
    "helper": Truth(SEGV, "Tanh", "Tanh", ["x"]),
    "predict": Truth(SEGV, "Cumsum", "Cumsum", ["x", "axis"]),
    "compiled": Truth(SEGV, "__inference_together", "__inference_together", ["x"]),
    "nested": Truth(SEGV, "DiesAsTold", "DiesAsTold", OWN),
    "constructor": Truth(SEGV, "DiesAsTold", "DiesAsTold", [], "constructing"),
    "thrown": Truth(SEGV, "DiesAsTold", "DiesAsTold", OWN, "left"),
    "divide": Truth(FPE, "DiesAsTold", "DiesAsTold", OWN),
    "check": Truth(ABRT, "DiesAsTold", "DiesAsTold", OWN),
    "large": Truth(SEGV, "DiesAsTold", "DiesAsTold", OWN),
}
PROTECTED = ("eager", "function", "pipeline", "helper", "predict", "compiled")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The custom operation, built as its author would build it."""
    python = python_of("tensorflow")
    target = tmp_path_factory.mktemp("operation") / "dying_op.so"
    flags = subprocess.run(
        [python, "-c", FLAGS], capture_output=True, text=True, timeout=60, check=True
    )
    words = flags.stdout.split()
    command = ["g++", "-O0", "-w", "-shared", "-fPIC", str(SOURCE), "-o", str(target), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    if done.returncode:
        pytest.skip(f"cannot compile: {done.stderr[-300:]}")
    return target


@pytest.fixture(scope="module")
def deaths(library, tmp_path_factory):
    """Each program's Incident by its name, and how it ended."""
    ended, names = {}, [*TRUTHS, "nothing"]
    for some in (names[:7], names[7:]):  # of one run, only so many deaths are kept
        kept = tmp_path_factory.mktemp("kept")
        watch = (sys.executable, "-m", "sigwhy", "run", "--quiet", "--incidents", str(kept), "--")
        done = subprocess.run(
            [*watch, python_of("tensorflow"), str(PROGRAMS), str(library), *some],
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        for name, pid, status in (line.split() for line in done.stdout.splitlines()):
            ended[name] = (int(status) & 0x7F, next(kept.glob(f"*-{pid}.sigwhy"), None))
    assert set(ended) == set(names), done.stderr[-2000:]
    return ended


@pytest.mark.parametrize("name", TRUTHS)
def test_the_operation_is_named_with_its_node_and_inputs(deaths, name):
    truth, (ended, path) = TRUTHS[name], deaths[name]
    assert ended == truth.signal
    first = opened(path).operations[0]
    assert first.op.startswith(truth.op)
    assert first.node.endswith(truth.node) or first.node.startswith(truth.node)
    assert first.state == truth.state
    assert first.is_hint == (truth.state == "left")
    assert [a.name for a in first.inputs] == truth.inputs
    if truth.op == "DiesAsTold":
        assert first.library.endswith("/dying_op.so")
        assert "DiesAsTold" in first.kernel


@pytest.mark.parametrize("name", TRUTHS)
def test_the_line_of_the_user_is_that_which_called_it(deaths, name):
    report = explain(deaths[name][1])
    if any("took too long" in blind for blind in report.incidents[0].blind):
        pytest.skip("this machine is too busy to see all stacks")
    lines = PROGRAMS.read_text().splitlines()
    wanted = next(n for n, line in enumerate(lines, 1) if line.endswith(f"# dies: {name}"))
    begins = next(n for n, line in enumerate(lines, 1) if "return operations.dies_as_told(" in line)
    op = report.case.first(Op)
    assert op.file == str(PROGRAMS)
    assert op.line == wanted or (name in BY_OWN and begins <= op.line <= begins + 4)


@pytest.mark.parametrize("name", PROTECTED)
def test_memory_that_may_not_be_read_is_said_to_be_so(deaths, name):
    assert opened(deaths[name][1]).operations[0].inputs[0].standing == "protected"


def test_inputs_and_attributes_are_told_by_their_values(deaths):
    first = opened(deaths["divide"][1]).operations[0]
    given = {a.name: a for a in first.inputs}
    assert (given["first"].dtype, given["first"].shape, given["first"].values) == (
        "float32",
        [2, 3],
        [1.0] * 6,
    )
    assert (given["parts[0]"].values, given["mixed[0]"].values, given["mixed[1]"].values) == (
        [1, 2],
        [5],
        [True],
    )
    assert given["words"].values == [
        "short",
        "a text that is longer than it could be inside",
        "b'z\\x00'",
    ]
    told = {a.name: a.text if a.kind == "dtype" else a.shape or a.values for a in first.attributes}
    assert told == {
        "T": "float32", "N": [2], "M": ["int64", "bool"], "how": ["divide"], "sizes": [3, 4, 5], "one": [9],
        "ratio": [0.5], "ratios": [0.5, 1.5], "flag": [True], "flags": [True, False, True, True],
        "kind": "int64", "form": [2, 3], "forms": ["[7]", "[8,9]"], "names": ["a", "bc"], "f": ["nothing"],
    }  # fmt: skip


def test_operations_of_other_threads_stand_behind(deaths):
    _, *others = opened(deaths["pipeline"][1]).operations
    assert all(one.state == "beside" for one in others)


def test_a_death_outside_of_operations_names_none(deaths):
    assert opened(deaths["nothing"][1]).operations == []
