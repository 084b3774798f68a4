"""Workers are forked from a process in which TensorFlow runs threads.

What happens: fork() copies the memory but only the one thread that calls it. A lock that another thread
held stays locked in the child for ever, and the thread pools that the child believes in do not exist. The child
hangs in its first big operation, or dies.

How to tell: the file imports TensorFlow or Keras and starts processes by fork: ``os.fork()``, a context named
"fork", or ``Pool``, ``Process`` and ``ProcessPoolExecutor`` where no other start method was chosen. On Linux fork is
the default up to Python 3.13. A process that has only imported TensorFlow may fork; the first operation makes it
dangerous. Where the parent ran one before, in the same block, it is an error.

Fix: choose another start method, ``multiprocessing.get_context("spawn")`` or ``set_start_method("forkserver")``, and
import TensorFlow in the children.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem, Severity
    from sigwhy.subjects.python_source import PythonSource

CHECK = Check(
    id="py-fork-with-tensorflow",
    title="workers are forked beside TensorFlow",
    fix='use multiprocessing.get_context("spawn")',
    severity="warning",
    words=("fork", "Pool", "Process"),
)
FRAMEWORKS = ("tensorflow", "keras", "tf_keras")
BY_DEFAULT = {
    "multiprocessing.Pool",
    "multiprocessing.Process",
    "multiprocessing.pool.Pool",
    "multiprocessing.process.Process",
    "concurrent.futures.ProcessPoolExecutor",
    "concurrent.futures.process.ProcessPoolExecutor",
}
BY_NAME = {"multiprocessing.get_context", "multiprocessing.set_start_method"}
OTHERS = {"spawn", "forkserver"}
# Names of TensorFlow that start no thread: settings, and what only describes.
QUIET = (
    "config",
    "function",
    "TensorSpec",
    "keras",
    "compat",
    "data",
    "io",
    "dtypes",
    "version",
    "get_logger",
)


def look(source: PythonSource) -> Iterator[Problem]:
    """Yield each call that forks in a file that uses TensorFlow."""
    if not source.imports(*FRAMEWORKS) or _chosen(source, OTHERS):
        return
    for call in source.calls:
        name = source.name(call.func)
        if name == "os.fork":
            says = "os.fork() copies this process, but none of TensorFlow's threads"
        elif name in BY_NAME and _word(call) == "fork":
            says = "processes started by fork copy this process, but none of TensorFlow's threads"
        elif name in BY_DEFAULT:
            says = f"{name.rsplit('.', 1)[-1]} forks by default, and the children have none of TensorFlow's threads"
        else:
            continue
        ran = _ran_before(source, call)
        severity: Severity = "error" if ran else "warning"
        because = f"; {ran} has started them before" if ran else ""
        yield CHECK.problem_in(source.area(call), says + because, severity=severity)


def _chosen(source: PythonSource, methods: set[str]) -> bool:
    """Whether the file names another start method anywhere."""
    return any(
        isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in methods
        for node in source.nodes
    )


def _word(call: ast.Call) -> str | None:
    given = [*call.args, *(k.value for k in call.keywords if k.arg == "method")]
    match given:
        case [ast.Constant(value=str(word)), *_]:
            return word
        case _:
            return None


def _ran_before(source: PythonSource, fork: ast.Call) -> str | None:
    """An operation of TensorFlow that ran in the same block of statements, before the fork."""
    block = _block(source, fork)
    for statement in block:
        if statement.lineno >= fork.lineno:
            return None
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for node in ast.walk(statement):
            if not isinstance(node, ast.Call) or node.lineno >= fork.lineno:
                continue
            if _is_operation(name := source.name(node.func)):
                return name.replace("tensorflow.", "tf.", 1)
    return None


def _block(source: PythonSource, node: ast.AST) -> list[ast.stmt]:
    """The statements of the function, or of the module, that a node stands in."""
    while node in source.parents:
        node = source.parents[node]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
            return node.body
    return []


def _is_operation(name: str) -> bool:
    parts = name.split(".")
    return parts[0] == "tensorflow" and len(parts) > 1 and parts[1] not in QUIET
