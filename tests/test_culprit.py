"""Who is blamed for a crash, by the frames of the thread that died."""

import pytest

from sigwhy.culprit import culprit, tells
from sigwhy.model.blame import file_name, owner, package_of, short_path
from sigwhy.model.case import Case
from sigwhy.model.fact import Check, Frame, Op, PythonError, Span, Stack

SPAN = Span(evidence="e", first=0, last=0)
SITE = "/srv/venv/lib/python3.11/site-packages"


def stack(*frames, crashed=True, role="fault", language="native"):
    return Stack(
        span=SPAN, thread=None, crashed=crashed, frames=frames, role=role, language=language
    )


def blamed(*facts):
    return culprit(Case((), facts), None)


def py(file, line, function):
    return Frame(file=file, line=line, function=function, language="python")


CARRIERS = (
    Frame(),
    Frame(function="raise", library="/lib/x86_64-linux-gnu/libc.so.6"),
    Frame(function="__GI_abort", file="abort.c", line=79),
    Frame(function="__pthread_kill_implementation", file="./nptl/pthread_kill.c", line=44),
    Frame(function="__memmove_avx_unaligned_erms"),
    Frame(function="_platform_memmove", library="libsystem_platform.dylib"),
    Frame(function="_int_malloc", file="./malloc/malloc.c", line=4200),
    Frame(function="operator new(unsigned long)"),
    Frame(function="je_free"),
    Frame(function="std::terminate()", library="/lib/x86_64-linux-gnu/libstdc++.so.6"),
    Frame(function="void std::__invoke<int>(int)"),
    Frame(function="__cxa_throw"),
    Frame(function="__assert_fail"),
    Frame(function="__interceptor_strlen"),
    Frame(function="__asan_memcpy"),
    Frame(function="_PyEval_EvalFrameDefault", file="Python/ceval.c", line=4769),
    Frame(function="cfunction_vectorcall_FASTCALL", file="../Objects/methodobject.c", line=443),
    Frame(function="PyObject_Call", library="python311"),
    Frame(library="/usr/lib/libpython3.11.so.1.0", offset=4096),
    Frame(function="pybind11::cpp_function::dispatcher(_object*, _object*, _object*)"),
    Frame(function="ffi_call_unix64", library="/usr/lib/libffi.so.8"),
    Frame(function="start_thread", file="./nptl/pthread_create.c", line=442),
    Frame(function="clone3"),
    Frame(function="_start"),
    Frame(function="main", library="./solve"),
    Frame(function="<signal handler called>"),
    Frame(function="tsl::thread::ThreadPool::Schedule(std::function<void ()>)"),
    Frame(function="tensorflow::KernelAndDeviceOp::Run(tensorflow::ScopedStepContainer*)"),
    Frame(function="c10::Dispatcher::callBoxed(c10::OperatorHandle const&)"),
    Frame(library="ntdll.dll", offset=4096),
    Frame(library="/system/lib64/libart.so", offset=4096),
    py("<frozen importlib._bootstrap>", 241, "_call_with_frames_removed"),
    py("/usr/lib/python3.11/threading.py", 975, "run"),
)
TELLING = (
    Frame(function="merge_sorted", library=f"{SITE}/fastmerge/_kernel.so"),
    Frame(function="main", file="solve.c", line=12),
    Frame(function="PyArray_UpdateFlags"),
    Frame(function="PyInit__kernel"),
    Frame(function="tbb::internal::generic_scheduler::is_worker() const"),
    Frame(function="tensorflow::ReshapeOp::Compute(tensorflow::OpKernelContext*)"),
    Frame(function="at::native::conv2d(at::Tensor const&)"),
    Frame(function="free_row", file="table.c", line=9),
    Frame(library="/usr/lib/libpsm2.so.2.1", offset=4096),
    Frame(function="strict_parse", file="parse.c", line=3),
    py(f"{SITE}/keras/trainer.py", 12, "fit"),
    py("train.py", 7, "risky"),
)


@pytest.mark.parametrize("frame", CARRIERS, ids=lambda f: f.function or f.library or "empty")
def test_a_carrier_tells_nothing(frame):
    assert not tells(frame)


@pytest.mark.parametrize("frame", TELLING, ids=lambda f: f.function or f.library)
def test_other_frames_tell_something(frame):
    assert tells(frame)


def test_the_innermost_telling_frame_is_blamed_with_its_library():
    found = blamed(
        stack(
            Frame(function="__GI___libc_free", file="./malloc/malloc.c", line=3385),
            Frame(function="drop", library=f"{SITE}/fastmerge/_kernel.cpython-311.so"),
            Frame(function="cfunction_call", file="Objects/methodobject.c", line=553),
        )
    )
    assert (found.kind, found.name, found.library) == (
        "api",
        "drop",
        "fastmerge/_kernel.cpython-311.so",
    )


