"""Calls that were seen on the stack of a process, and what unwinding makes of them."""

import pytest

from sigwhy.autopsy.borne_out import borne_out, short
from sigwhy.model.incident import NativeFrame, PythonFrame, Thread
from sigwhy.model.operation import Argument, Operation
from tests.autopsy.made import BY_CTYPES, EVAL, LIBC, PYTHON, SCRIPT, SITE, incident

NUMPY = f"{SITE}/numpy/_core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so"
CV, ARROW = f"{SITE}/cv2/cv2.abi3.so", f"{SITE}/pyarrow/libarrow.so.2600"
SPARSE = f"{SITE}/scipy/sparse/_sparsetools.cpython-311-x86_64-linux-gnu.so"
CALL = ("cfunction_call", PYTHON)
AT = "<{} at 0x7f0000001000>"


def call(op="numpy", framework="numpy", **more):
    return Operation(framework=framework, op=op, is_hint=True, **more)


def seen(*frames, line, ran=None, names=None, **more):
    """What is left of one call in a process that stood on this line."""
    frame = PythonFrame(
        function="step",
        file=SCRIPT,
        line=3,
        column=0,
        end_column=more.pop("end", len(line)),
        locals=names or {},
        globals={"np": "<module numpy>", "pc": "<module pyarrow.compute>"},
    )
    python = [*more.pop("inner", ()), frame]
    died = incident(
        *frames, CALL, EVAL, line=line, python=python, operations=[ran or call()], **more
    )
    return next(iter(borne_out(died).operations), None)


def test_a_call_whose_library_is_on_the_stack_is_a_fact():
    found = seen(("DOUBLE_add", NUMPY), line="np.add(a, b)")
    assert (found.op, found.kernel, found.is_hint) == ("numpy.add", "DOUBLE_add", False)
    assert found.call == "np.add"


def test_what_the_c_library_does_for_a_package_is_of_the_package():
    assert seen(("__memmove", LIBC), ("copy", NUMPY), line="np.copy(a)").kernel == "copy"


@pytest.mark.parametrize(
    "frames",
    [
        [("PyObject_Free", PYTHON)],
        [("abort", LIBC), ("os_abort", PYTHON)],
        [("strlen", LIBC), *BY_CTYPES[:-1]],
        [("boom", "/home/me/job/libmine.so")],
    ],
)
def test_a_call_whose_library_is_not_on_the_stack_is_forgotten(frames):
    assert seen(*frames, line="np.add(a, b)") is None


@pytest.mark.parametrize(
    ("line", "names", "op"),
    [
        ("np.linalg.inv(a)", {}, "numpy.linalg.inv"),
        ("a.take(b)", {"a": AT.format("numpy.ndarray")}, "numpy.ndarray.take"),
        ("a[b]", {"a": AT.format("numpy.ndarray")}, "numpy.ndarray.__getitem__"),
        ("a @ b", {"a": AT.format("numpy.ndarray")}, "numpy.matmul"),
        ("a ** 2", {}, "numpy.power"),
        ("unknown(a)", {}, "unknown"),
        ("make()(a)", {}, "fill"),
    ],
)
def test_a_call_is_named_as_the_line_names_it(line, names, op):
    assert seen(("fill", NUMPY), line=line, names=names).op == op


def test_what_stands_left_of_an_equals_sign_is_set():
    found = seen(("fill", NUMPY), line="a[1] = 3", end=4, names={"a": AT.format("numpy.ndarray")})
    assert found.op == "numpy.ndarray.__setitem__"
    compared = seen(("fill", NUMPY), line="a[1] == 3", end=4, names={"a": AT.format("x.Y")})
    assert compared.op == "x.Y.__getitem__"


def test_a_method_of_an_object_is_named_by_its_type():
    ran, names = call("opencv", "opencv"), {"c": AT.format("cv2.CLAHE"), "n": "5"}
    found = seen(("apply", CV), line="c.apply(image, n, limit=2.5)", ran=ran, names=names)
    assert found.op == "cv2.CLAHE.apply"
    assert [(a.name, a.kind, a.values, a.variable) for a in found.inputs] == [
        ("", "object", [], "image"),
        ("", "int", [5], "n"),
        ("limit", "float", [2.5], ""),
    ]


def test_an_array_stands_where_the_line_passes_it():
    arrays = [Argument(name=n, kind="array", variable=n) for n in ("out", "b", "a")]
    found = seen(("add", NUMPY), line="np.add(a, b)", ran=call(inputs=arrays))
    assert [a.name for a in found.inputs] == ["a", "b", "out"]


def test_a_ufunc_that_is_old_news_is_no_name():
    stale = seen(("array_sort", NUMPY), line="a.sort()", ran=call("numpy.log"))
    assert stale.op == "a.sort"
    nameless = seen(("array_sort", NUMPY), line="(", ran=call("numpy.log"))
    assert nameless.op == "array_sort"
    borne = seen(("DOUBLE_log", NUMPY), line="(", ran=call("numpy.log"))
    assert borne.op == "numpy.log"


def test_a_call_that_python_frames_name_keeps_its_name():
    file = f"{SITE}/scipy/sparse/_base.py"
    inner = [PythonFrame(function="dot", file=file, locals={"self": AT.format("csr_matrix")})]
    ran = call("scipy.sparse.csr_matrix.dot", "scipy", inner="csr_matvec")
    found = seen(("csr_matvec_thunk", SPARSE), line="m.dot(v)", ran=ran, inner=inner)
    assert (found.op, found.inner) == ("scipy.sparse.csr_matrix.dot", "csr_matvec")


def test_a_thread_of_a_library_works_for_the_call_that_waits():
    native = [NativeFrame(address=1, function=f, library=p) for f, p in (("dot", NUMPY), EVAL)]
    frame = PythonFrame(function="f", file=SCRIPT, line=3, globals={"np": "<module numpy>"})
    main = Thread(tid=7, native=native, python=[frame])
    helper = Thread(
        tid=8,
        crashed=True,
        native=[NativeFrame(address=2, function="ddot_k", library=f"{SITE}/numpy.libs/libx.so")],
    )
    died = incident(line="np.dot(a, b)", operations=[call()])
    (found,) = borne_out(_with(died, [helper, main])).operations
    assert (found.op, found.kernel) == ("numpy.dot", "ddot_k")
    assert borne_out(_with(died, [helper, _without(main)])).operations == []


def _with(died, threads):
    return type(died)(
        pid=7, signal=died.signal, threads=threads, sources=died.sources, operations=died.operations
    )


def _without(thread):
    return Thread(tid=thread.tid, python=thread.python)


def test_operations_of_frameworks_are_left_alone():
    kept = Operation(framework="torch", op="aten::add")
    assert borne_out(incident(EVAL, operations=[kept])).operations == [kept]


def test_names_of_c_are_short():
    long = (
        "arrow::(anonymous namespace)::MinMax<arrow::Type, (Level)0>::Consume(arrow::Span const&)"
    )
    assert short(long) == "arrow::MinMax::Consume"
    assert short("long csr_matmat<int>(int, int const*)") == "csr_matmat"
