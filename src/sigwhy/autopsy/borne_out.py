"""Which calls of NumPy and its kin the unwound stack bears out, and what the user calls them.

When the process stood still there were no native frames, only words of the stack. Now a call is a
fact where the native frames above Python lie in the library, and is forgotten where they do not.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import msgspec

from sigwhy.autopsy.call_arguments import call_arguments, names
from sigwhy.autopsy.entry import above_python, entered
from sigwhy.autopsy.written import expression, is_assigned, written
from sigwhy.operations.packages import FRAMEWORKS, framework_of
from sigwhy.operations.python_call import python_call
from sigwhy.operations.variables import is_own

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sigwhy.model.incident import Incident, NativeFrame, PythonFrame, Thread
    from sigwhy.model.operation import Argument, Operation

FOREIGN = frozenset({"ctypes", "cffi"})
MODULE = re.compile(r"^<module (?P<name>[\w.]+)>$")
OBJECT = re.compile(r"^<(?P<type>[\w.]+) at 0x[0-9a-f]+>$")
PLAIN_NAME = re.compile(r"^[\w.]+$")
NOBODY, INNERMOST = re.compile(r"\(anonymous namespace\)::"), re.compile(r"<[^<>]*>")
ENDS = re.compile(r"dealloc|tp_clear|tp_traverse")  # an object that dies was not called
MODULES = {"opencv": "cv2"}  # what a framework is imported as
# What a built-in function asks of what it is given.
BUILT_IN = {
    "print": "__str__", "str": "__str__", "repr": "__repr__", "len": "__len__", "hash": "__hash__",
    "list": "__iter__", "tuple": "__iter__", "set": "__iter__", "sum": "__iter__", "max": "__iter__",
    "min": "__iter__", "any": "__iter__", "all": "__iter__", "sorted": "__iter__", "iter": "__iter__",
    "next": "__next__", "bool": "__bool__", "int": "__int__", "float": "__float__", "bytes": "__bytes__",
}  # fmt: skip
# What an operator is called: the ufunc of arrays, and the method of others.
OPERATORS = {
    "+": ("add", "add"), "-": ("subtract", "sub"), "*": ("multiply", "mul"),
    "@": ("matmul", "matmul"), "/": ("divide", "truediv"), "//": ("floor_divide", "floordiv"),
    "%": ("remainder", "mod"), "**": ("power", "pow"),
}  # fmt: skip


def borne_out(incident: Incident) -> Incident:
    """The same Incident, with the calls that its native frames bear out."""
    if not any(operation.framework in FRAMEWORKS for operation in incident.operations):
        return incident
    thread = next((t for t in incident.threads if t.crashed), None)
    kept = [
        seen
        for operation in incident.operations
        if (seen := _seen(incident, thread, operation) if thread else None)
    ]
    return msgspec.structs.replace(incident, operations=kept)


def _seen(incident: Incident, thread: Thread, operation: Operation) -> Operation | None:
    if operation.framework not in FRAMEWORKS:
        return operation
    if not thread.native:
        return operation if operation.op != operation.framework else None
    inside = _inside(thread)
    calls = thread if thread.python else _waiting(incident)
    if not inside or ENDS.search(inside[-1].function or ""):
        return None
    if calls is None or (calls is not thread and not _inside(calls)):
        return None
    if entered(incident, thread).way in FOREIGN:
        return None
    kernel = next((frame for frame in inside if frame.function), inside[0])
    functions = " ".join(frame.function or "" for frame in (*inside, *_inside(calls)))
    ufunc = _ufunc(calls, operation)
    seen = msgspec.structs.replace(
        operation,
        op=operation.framework if ufunc and ufunc not in functions else operation.op,
        inner=operation.inner if operation.inner in functions else "",
        kernel=short(kernel.function or ""),
        library=kernel.library or operation.library,
        found="the native frames of the thread lie in its library"
        if calls is thread
        else "a thread of its library died, and the first thread waits in this call",
        is_hint=False,
    )
    return _named(incident, calls, seen, inside)


def _ufunc(thread: Thread, operation: Operation) -> str:
    """The ufunc that stood on the stack, where it is all that named the call."""
    package, _, name = operation.op.partition(".")
    return name if package == "numpy" and not python_call(thread.python) else ""


def _inside(thread: Thread) -> list[NativeFrame]:
    """The frames above Python that lie in one of these packages."""
    part = above_python(thread)[0] if thread.native else []
    return [frame for frame in part if framework_of(frame.library or "")]


def _waiting(incident: Incident) -> Thread | None:
    return next((t for t in incident.threads if t.tid == incident.pid and t.python), None)


def short(function: str) -> str:
    """A function of C++ without its arguments and what its templates were made with."""
    name = NOBODY.sub("", function)
    before = None
    while before != name:
        before, name = name, INNERMOST.sub("", name)
    return name.partition("(")[0].rpartition(" ")[2]


def _named(
    incident: Incident, thread: Thread, operation: Operation, inside: list[NativeFrame]
) -> Operation | None:
    """The call under the name that the user's line gives it, with the arguments written there."""
    user = next((frame for frame in thread.python if is_own(frame)), None)
    if user is None:
        return _with_a_name(operation)
    call = written(incident, user) or ""
    if call and not python_call(thread.python):
        framework = framework_of(inside[-1].library or "") or operation.framework
        known = _resolved(incident, user, call, framework)
        if known:
            ufunc = _ufunc(thread, operation)
            inner = operation.inner or (ufunc if not known.endswith(ufunc) else "")
            operation = msgspec.structs.replace(
                operation, op=known, framework=framework, inner=inner
            )
    inputs = list(_all_inputs(operation.inputs, call_arguments(incident, user)))
    return _with_a_name(msgspec.structs.replace(operation, call=call, inputs=inputs))


