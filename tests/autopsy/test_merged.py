"""Native and Python frames as one stack."""

import pytest

from sigwhy.autopsy.merged import merged
from sigwhy.model.incident import NativeFrame, PythonFrame, Thread

PYTHON = "/usr/lib/libpython3.11.so.1.0"
EVALUATES = "_PyEval_EvalFrameDefault"


def native(*names, library="/srv/native.so"):
    return [
        NativeFrame(address=n, function=name, library=PYTHON if "Py" in name else library)
        for n, name in enumerate(names)
    ]


def python(*rows):
    return [
        PythonFrame(function=name.rstrip("!"), file="/srv/a.py", line=n, entry=name.endswith("!"))
        for n, name in enumerate(rows, 1)
    ]


def names(thread):
    return [call.frame.function for call in merged(thread)]


def test_an_evaluation_stands_for_all_calls_up_to_the_entry():
    thread = Thread(
        tid=1,
        native=native("boom", EVALUATES, "callback", EVALUATES, "Py_RunMain", "_start"),
        python=python("inner", "outer!", "main", "<module>!"),
    )
    assert names(thread) == [
        "boom",
        "inner",
        "outer",
        "callback",
        "main",
        "<module>",
        "Py_RunMain",
        "_start",
    ]


def test_before_python_3_11_each_evaluation_is_one_call():
    thread = Thread(
        tid=1,
        native=native("boom", EVALUATES, "function_code_fastcall", EVALUATES, "_start"),
        python=python("inner!", "<module>!"),
    )
    assert names(thread) == ["boom", "inner", "function_code_fastcall", "<module>", "_start"]


def test_an_inlined_evaluation_is_not_counted_twice():
    frames = [
        NativeFrame(address=9, function=EVALUATES, inline=True),
        NativeFrame(address=9, function=EVALUATES),
        NativeFrame(address=10, function="_start"),
    ]
    thread = Thread(tid=1, native=frames, python=python("main!"))
    assert names(thread) == ["main", "_start"]


def test_an_evaluation_that_has_no_call_as_yet_is_the_innermost():
    thread = Thread(
        tid=1, native=native(EVALUATES, "f", EVALUATES, "_start"), python=python("main!")
    )
    assert names(thread) == [EVALUATES, "f", "main", "_start"]


def test_python_calls_that_lie_below_the_last_native_frame_are_kept():
    thread = Thread(tid=1, native=native("boom", EVALUATES), python=python("f!", "g!", "h!"))
    assert names(thread) == ["boom", "f", "g", "h"]


@pytest.mark.parametrize("only", ["native", "python"])
def test_one_language_alone_is_a_stack_too(only):
    frames = native("boom", EVALUATES) if only == "native" else python("f", "g")
    assert len(merged(Thread(tid=1, **{only: frames}))) == 2


def test_the_interpreter_and_the_start_of_a_thread_are_machinery():
    thread = Thread(tid=1, native=native("boom", "PyObject_Call", "start_thread", "__clone3"))
    assert [call.machinery for call in merged(thread)] == [False, True, True, True]
