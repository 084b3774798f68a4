"""The repro of a TensorFlow operation: ``tf.raw_ops.X`` with its inputs and attributes.

What its types already tell is left out when the script runs: ``tf.raw_ops`` itself says what it takes.
A node of a graph runs in a graph again, with shapes that are not known beforehand, so that no check
of shapes stops what TensorFlow did not stop.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from sigwhy.report import repro_values as values
from sigwhy.report.repro_script import comment, name, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sigwhy.model.operation import Argument, Operation
    from sigwhy.report.repro_script import Script

OURS = re.compile(r"/libtensorflow(?:_cc|_framework)?\.so|/_pywrap_\w+\.so|/tensorflow/")
REWRITTEN = re.compile(r"^_Mkl(?:Native)?(?:Fused)?(?=[A-Z])")
OF_A_LIST = re.compile(r"(?P<name>[A-Za-z_]\w{0,199})\[(?P<n>\d{1,5})\]\Z")
# Types that constants cannot have, and those whose bits they are.
BITS = {
    "bfloat16": "uint16", "qint8": "int8", "quint8": "uint8", "qint16": "int16",
    "quint16": "uint16", "qint32": "int32", "float8_e5m2": "uint8", "float8_e4m3fn": "uint8",
    "float8_e4m3fnuz": "uint8", "float8_e4m3b11fnuz": "uint8", "float8_e5m2fnuz": "uint8",
}  # fmt: skip
SMALL_INTS = {"int4": "int8", "uint4": "uint8", "int2": "int8", "uint2": "uint8"}
KNOWN = frozenset((
    *("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    *("uint64", "bool", "string", "complex64", "complex128", "resource", "variant"),
    *BITS, *SMALL_INTS,
))  # fmt: skip
# How a handle is made anew, by the class of what it names and by the operation. Types and shapes are
# those of the operation's attributes and other inputs; what it held is not known.
HANDLES = (
    (r"Var$", "tf.Variable(tf.zeros({shape}, {dtype}), shape=tf.TensorShape(None)).handle"),
    (
        r"lookup|Lookup",
        "tf.raw_ops.MutableHashTableV2(key_dtype={key}, value_dtype={value})",
    ),
    (r"TensorArray", "tf.raw_ops.TensorArrayV3(size=1, dtype={dtype})[0]"),
    (r"Stack", "tf.raw_ops.StackV2(max_size=-1, elem_type={dtype})"),
    (r"Queue", "tf.raw_ops.FIFOQueueV2(component_types=[{dtype}])"),
    (
        r"Iterator",
        "tf.raw_ops.AnonymousIteratorV3(output_types=[{dtype}], output_shapes=[None])",
    ),
    (r"Mutex", "tf.raw_ops.MutexV2()"),
    (r"Barrier", "tf.raw_ops.Barrier(component_types=[{dtype}])"),
    (
        r"RandomSeedGenerator|SeedGenerator",
        "tf.raw_ops.AnonymousRandomSeedGenerator(seed=1, seed2=2)[0]",
    ),
    (
        r"MultiDeviceIterator",
        'tf.raw_ops.AnonymousMultiDeviceIteratorV3(devices=["/cpu:0"], output_types=[{dtype}], output_shapes=[None])',
    ),
    (r"BoostedTreesEnsemble", "tf.raw_ops.BoostedTreesEnsembleResourceHandleOp()"),
    (r"SummaryWriter", "tf.raw_ops.SummaryWriter()"),
)
VARIANTS = (
    (
        r"TensorList",
        "tf.raw_ops.TensorListReserve(element_shape=tf.constant(-1), num_elements={count}, element_dtype={dtype})",
    ),
    (
        r"RaggedTensorVariant",
        "tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[], rt_dense_values=tf.zeros([1], {dtype}), batched_input=False)",
    ),
    (r"TensorMap", "tf.raw_ops.EmptyTensorMap()"),
    (r"Dataset", "tf.data.Dataset.range(3)._variant_tensor"),
    (r"Optional", "tf.raw_ops.OptionalFromValue(components=[tf.zeros([], {dtype})])"),
)
LIST_LENGTH = 3  # of a tensor list whose contents are not known
TYPE_ATTRIBUTES = ("dtype", "element_dtype", "Tparams", "T", "value_dtype", "elem_type", "SrcT")
KEYS, VALUES = ("key_dtype", "Tin", "Tkey"), ("value_dtype", "Tout", "Tvalue")
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


def write(script: Script, inputs: Mapping[str, bytes]) -> None:
    """Write the lines of the script."""
    operation = script.operation
    op = name(REWRITTEN.sub("", operation.op), "an operation")
    script.use("import tensorflow as tf")
    _inputs(script, inputs)
    _attributes(script)
    if not all(argument.name for argument in operation.inputs):
        script.use("from tensorflow.python.framework import op_def_registry")
        script.add(*SPLIT.format(op=text(op)).splitlines(), "")
    _call(script, op)


# ---- inputs -----------------------------------------------------------------------------------


def _inputs(script: Script, members: Mapping[str, bytes]) -> None:
    """A dictionary of inputs by name; a list where the names are not known."""
    operation = script.operation
    made = [(a.name, _made(script, a, members)) for a in operation.inputs]
    if operation.state == "constructing" and made:
        script.lack(
            "the kernel was being made, so inputs did not exist yet; these stand in for them"
        )
    if not all(name for name, _ in made):
        script.add("inputs = [", *(f"    {words}," for _, words in made), "]")
        return
    grouped: dict[str, list[str] | str] = {}
    for label, words in made:
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


def _made(script: Script, argument: Argument, members: Mapping[str, bytes]) -> str:
    """One input as an expression."""
    match argument.dtype:
        case "resource":
            return _handle(script, argument, HANDLES)
        case "variant":
            return _handle(script, argument, VARIANTS)
        case dtype if dtype not in KNOWN:
            script.lack(
                f"{argument.name or 'an input'} has a type that is not known; it is float32 here"
            )
            return _empty([], "float32")
        case _:
            return _tensor(script, argument, members)


def _tensor(script: Script, argument: Argument, members: Mapping[str, bytes]) -> str:
    dtype, shape = argument.dtype, argument.shape
    label = argument.name or "an input"
    if shape is None or math.prod(shape) == 0:
        return _empty([1] if shape is None else shape, dtype)
    array = values.of(argument, members)
    if array is None:
        return _partly(script, argument, label)
    if values.is_even(array) and array.elements > 1:
        return _constant(values.elements(array)[:1], dtype, shape)
    if values.is_short(array):
        return _constant(values.elements(array), dtype, shape)
    stored = script.store(label, members[argument.member])
    if array.kind.startswith("S"):
        return f"tf.constant([s.rstrip(b'\\0')[:-1] for s in {stored}.flat], tf.string, {shape})"
    return _of_bits(f"tf.constant({stored})", dtype)


def _partly(script: Script, argument: Argument, label: str) -> str:
    """A tensor whose elements are not all there: zeros, or what all the known ones are."""
    dtype, shape = argument.dtype, argument.shape or []
    some = values.told(argument)
    if argument.standing in ("gone", "protected", "missing"):
        script.lack(
            f"the memory of {label} was {argument.standing}: that cannot be made anew, here it is in good memory"
        )
    elif len(some) == math.prod(shape):
        return _constant(some, dtype, shape)
    else:
        script.lack(
            f"the values of {label} were not kept whole, zeros stand for them; sigwhy run --inputs full keeps more"
        )
    if some and len({repr(value) for value in some}) == 1:
        return _constant(some[:1], dtype, shape)
    return _empty(shape, dtype)


def _empty(shape: Sequence[int], dtype: str) -> str:
    """Zeros, of which there may be none."""
    sizes = [int(size) for size in shape]
    bits = BITS.get(dtype) or SMALL_INTS.get(dtype)
    return _of_bits(f"tf.zeros({sizes}, tf.{bits or dtype})", dtype)


def _constant(some: Sequence[values.Plain], dtype: str, shape: Sequence[int]) -> str:
    """A constant; of one value it is filled with that."""
    sizes = [int(size) for size in shape]
    bits = BITS.get(dtype) or SMALL_INTS.get(dtype)
    if dtype == "bfloat16" and not all(isinstance(v, int) for v in some):
        return f"tf.cast(tf.constant({_flat(some, sizes)}, tf.float32, {sizes}), tf.bfloat16)"
    words = f"tf.constant({_flat(some, sizes)}, tf.{bits or dtype}"
    plain = len(sizes) == 1 and len(some) == sizes[0]
    return _of_bits(f"{words})" if plain or not sizes else f"{words}, {sizes})", dtype)


def _flat(some: Sequence[values.Plain], sizes: Sequence[int]) -> str:
    one = len(some) == 1 and list(sizes) != [1]
    return values.literal(some[0]) if one else values.listed(some)


def _of_bits(words: str, dtype: str) -> str:
    if dtype in BITS:
        return f"tf.bitcast({words}, tf.{dtype})"
    return f"tf.cast({words}, tf.{dtype})" if dtype in SMALL_INTS else words


def _handle(script: Script, argument: Argument, rows: tuple[tuple[str, str], ...]) -> str:
    """A handle to something new of the same kind."""
    operation = script.operation
    label = argument.name or "an input"
    words = f"{argument.text} {operation.op}" if not argument.text else argument.text
    for form, recipe in rows:
        if re.search(form, words):
            script.lack(
                f"what {label} held ({argument.text or 'unknown'}) is not known; it is new here"
            )
            return recipe.format(
                dtype=_type(operation, TYPE_ATTRIBUTES),
                key=_type(operation, KEYS),
                value=_type(operation, VALUES),
                shape=_likely_shape(operation),
                count=LIST_LENGTH,
            )
    script.lack(f"{label}, a handle to {argument.text or 'something unknown'}, cannot be made here")
    return "None"


def _type(operation: Operation, names: Sequence[str]) -> str:
    """A type that the attributes name, the likeliest first."""
    named = {a.name: a.text for a in operation.attributes if a.kind == "dtype"}
    found = next((named[n] for n in names if named.get(n) in KNOWN), "float32")
    return f"tf.{found}"


def _likely_shape(operation: Operation) -> list[int]:
    """The shape of a variable: mostly that of the last tensor that it is updated with."""
    kind = _type(operation, TYPE_ATTRIBUTES).removeprefix("tf.")
    shapes = [a.shape for a in operation.inputs if a.dtype == kind and a.shape]
    return [int(size) for size in shapes[-1]] if shapes else [4]


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


def _call(script: Script, op: str) -> None:
    operation = script.operation
    if operation.library and not OURS.search(operation.library):
        wanted = op.replace("_", "").lower()
        script.add(f"library = tf.load_op_library({text(operation.library)})")
        script.add(f"op = {OWN_OP.format(name=text(wanted))}")
    elif op.startswith("_"):
        script.lack(
            f"{op} is made by TensorFlow itself when it rewrites graphs; there is no way to call it"
        )
        script.add("op = None")
    else:
        script.add(f"op = tf.raw_ops.{op}")
    script.use("import inspect")
    script.add(
        "known = inspect.signature(op).parameters  # the others follow from the types of the inputs",
        "attributes = {n: value for n, value in attributes.items() if n in known}",
        "",
    )
    match _way(script):
        case "eager":
            script.add("print(op(**inputs, **attributes))")
        case "graph":
            script.add(
                *comment(GRAPH), *_function("XLA" in operation.device), "print(call(inputs))"
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


def _function(jit: bool) -> list[str]:
    return [
        "specs = tf.nest.map_structure(lambda t: tf.TensorSpec(None, t.dtype), inputs)",
        f"@tf.function(input_signature=[specs]{', jit_compile=True' if jit else ''})",
        "def call(inputs):",
        "    return op(**inputs, **attributes)",
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
    inner = {"_NumPyFunction"}
    if own_name or (thread and not has_python and operation.op not in inner):
        waits = next((t for t in incident.threads if t.tid == incident.pid), None)
        data = any("/data/ops/" in frame.file for frame in (waits.python if waits else [])[:6])
        return "map" if data and not has_python else "graph"
    return "eager"