def _with_a_name(operation: Operation) -> Operation | None:
    """Without a line of the user's, the function that died is the name."""
    if operation.op != operation.framework:
        return operation
    return msgspec.structs.replace(operation, op=operation.kernel) if operation.kernel else None


def _resolved(incident: Incident, user: PythonFrame, call: str, framework: str) -> str:
    """``cv2.CLAHE.apply`` of ``clahe.apply``, by what the first name holds; else nothing."""
    known = names(incident, user)
    module = MODULES.get(framework, framework)
    if call.endswith("[…]"):
        kind = _kind(known.get(call.removesuffix("[…]"), ""), module) or f"{module}.…"
        return f"{kind}.{'__setitem__' if is_assigned(incident, user) else '__getitem__'}"
    if call.endswith(" …"):  # an operator between two
        return _operator(known, call, module)
    base, _, rest = call.partition(".")
    if call in BUILT_IN and call not in known:
        return _asked(incident, user, known, call, module)
    if not PLAIN_NAME.match(call):
        last = call.rpartition(".")[2]
        return f"{module}.{last}" if last.isidentifier() else ""
    if imported := MODULE.match(known.get(base, "")):
        return f"{imported['name']}.{rest}" if rest else imported["name"]
    kind = _kind(known.get(base, ""), module)
    return f"{kind}.{rest}" if kind and rest else call


def _asked(
    incident: Incident, user: PythonFrame, known: Mapping[str, str], call: str, module: str
) -> str:
    """The method that a built-in function asks its argument for: ``print(a)`` for ``__str__``."""
    ran = expression(incident, user)
    given = ran.args[0] if isinstance(ran, ast.Call) and ran.args else None
    kind = _kind(known.get(given.id, ""), module) if isinstance(given, ast.Name) else ""
    return f"{kind}.{BUILT_IN[call]}" if kind else ""


def _operator(known: Mapping[str, str], call: str, module: str) -> str:
    """What an operator is called: of arrays it is a ufunc, of others a method."""
    left, sign, _ = call.split(" ", 2)
    kind, (ufunc, method) = _kind(known.get(left, ""), module), OPERATORS.get(sign, ("", ""))
    if kind == "numpy.ndarray" or (module == "numpy" and not kind):
        return f"numpy.{ufunc}" if ufunc else ""
    return f"{kind}.__{method}__" if kind and method else ""


def _kind(value: str, module: str) -> str:
    """The type of a value, under the package that it is of: ``numpy.ndarray``."""
    found = OBJECT.match(value)
    if not found:
        return ""
    package, _, rest = found["type"].partition(".")
    return f"{package}.{rest.rpartition('.')[2]}" if rest else f"{module}.{package}"


def _all_inputs(found: Iterable[Argument], given: Iterable[Argument]) -> Iterable[Argument]:
    """The arguments in the order of the call, then what else the call had to do with."""
    by_variable: Mapping[str, Argument] = {a.variable: a for a in found if a.variable}
    used: set[str] = set()
    for argument in given:
        array = by_variable.get(argument.variable or argument.text)
        if array is None:
            yield argument
        elif array.variable not in used:
            used.add(array.variable)
            yield msgspec.structs.replace(array, name=array.name or argument.name)
    yield from (argument for argument in found if argument.variable not in used)
