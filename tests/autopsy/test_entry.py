"""How a thread came from Python into native code, and whose code it died in."""

import msgspec
import pytest

from sigwhy.autopsy import entry
from sigwhy.autopsy.entry import whose_file
from sigwhy.model.fact import Entered
from sigwhy.model.incident import PythonFrame, Thread
from tests.autopsy.made import (
    BY_CTYPES,
    CTYPES,
    EVAL,
    FFI,
    LIBC,
    OWN,
    PACKAGE,
    PYTHON,
    SCRIPT,
    SITE,
    incident,
    told,
)

CALLS = (("cfunction_call", PYTHON), EVAL)
START = (("Py_RunMain", PYTHON), ("__libc_start_main", LIBC))


def entered(*frames, **known):
    return told(entry, incident(*frames, **known), Entered)


def test_ctypes_into_the_c_library():
    found = entered(("__strlen_avx2", LIBC), *BY_CTYPES, line="libc.strlen(8)")
    assert (found.way, found.whose, found.died_whose) == ("ctypes", "system", "system")
    assert (found.function, found.written) == ("__strlen_avx2", "libc.strlen")
    assert (found.file, found.line, found.caller) == (SCRIPT, 3, "step")


def test_ctypes_into_your_own_library():
    found = entered(("inner", OWN), ("boom", OWN), *BY_CTYPES)
    assert (found.way, found.whose, found.died_whose) == ("ctypes", "own", "own")
    assert (found.function, found.died_function, found.through) == ("boom", "inner", OWN)


def test_what_the_c_library_does_for_your_own_library_died_in_your_own():
    found = entered(("__memmove_avx", LIBC), ("copy", OWN), *BY_CTYPES, line="lib.copy(8)")
    assert (found.whose, found.died_whose, found.died_function) == ("own", "own", "copy")


def test_an_abort_in_your_own_library_died_in_your_own():
    ends = (("__pthread_kill_implementation", LIBC), ("raise", LIBC), ("abort", LIBC))
    found = entered(*ends, ("boom", OWN), *BY_CTYPES, signal="SIGABRT")
    assert (found.died_whose, found.died_function) == ("own", "boom")


def test_a_free_of_what_is_no_block_died_in_the_c_library():
    ends = (("raise", LIBC), ("abort", LIBC), ("malloc_printerr", LIBC), ("_int_free", LIBC))
    found = entered(*ends, ("free", LIBC), *BY_CTYPES, line="libc.free(8)")
    assert (found.whose, found.function, found.died_function) == ("system", "free", "_int_free")


@pytest.mark.parametrize("gil", [True, False])
def test_ctypes_into_the_interpreter_says_whether_the_lock_was_held(gil):
    found = entered(("PyList_Append", PYTHON), *BY_CTYPES, line="api.PyList_Append(8)", gil=gil)
    assert (found.way, found.whose, found.died_whose, found.gil) == (
        "ctypes",
        "python",
        "python",
        gil,
    )


def test_string_at_is_ctypes_itself():
    found = entered(
        ("__strlen_avx2", LIBC),
        ("PyBytes_FromString", PYTHON),
        ("string_at", CTYPES),
        *BY_CTYPES,
        line="ctypes.string_at(0)",
    )
    assert (found.way, found.whose, found.written) == ("ctypes", "python", "ctypes.string_at")


def test_ctypes_to_an_address_without_a_library():
    found = entered((None, None), *BY_CTYPES, line="ctypes.CFUNCTYPE(None)(8)()")
    assert (found.way, found.whose, found.died_whose) == ("ctypes", "nobody", "nobody")


def test_cffi_is_told_from_ctypes():
    backend = f"{SITE}/_cffi_backend.cpython-311-x86_64-linux-gnu.so"
    frames = (("boom", OWN), ("ffi_call", FFI), ("cdata_call", backend), EVAL)
    found = entered(*frames)
    assert (found.way, found.whose) == ("cffi", "own")


def test_a_function_of_a_package():
    found = entered(("kernel", PACKAGE), ("py_kernel", PACKAGE), *CALLS, line="fastpack.go(x)")
    assert (found.way, found.whose, found.died_whose) == ("extension", "package", "package")
    assert (found.package, found.function, found.died_function) == (
        "fastpack",
        "py_kernel",
        "kernel",
    )
    assert found.written == "fastpack.go"


def test_an_extension_of_your_own_that_calls_the_interpreter():
    found = entered(("PyList_GetItem", PYTHON), ("go", OWN), *CALLS, line="mine.go(x)")
    assert (found.way, found.whose, found.died_whose) == ("extension", "own", "python")
    assert (found.through, found.through_function) == (OWN, "go")


