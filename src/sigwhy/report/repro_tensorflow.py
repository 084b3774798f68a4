"""The repro of a TensorFlow operation: ``tf.raw_ops.X`` with its inputs and attributes.

What its types already tell is left out when the script runs: ``tf.raw_ops`` itself says what it takes.
A node of a graph runs in a graph again, with shapes that are not known beforehand, so that no check
of shapes stops what TensorFlow did not stop.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.error import UsageError
from sigwhy.report import repro_values as values
from sigwhy.report.repro_script import comment, name, text
from sigwhy.report.repro_tensors import made
from sigwhy.report.repro_types import KNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sigwhy.model.operation import Argument
    from sigwhy.report.repro_script import Script

OURS = re.compile(r"/libtensorflow(?:_cc|_framework)?\.so|/_pywrap_\w+\.so|/tensorflow/")
REWRITTEN = re.compile(r"^_Mkl(?:Native)?(?:Fused)?(?=[A-Z])")
OF_A_LIST = re.compile(r"(?P<name>[A-Za-z_]\w{0,199})\[(?P<n>\d{1,5})\]\Z")
OWN_OP = "next(getattr(library, n) for n in dir(library) if n.replace('_', '') == {name})"
SPLIT = """\
# The names of the inputs, as the definition of the operation tells them.
defined = op_def_registry.get({op}).input_arg
rest, inputs = list(inputs), {{}}
for one in defined:
    several = one.number_attr or one.type_list_attr
    count = len(rest) - len(defined) + 1 if several else 1
    inputs[one.name] = rest[:count] if several else rest[0]
    rest = rest[count:]
"""
KNOWN_BY_PYTHON = """\
# In Python some inputs have other names, and types that follow from the inputs are not given.
known = inspect.signature(op).parameters
free = [n for n in known if n not in inputs and n not in attributes]
inputs = {n if n in known else free.pop(0): value for n, value in inputs.items()}
attributes = {n: value for n, value in attributes.items() if n in known}
"""
STAND_IN = """\
# Inputs of the types that are wanted, as far as there are any.
inputs = {{}}
for one in op_def_registry.get({op}).input_arg:
    kind = attributes.get(one.type_attr) or tf.dtypes.as_dtype(one.type or 1)
    kinds = attributes.get(one.type_list_attr) or [kind] * attributes.get(one.number_attr, 1)
    made = [tf.zeros([1], kind) for kind in kinds]
    inputs[one.name] = made if one.number_attr or one.type_list_attr else made[0]
