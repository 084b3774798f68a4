"""The text for the maintainers of the package that is to blame."""

import msgspec
import pytest

from sigwhy import explain
from sigwhy.explain import judge
from sigwhy.model.case import Gathered
from sigwhy.model.incident import Incident, Module, NativeFrame, Thread
from sigwhy.report import issue
from tests.report.incidents import NULL_POINTER, SITE


def of(package, version, *, function="boom", **fields):
    """An Incident that died in a library of this package."""
    path = f"{SITE}/{package.replace('-', '_')}/_core.so"
    frame = NativeFrame(address=1, function=function, library=path, offset=16)
    incident = msgspec.structs.replace(
        NULL_POINTER,
        threads=[Thread(tid=71, name="python", crashed=True, native=[frame])],
        modules=[Module(path=path, distribution=package, version=version)],
        packages={package: version, "pip": "25.0"},
        system="Debian GNU/Linux 12 (bookworm), Linux 6.1",
        cpu="A CPU of 2026",
        cpu_flags=["sse2", "avx2"],
        **fields,
    )
    return issue.render(judge(Gathered(()), incident))


@pytest.mark.parametrize(
    ("package", "project"),
    [
        ("tensorflow", "tensorflow/tensorflow"),
        ("tensorflow-cpu", "tensorflow/tensorflow"),
        ("keras", "keras-team/keras"),
        ("ai-edge-litert", "google-ai-edge/LiteRT"),
        ("tflite-runtime", "google-ai-edge/LiteRT"),
        ("torch", "pytorch/pytorch"),
        ("numpy", "numpy/numpy"),
    ],
)
def test_the_form_is_that_of_the_package_to_blame(package, project):
    told = of(package, "9.8.7")
    assert told.startswith(f"<!-- for https://github.com/{project}/issues/new -->")
    assert "9.8.7" in told


def test_any_other_package_gets_a_form_too():
    told = of("numfast", "1.4.2")
    assert "numfast 1.4.2" in told
    assert "### How to reproduce it" in told


def test_versions_system_cpu_and_command_are_filled_in():
    told = of("tensorflow", "2.21.0")
    assert "* **TensorFlow version:** tensorflow 2.21.0" in told
    assert "* **Python version:** 3.11.7" in told
    assert "Debian GNU/Linux 12 (bookworm), Linux 6.1, x86\\_64" in told
    assert "A CPU of 2026 with avx2" in told
    assert "`/srv/env/bin/python train.py --epochs=3`" in told
    assert "[tensorflow 2.21.0]" in told


def test_what_nobody_can_know_is_marked():
    told = of("tensorflow", "2.21.0")
    assert f"* **GPU model and memory:** {issue.UNKNOWN}" in told
    assert "please try: pip install tf-nightly" in told
    assert "### Not known" in told
    assert "kernel's log" in told


def test_secrets_and_home_folders_are_taken_out():
    told = of(
        "numpy",
        "2.0",
        stderr="loading /home/anna/secret/plan.py\nhttps://anna:hunter2@example.org/x\n",
    )
    assert "~/secret/plan.py" in told
    assert "anna" not in told
    assert "hunter2" not in told


def test_a_fence_cannot_be_broken_by_what_was_printed():
    told = of("numpy", "2.0", stderr="```\n# owned\n")
    assert "````text" in told


def test_a_pasted_text_is_enough_for_a_form():
    text = "#0  0x00007f00 in at::native::add() from /x/site-packages/torch/lib/libtorch_cpu.so\n"
    told = issue.render(explain(text + "Segmentation fault (core dumped)\n"))
    assert "pytorch/pytorch" in told
    assert issue.UNKNOWN in told


def test_an_incident_that_tells_nothing_is_no_error():
    assert issue.UNKNOWN in issue.render(judge(Gathered(()), Incident()))
