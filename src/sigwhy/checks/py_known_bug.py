"""A call of an operation whose arguments are known to kill TensorFlow.

What happens: most operations of TensorFlow check what they are given and raise an exception. Some do not, for some arguments: a failed assertion (SIGABRT), a read of
other memory (SIGSEGV), a division by zero (SIGFPE). No ``try`` helps: the process is gone.

How to tell: constants in the source fulfil the condition of a row in the table of known bugs, each of which was run: the op, the argument, the versions that die.
An error where the newest release that was tried dies, or the one of --target; a warning where only older ones do.

Fix: give the operation what it expects, or check it before the call; the report says which argument, and from which release on it raises.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sigwhy.known_bugs import DIES, order
from sigwhy.model.check import Check
from sigwhy.model.condition import all_hold, shown
from sigwhy.public_api import reached

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.known_bugs import Row
    from sigwhy.model.operation import Argument
    from sigwhy.model.problem import Problem, Severity
    from sigwhy.public_api import Reached
    from sigwhy.subjects.python_source import PythonSource

CHECK = Check(
    id="py-known-bug",
    title="these arguments are known to kill TensorFlow",
    fix="check the argument before the call",
    words=("tensorflow",),
)


def look(source: PythonSource) -> Iterator[Problem]:
    """Yield each call that fulfils the condition of a known bug."""
    for call in source.calls:
        name = source.name(call.func)
        if not name.startswith("tensorflow."):
            continue
        for one in reached(name):
            arguments = _arguments(source, call, one)
            if all_hold(one.row.when, arguments):
                yield _problem(source, call, one.row, arguments)
                break


def _arguments(source: PythonSource, call: ast.Call, to: Reached) -> dict[str, Argument]:
    """What the operation gets: the arguments of the call under the names that the operation has."""
    starred = any(isinstance(value, ast.Starred) for value in call.args)
    given = {} if starred else dict(zip(to.parameters, call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    names = {name: name for name in given} if to.arguments is None else to.arguments
    return {
        argument: known
        for argument, name in names.items()
        if name in given and (known := source.values.argument(given[name], argument))
    }


def _problem(
    source: PythonSource, call: ast.Call, row: Row, arguments: dict[str, Argument]
) -> Problem:
    versions = [
        ".".join(str(n) for n in target.version)
        for target in source.targets
        if target.runtime == "tensorflow" and target.version
    ]
    versions = versions or [max(row.ran, key=order)]
    severity: Severity = "error" if any(row.may_die(v) for v in versions) else "warning"
    first = row.when[0]
    value = shown(first, arguments)
    end = next(row.ran[v] for v in reversed(row.dies_in) if row.ran[v] in DIES)
    says = (
        f"{row.ops[0]} dies of {end}: {first.argument} is {value}, and {row.says} "
        f"(seen in {row.dies_in[0]} to {row.dies_in[-1]})"
    )
    fix = row.workaround.rstrip(".") if row.workaround else CHECK.fix
    if row.fixed_in:
        fix = f"TensorFlow {row.fixed_in} or newer; until then: {fix}"
    return CHECK.problem_in(source.area(call), says, severity=severity, fix=fix)