def test_a_line_of_the_users_code_goes_before_a_library():
    found = blamed(
        stack(
            Frame(library="/usr/lib/libringbuf.so.2", offset=16),
            Frame(function="Catalog::title", file="catalog.cc", line=57),
        )
    )
    assert (found.function, found.file, found.line) == ("Catalog::title", "catalog.cc", 57)


def test_a_library_without_symbols_is_named_by_its_package():
    found = blamed(stack(Frame(library=f"{SITE}/horovod/tensorflow/mpi_lib.so", offset=16)))
    assert (found.kind, found.name, found.library) == (
        "library",
        "horovod",
        "horovod/tensorflow/mpi_lib.so",
    )


def test_where_all_frames_carry_the_first_that_has_a_name_is_better_than_nothing():
    found = blamed(stack(Frame(), Frame(library="ntdll.dll", offset=16)))
    assert found.library == "ntdll.dll"


def test_only_the_thread_that_died_is_asked():
    waiting = stack(Frame(function="queue_pop"), crashed=False)
    freed = stack(Frame(function="queue_free"), role="freed")
    assert blamed(waiting, freed) is None


def test_the_users_python_line_is_blamed_for_the_api_it_called():
    found = blamed(
        stack(
            py(f"{SITE}/tensorflow/python/eager/execute.py", 53, "quick_execute"),
            py(f"{SITE}/tensorflow/python/ops/array_ops.py", 199, "reshape"),
            py("train.py", 7, "risky"),
            py("train.py", 19, "<module>"),
            language="python",
        )
    )
    assert (found.kind, found.name, found.library) == ("api", "reshape", "tensorflow")
    assert (found.file, found.line) == ("train.py", 7)


def test_the_standard_library_is_not_the_users_line():
    found = blamed(
        stack(
            py("/usr/lib/python3.11/ctypes/__init__.py", 519, "string_at"),
            py("load.py", 3, "load_weights"),
            language="python",
        )
    )
    assert (found.name, found.file, found.line) == ("load_weights", "load.py", 3)


def test_an_installed_package_is_blamed_where_no_line_is_the_users():
    found = blamed(stack(py(f"{SITE}/jedi/inference.py", 40, "process"), language="python"))
    assert (found.name, found.library, found.file) == ("process", "jedi", "jedi/inference.py")


def test_an_op_goes_before_every_frame():
    op = Op(span=SPAN, framework="tensorflow", op="Reshape", node="inner")
    assert blamed(op, stack(Frame(function="merge"))).name == "Reshape"


def test_a_check_or_a_traceback_names_its_place():
    check = Check(span=SPAN, framework="assert", expression="n", file="grid.cc", line=8)
    error = PythonError(span=SPAN, type="ValueError", text="", file="a.py", line=2, function="f")
    assert blamed(check).name == "grid.cc"
    assert blamed(error).function == "f"


@pytest.mark.parametrize(
    ("frame", "whose", "name"),
    [
        (Frame(function="f", library=f"{SITE}/lxml/etree.so"), "package", "lxml"),
        (Frame(library=f"{SITE}/opencv_python.libs/libavcodec-1a.so.59"), "package", "opencv_python"),
        (Frame(library=f"{SITE}/torch/lib/libtorch_cpu.so"), "framework", "torch"),
        (Frame(function="tflite::Subgraph::Invoke()"), "framework", None),
        (Frame(library="/usr/lib/libhalo.so.1"), "system", "libhalo.so.1"),
        (Frame(library="./libheap.so"), "own", "libheap.so"),
        (Frame(function="f", file="/home/ann/zoom/zoom_op.cc", line=5), "own", None),
        (Frame(function="f", file="/build/ring-1.2.2/a.c", line=5), "package", "ring"),
        (Frame(function="f", file="/w/third_party/tbb/src/s.h", line=5), "package", "tbb"),
        (Frame(function="f", file="external/org_tensorflow/tensorflow/core/a.cc", line=5), "framework", "org_tensorflow"),
        (Frame(function="H5F_open", library="libhdf5.so.103"), "package", "HDF5"),
        (Frame(library="libring.so"), "unknown", "libring.so"),
    ],
)  # fmt: skip
def test_a_frame_has_an_owner(frame, whose, name):
    assert (owner(frame).whose, owner(frame).name) == (whose, name)


def test_paths_of_any_system_are_understood():
    windows = r"C:\Python311\Lib\site-packages\cv2\cv2.pyd"
    assert package_of(windows) == "cv2"
    assert file_name(windows) == "cv2.pyd"
    assert short_path(windows) == r"cv2\cv2.pyd"
    assert package_of(f"{SITE}/_cffi_backend.cpython-311-x86_64-linux-gnu.so") == "_cffi_backend"
