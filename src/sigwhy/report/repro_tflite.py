"""The repro of a TensorFlow Lite operator: the model cut down to it, and what it was fed with.

Where the model cannot be cut (it is damaged, or the operator runs other subgraphs) it stays whole, and
is fed with zeros.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.model.error import UsageError
from sigwhy.report import repro_values as values
from sigwhy.tflite import MalformedError
from sigwhy.tflite.alone import Alone, alone

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sigwhy.model.operation import Argument, Model
    from sigwhy.report.repro_script import Script

MOST_BYTES = 256 << 20
MAGIC = b"TFL3"
HEAD = """\
try:
    from ai_edge_litert import interpreter as lite
except ImportError:
    from tensorflow import lite
"""
PLAIN = frozenset((
    *("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    *("uint64", "bool", "complex64", "complex128"),
))  # fmt: skip
# How far the script goes, by the phase of the death.
LOADED = frozenset(("load",))
PREPARED = frozenset(("init", "prepare", "delegate"))
FILLED = """\
for details in interpreter.get_input_details():
    if details["dtype"] is not np.bytes_:
        interpreter.set_tensor(details["index"], np.zeros(details["shape"], details["dtype"]))
"""


def write(script: Script, inputs: Mapping[str, bytes]) -> None:
    """Write the lines of the script, and the model that belongs to it."""
    operation = script.operation
    model = operation.model
    data = _bytes(model, inputs) if model else None
    if model is None or data is None:
        where = (
            f"its file {model.path} is not here or was changed"
            if model and model.path
            else "it was in memory only"
        )
        raise UsageError(
            f"no repro: the model was not kept, and {where}; run it once more with sigwhy run --inputs full"
        )
    cut = _cut(script, model, data)
    script.model = cut.data if cut else data
    script.use("from pathlib import Path")
    script.use("import numpy as np")
    script.add(*HEAD.splitlines(), "")
    _interpreter(script)
    if operation.phase in LOADED:
        return
    if operation.phase in PREPARED and "invoke" not in operation.call.lower():
        script.add("interpreter.allocate_tensors()")
        return
    if cut:
        _feed(script, cut, inputs)
    else:
        script.add("interpreter.allocate_tensors()", *FILLED.splitlines())
    script.add("interpreter.invoke()", "for details in interpreter.get_output_details():")
    script.add('    print(interpreter.get_tensor(details["index"]))')


def _bytes(model: Model, inputs: Mapping[str, bytes]) -> bytes | None:
    """The bytes of the model: of the Incident, else of its file where that is still the same."""
    array = values.whole(inputs[model.member]) if model.member in inputs else None
    if array is not None and array.kind == "u1":
        return array.data
    path = Path(model.path) if model.path else None
    try:
        if path is None or not path.is_file() or path.stat().st_size > MOST_BYTES:
            return None
        data = path.read_bytes()
    except OSError:
        return None
    # The Incident names the file, and may be hostile: nothing but a model leaves this function.
    is_same = not model.sha256 or hashlib.sha256(data).hexdigest() == model.sha256
    return data if data[4:8] == MAGIC and is_same else None


def _cut(script: Script, model: Model, data: bytes) -> Alone | None:
    """The model of one operator, where it can be cut."""
    if model.index is None or model.subgraph is None:
        return None
    shapes = {
        one.number: one.shape
        for one in script.operation.inputs
        if one.number is not None and one.shape is not None
    }
    try:
        return alone(data, model.subgraph, model.index, shapes)
    except MalformedError as error:
        script.lack(f"the model is whole, not cut to the operator: {error}")
    return None


def _interpreter(script: Script) -> None:
    delegate = script.operation.delegate
    if delegate and "XNN" not in delegate.upper():
        script.lack(f"the delegate {delegate} is not loaded here")
    script.add(
        'model = str(Path(__file__).with_suffix(".tflite"))',
        "interpreter = lite.Interpreter(model_path=model)",
    )


def _feed(script: Script, cut: Alone, members: Mapping[str, bytes]) -> None:
    """Give each input of the cut model what it had."""
    known = {one.number: one for one in script.operation.inputs}
    script.add("interpreter.allocate_tensors()")
    for number in cut.feeds:
        words = _value(script, known.get(number), number, members)
        if words:
            script.add(f"interpreter.set_tensor({number}, {words})")


def _value(
    script: Script, argument: Argument | None, number: int, members: Mapping[str, bytes]
) -> str:
    """An input as an expression; nothing where it stays as the interpreter makes it."""
    if argument is None or argument.dtype not in PLAIN or argument.shape is None:
        script.lack(f"the values of tensor {number} are not known")
        return ""
    array = values.of(argument, members)
    if array is None:
        script.lack(
            f"the values of tensor {number} ({argument.dtype}) were not kept; zeros stand for them"
        )
        return f"np.zeros({tuple(argument.shape)}, np.{argument.dtype})"
    kind = "bool_" if argument.dtype == "bool" else argument.dtype
    if values.is_even(array) and array.elements > 1:
        value = values.literal(values.elements(array)[0])
        return f"np.full({array.shape}, {value}, np.{kind})"
    if values.is_short(array):
        return (
            f"np.array({values.listed(values.elements(array))}, np.{kind}).reshape({array.shape})"
        )
    return script.store(f"tensor {number}", members[argument.member])
