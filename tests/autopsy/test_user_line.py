"""Whose line of Python a death is told by: the thread's own, one that was noted, the waiting thread's."""

import pytest
from msgspec.structs import replace

from sigwhy.autopsy import entry, operation
from sigwhy.model.fact import Entered, Op
from sigwhy.model.incident import PythonFrame, Thread
from sigwhy.model.operation import Operation
from tests.autopsy.made import EVAL, SCRIPT, SITE, incident, told

NOTED = [
    f"{SITE}/tensorflow/python/eager/execute.py:53 in quick_execute()",
    f"{SCRIPT}:36 in fit()",
]
MAIN = Thread(tid=9, python=[PythonFrame(function="main", file=SCRIPT, line=50)])


def of(python=(), trace=(), others=(MAIN,), frames=(EVAL,)):
    ran = Operation(framework="tensorflow", op="Cumsum", tid=7, trace=list(trace))
    made = incident(*frames, line=None, python=python, others=others, operations=[ran])
    return replace(made, pid=9)


@pytest.mark.parametrize(
    ("python", "trace", "line", "came_from"),
    [
        ([PythonFrame(function="own", file=SCRIPT, line=3)], NOTED, 3, "itself"),
        ([], NOTED, 36, "trace"),
        ([], [], 50, "main"),
        ([], ["no call"], 50, "main"),
    ],
)
def test_the_nearest_line_of_the_user_is_told(python, trace, line, came_from):
    made = of(python, trace)
    found = told(entry, made, Entered)
    assert (found.line, found.line_from) == (line, came_from)
    assert told(operation, made, Op).line == line


def test_the_line_is_known_without_native_frames():
    found = told(operation, of(trace=NOTED, frames=()), Op)
    assert (found.file, found.line, found.function) == (SCRIPT, 36, "fit")