"""


def write(script: Script, inputs: Mapping[str, bytes]) -> None:
    """Write the lines of the script."""
    operation = script.operation
    op = name(REWRITTEN.sub("", operation.op), "an operation")
    if op.startswith("_"):
        raise UsageError(
            f"no repro: {op} is no operation that can be called; TensorFlow makes it itself, of a whole function or of several operations"
        )
    script.use("import tensorflow as tf")
    own = operation.library and not OURS.search(operation.library)
    if own:
        script.add(f"library = tf.load_op_library({text(operation.library)})", "")
    _inputs(script, inputs)
    _attributes(script)
    if not operation.inputs:
        script.lack(
            "the kernel was being made, so there were no inputs yet; others stand in for them"
            if operation.state == "constructing"
            else "inputs, where it has any, could not be read; others stand in for them"
        )
        script.use("from tensorflow.python.framework import op_def_registry")
        script.add(*STAND_IN.format(op=text(op)).splitlines(), "")
    if not all(argument.name for argument in operation.inputs):
        script.use("from tensorflow.python.framework import op_def_registry")
        script.add(*SPLIT.format(op=text(op)).splitlines(), "")
    wanted = text(op.replace("_", "").lower())
    script.add(f"op = {OWN_OP.format(name=wanted)}" if own else f"op = tf.raw_ops.{op}")
    script.use("import inspect")
    script.add(*KNOWN_BY_PYTHON.splitlines(), "")
    _call(script)


# ---- inputs -----------------------------------------------------------------------------------


def _inputs(script: Script, members: Mapping[str, bytes]) -> None:
    """A dictionary of inputs by name; a list where the names are not known."""
    operation = script.operation
    found = [(a.name, made(script, a, members)) for a in operation.inputs]
    if not found:
        return
    if not all(label for label, _ in found):
        script.add("inputs = [", *(f"    {words}," for _, words in found), "]")
        return
    grouped: dict[str, list[str] | str] = {}
    for label, words in found:
        if listed := OF_A_LIST.match(label):
            several = grouped.setdefault(listed["name"], [])
            if isinstance(several, list):
                several.append(words)
        else:
            grouped[label] = words
    script.add("inputs = {")
    for label, held in grouped.items():
        shown = held if isinstance(held, str) else f"[{', '.join(held)}]"
        script.add(f"    {text(label)}: {shown},")
    script.add("}")


# ---- attributes -------------------------------------------------------------------------------


def _attributes(script: Script) -> None:
    script.add("attributes = {")
    for one in script.operation.attributes:
        if one.name.startswith("_") or not one.name:
            continue
        words = _attribute(one)
        if words is None:
            script.lack(f"the attribute {one.name} ({one.kind}) cannot be written down")
        else:
            script.add(f"    {text(one.name)}: {words},")
    script.add("}", "")


def _attribute(one: Argument) -> str | None:
    """An attribute as an expression; None where there is none."""
    first = one.values[0] if one.values else None
    match one.kind:
        case "dtype":
            return f"tf.{one.text}" if one.text in KNOWN else None
        case "shape":
            return (
                "None"
                if one.shape is None
                else str([int(n) if n >= 0 else None for n in one.shape])
            )
        case "string":
            return values.literal(_words(first))
        case "list":
            complete = one.elements is None or one.elements == len(one.values)
            return f"[{', '.join(_item(one.text, v) for v in one.values)}]" if complete else None
        case "bool" | "int" | "float":
            return values.literal(values.parsed(first, one.kind)) if one.values else None
        case _:
            return None


def _words(value: object) -> str | bytes:
    """A text as a text, and bytes that are none as bytes."""
    found = str(value)
    if not found.startswith(("b'", 'b"')):
        return found
    return values.octets(found)


def _item(items: str, value: bool | float | str | None) -> str:
    """One of a list; ``items`` says what it is a list of, where that is neither number nor text."""
    match items:
        case "dtypes":
            return f"tf.{value}" if value in KNOWN else "tf.float32"
        case "shapes":
            return _shape(str(value))
        case _ if isinstance(value, str):
            return values.literal(values.ODD_FLOATS.get(value) or _words(value))
        case _:
            return values.literal(value)


def _shape(words: str) -> str:
    """``[2,?]`` as Python writes it; ``?`` alone is a shape of unknown rank."""
    if words == "?":
        return "None"
    sizes = [size.strip() for size in words.strip("[]").split(",") if size.strip()]
    return f"[{', '.join(str(int(s)) if s.isdecimal() else 'None' for s in sizes)}]"


# ---- the call ---------------------------------------------------------------------------------


def _call(script: Script) -> None:
    operation = script.operation
    match _way(script):
        case "eager":
            script.add("print(op(**inputs, **attributes))")
        case "graph":
            script.add(
                *comment(GRAPH), *_function(jit="XLA" in operation.device), "print(call(inputs))"
            )
        case _:
            script.add(
                *comment(MAP),
                *_function(jit=False),
                "for result in tf.data.Dataset.from_tensors(inputs).map(call):",
                "    print(result)",
            )


GRAPH = "It was a node of a graph, so it is one here; its shapes are not known beforehand."
MAP = "It ran in a thread of tf.data, so it does here; its shapes are not known beforehand."


def _function(*, jit: bool) -> list[str]:
    return [
        "specs = tf.nest.map_structure(lambda t: tf.TensorSpec(None, t.dtype), inputs)",
        "",
        "",
        f"@tf.function(input_signature=[specs]{', jit_compile=True' if jit else ''})",
        "def call(inputs):",
        "    result = op(**inputs, **attributes)",
        "    return tf.constant(0) if isinstance(result, tf.Operation) else result",
        "",
        "",
    ]


def _way(script: Script) -> str:
    """Where it ran: called by Python itself, as a node of a graph, or in a thread of tf.data."""
    operation, incident = script.operation, script.incident
    if operation.pipeline:
        return "map"
    thread = next((t for t in incident.threads if t.tid == operation.tid), None)
    has_python = bool(thread and thread.python)
    own_name = operation.node and operation.node not in (operation.op, operation.inner)
    waits = next((t for t in incident.threads if t.tid == incident.pid), None)
    calls = [frame.file for frame in (waits.python if waits else [])[:6]]
    if not has_python and any("/data/ops/" in file for file in calls):
        return "map"
    # An operation that Python calls itself may still run in another thread.
    is_called = not own_name and any("/ops/gen_" in file for file in calls[:4])
    return "graph" if own_name or (thread and not has_python and not is_called) else "eager"