def test_your_own_library_below_a_package_is_on_the_way():
    found = entered(("kernel", PACKAGE), ("callback", OWN), ("py_run", PACKAGE), *CALLS)
    assert (found.whose, found.died_whose, found.through) == ("package", "package", OWN)


def test_a_thread_that_native_code_started():
    frames = (("worker", OWN), ("start_thread", LIBC), ("clone3", LIBC))
    waits = Thread(tid=8, python=[PythonFrame(function="main", file=SCRIPT, line=3)])
    found = entered(*frames, python=())
    assert (found.way, found.whose, found.died_function, found.line) == (
        "thread",
        "own",
        "worker",
        None,
    )
    # Where it died in a thread, the first thread's line is the one that waits for it.
    seen = incident(*frames, python=(), others=[waits])
    at_work = told(entry, msgspec.structs.replace(seen, pid=8), Entered)
    assert (at_work.way, at_work.written, at_work.line) == ("thread", "lib.boom", 3)


def test_nothing_but_the_interpreter():
    found = entered(("unicode_eq", PYTHON), ("PyObject_Hash", PYTHON), EVAL, line="d[key]")
    assert (found.way, found.whose, found.died_whose) == ("interpreter", "python", "python")


def test_the_end_of_the_program_is_no_thread_of_native_code():
    found = entered(("list_dealloc", PYTHON), ("Py_FinalizeEx", PYTHON), *START, python=())
    assert (found.way, found.died_function) == ("interpreter", "list_dealloc")
    ends = (("drop", PACKAGE), ("exit", LIBC), ("__libc_start_main", LIBC), ("_start", PYTHON))
    found = entered(*ends, python=())
    assert (found.way, found.died_function) == ("extension", "drop")


def test_a_call_that_left_no_frame_is_named_by_your_line():
    found = entered(("__strlen_avx2", LIBC), *BY_CTYPES, line="lib.measure(8)", files=(OWN, LIBC))
    assert (found.whose, found.function, found.library) == ("own", "measure", OWN)


@pytest.mark.parametrize(
    "line", ["libc.memcpy(8, 8, 8)", "libc.strlen(8)", "f(8)", "libs['boom'](8)"]
)
def test_a_call_of_the_c_library_is_not_put_on_a_library_of_your_own(line):
    inner = "__strlen_avx2" if "strlen" in line else "__memmove_avx_unaligned_erms"
    assert entered((inner, LIBC), *BY_CTYPES, line=line, files=(OWN, LIBC)).whose == "system"


def test_of_two_libraries_of_your_own_none_is_guessed():
    files = (OWN, "/home/me/job/libother.so")
    assert (
        entered(("__strlen_avx2", LIBC), *BY_CTYPES, line="lib.go(8)", files=files).whose
        == "system"
    )


def test_a_wrapper_without_a_file_is_that_of_a_custom_op():
    frames = [
        PythonFrame(function="zero_out", file="<string>", line=9),
        PythonFrame(function="<module>", file=SCRIPT, line=3),
    ]
    found = entered(("kernel", PACKAGE), *CALLS, python=frames, line="ops.zero_out(x)")
    assert (found.wrapper, found.written) == ("zero_out", "ops.zero_out")
    typed = [PythonFrame(function="<module>", file="<string>", line=1)]
    assert entered(("kernel", PACKAGE), *CALLS, python=typed).wrapper is None


def test_frames_without_a_file_are_nobody_s_line():
    frames = [PythonFrame(function="made"), PythonFrame(function="<module>", file=SCRIPT, line=3)]
    assert entered(("kernel", PACKAGE), *CALLS, python=frames).file == SCRIPT


def test_without_native_frames_nothing_is_told():
    assert entered() is None


@pytest.mark.parametrize(
    ("library", "function", "whose"),
    [
        (OWN, "array_sum", "own"),  # a name such as NumPy has
        ("/srv/app/libops.so", "tensorflow::ZeroOutOp::Compute(tensorflow::OpKernelContext*)", "own"),
        ("/data/build/ext.so", "av_mean", "own"),
        ("/usr/lib/x86_64-linux-gnu/libavcodec.so.59", "av_read", "system"),
        (f"{SITE}/tensorflow/libtensorflow_framework.so.2", "tsl::Abort", "framework"),
        (f"{SITE}/numpy.libs/libopenblas.so", "dgemm_", "package"),
        (PYTHON, "PyList_New", "python"),
        ("/usr/lib/libpython3.11.so.1.0", None, "python"),
        (CTYPES, "string_at", "python"),
        (LIBC, "free", "system"),
        ("libm.so.6", "exp", "system"),
    ],
)  # fmt: skip
def test_whose_code_it_is_goes_by_the_place(library, function, whose):
    assert whose_file(library, function) == whose
