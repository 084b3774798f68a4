"""A pool of threads is asked for that cannot be: a negative number, or thousands.

What happens: TensorFlow takes the number as it is. A negative one for the threads inside of an operation fails an
assertion at the first operation (SIGABRT); for those between operations it only means: none. Thousands of threads run into the limit of the user or of
the container, and where a thread cannot be started the process aborts.

How to tell: a constant below 0 for the intra_op threads (an error), or above 1024 (a warning), for any of the pools of ``tf.config.threading``, ``ConfigProto`` and ``tf.data``.

Fix: 0, which lets TensorFlow choose, or the number of cores.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.python_source import PythonSource

CHECK = Check(
    id="py-thread-count",
    title="a pool of so many threads cannot be",
    fix="0, which lets TensorFlow choose, or the number of cores",
    words=("parallelism", "threadpool"),
)
CALLS = {
    "tensorflow.config.threading.set_inter_op_parallelism_threads",
    "tensorflow.config.threading.set_intra_op_parallelism_threads",
}
KEYWORDS = {"inter_op_parallelism_threads", "intra_op_parallelism_threads"}
ATTRIBUTES = {*KEYWORDS, "private_threadpool_size", "max_intra_op_parallelism"}
MOST = 1024
WITHIN = "intra_op"


def look(source: PythonSource) -> Iterator[Problem]:
    """Yield impossible numbers of threads."""
    if not source.imports("tensorflow"):
        return
    for name, node, value in _numbers(source):
        count = source.values.constant(value)
        if not isinstance(count, int) or 0 <= count <= MOST:
            continue
        if count < 0 and WITHIN in name:
            says = f"{count} threads: the first operation fails an assertion"
            yield CHECK.problem_in(source.area(node), says)
        elif count > MOST:
            says = f"{count:,} threads: where the limit is lower the process aborts"
            yield CHECK.problem_in(source.area(node), says, severity="warning")


def _numbers(source: PythonSource) -> Iterator[tuple[str, ast.expr | ast.stmt, ast.expr]]:
    """Each number of threads, with the name of what it is for, and where it is given."""
    for call in source.calls:
        name = source.name(call.func)
        if name in CALLS and (call.args or call.keywords):
            yield name, call, (call.args or [call.keywords[0].value])[0]
        for keyword in call.keywords:
            if keyword.arg in KEYWORDS and name.startswith("tensorflow."):
                yield keyword.arg, call, keyword.value
    for node in source.nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(attr=attr)], value=value) if attr in ATTRIBUTES:
                yield attr, node, value
            case _:
                pass
