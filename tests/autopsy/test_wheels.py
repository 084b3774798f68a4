"""Which wheel a file came with, and what is in the process twice."""

import os
import sys

import pytest

from sigwhy.autopsy import autopsy, build_id
from sigwhy.autopsy.wheels import by_library, known
from sigwhy.explain import judge
from sigwhy.model.case import Gathered
from sigwhy.model.fact import Notice
from sigwhy.model.incident import Incident, Module, PythonFrame, Signal, Thread

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Incidents are Linux's")


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "lib/python3.11/site-packages"

    def install(folder_name, *files, name=None):
        info = folder / f"{folder_name}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name or 'x'}\n")
        (info / "RECORD").write_text("".join(f"{file},sha256=x,1\n" for file in files))
        for file in files:
            place = folder / file.strip('"')
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(b"")
        return folder

    return install


def test_a_library_belongs_to_the_wheel_whose_record_names_it(site):
    folder = site(
        "num_fast-1.4.2", "numfast/_core.so", "num_fast.libs/libgomp-a34b.so", name="num-fast"
    )
    site("other-9.0", "numfast/_core.so.txt", name="other")
    paths = [
        f"{folder}/numfast/_core.so",
        f"{folder}/num_fast.libs/libgomp-a34b.so",
        "/usr/lib/x.so",
    ]
    found = known(Incident(modules=[Module(path=path) for path in paths]))
    assert [(m.distribution, m.version) for m in found.modules] == [
        *[("num-fast", "1.4.2")] * 2,
        (None, None),
    ]
    assert found.packages == {"num-fast": "1.4.2"}


def test_packages_that_are_always_asked_for_are_kept_too(site):
    site("numpy-2.0.0", "numpy/x.so", name="numpy")
    folder = site("private_thing-1.0", "private.py", name="private-thing")
    thread = Thread(tid=1, python=[PythonFrame(function="f", file=f"{folder}/private.py")])
    assert known(Incident(threads=[thread])).packages == {
        "numpy": "2.0.0",
        "private-thing": "1.0",
    }


def test_names_with_a_comma_are_quoted_in_a_record(site):
    folder = site("odd-1.0", '"odd/a,b.so"', name="odd")
    found = known(Incident(modules=[Module(path=f"{folder}/odd/a,b.so")]))
    assert found.modules[0].distribution == "odd"


def test_a_record_that_is_a_pipe_does_not_hang(site):
    folder = site("odd-1.0", name="odd")
    (folder / "odd-1.0.dist-info/RECORD").unlink()
    os.mkfifo(folder / "odd-1.0.dist-info/RECORD")
    path = f"{folder}/odd/a.so"
    assert known(Incident(modules=[Module(path=path)])).modules[0].distribution is None


def test_a_file_that_is_another_build_by_now_was_changed():
    now = build_id.of_file(sys.executable) or "0"
    module = Module(path=sys.executable, base=1)
    same = known(Incident(modules=[module]), lambda _: now).modules[0]
    other = known(Incident(modules=[module]), lambda _: "ab" * 20).modules[0]
    assert not same.changed
    assert other.build_id == "ab" * 20
    assert other.changed is bool(build_id.of_file(sys.executable))


def test_a_file_that_is_gone_was_deleted():
    assert known(Incident(modules=[Module(path="/nowhere/x.so")])).modules[0].deleted


def test_the_loader_names_a_file_by_another_way_and_it_is_found():
    modules = [
        Module(path="/srv/tf/libx.so.2"),
        Module(path="/a/liby.so"),
        Module(path="/b/liby.so"),
    ]
    find = by_library(modules)
    assert find("/srv/tf/python/platform/../../libx.so.2") is modules[0]
    assert find("/usr/lib/libx.so.2") is modules[0]
    assert find("/c/liby.so") is None
    assert find(None) is None


def notices(*modules):
    facts = autopsy(Incident(modules=list(modules))).facts
    return {fact.topic: fact.text for fact in facts if isinstance(fact, Notice)}


def test_two_openmp_run_times_are_told():
    told = notices(
        Module(path="/s/torch/lib/libgomp-a34b3233.so.1", distribution="torch", version="2.9"),
        Module(path="/s/sklearn.libs/libgomp-947d5fa1.so.1.0.0"),
        Module(path="/s/torch/lib/libtorch.so"),
    )
    assert told["openmp-loaded-twice"].startswith(
        "OpenMP is in the process twice: libgomp-a34b3233.so.1 of torch 2.9 and"
    )


def test_one_build_under_two_names_is_one_library():
    assert not notices(
        Module(path="/a/libgomp.so.1", build_id="aa"), Module(path="/b/libgomp.so.1", build_id="aa")
    )


def test_what_is_ordinary_weighs_nothing():
    modules = [
        Module(path="/s/numpy.libs/libscipy_openblas64_-ff651d7f.so"),
        Module(path="/s/scipy.libs/libscipy_openblas-68440149.so"),
    ]
    found = autopsy(Incident(modules=modules))
    assert not found.facts
    assert "OpenBLAS is in the process twice" in "\n".join(found.evidence[0].lines)


def test_loaded_twice_alone_is_no_verdict():
    modules = [Module(path="/a/libgomp-1.so.1"), Module(path="/b/libiomp5.so")]
    signal = Signal(name="SIGSEGV", number=11, code_number=1, address=0)
    report = judge(Gathered(()), Incident(signal=signal, modules=modules, pid=1, tid=1))
    assert report.verdict is None
    assert any(
        c.weight > 0 for f in report.findings if f.cause.id == "openmp-duplicate" for c in f.clues
    )


def test_a_replaced_library_is_told():
    assert "was replaced" in notices(Module(path="/a/libx.so", changed=True))["library-replaced"]
