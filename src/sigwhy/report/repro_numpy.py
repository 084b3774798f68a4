"""The repro of a NumPy, SciPy or pandas call: its arrays over memory as it was, and the call itself.

The arrays are known by where they lay and not always by the name of a parameter, so they are given in the
order in which they were found.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from sigwhy.model.error import UsageError
from sigwhy.report import repro_memory
from sigwhy.report import repro_values as values
from sigwhy.report.repro_script import name, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sigwhy.model.operation import Argument, Operation
    from sigwhy.report.repro_script import Script

TYPE = re.compile(r"(?:bool|u?int(?:8|16|32|64)|float(?:16|32|64)|complex(?:64|128))\Z")
METHOD = re.compile(r"numpy\.(?:ndarray|memmap|matrix|recarray)\.")
MOST_REACH = 1 << 31
VIEW = '''\
def view(dtype, sizes, strides, before, size, how=""):
    """An array over memory of its own: strides in elements, bytes before its first element."""
    item = np.dtype(dtype).itemsize
    steps = [item * step for step in strides]
    whole = np.frombuffer(mapped(size), np.uint8)
    made = np.lib.stride_tricks.as_strided(whole[before:].view(dtype), sizes, steps, writeable=True)
    if how:
        spoil(whole.ctypes.data, size, how)
    return made
'''


def write(script: Script, inputs: Mapping[str, bytes]) -> None:
    """Write the lines of the script."""
    operation = script.operation
    call = _call(operation)
    if any("locate(" in line for line in call):
        script.use("from pydoc import locate")
    script.use("import numpy as np")
    arrays = [a for a in operation.inputs if a.kind == "array" and TYPE.match(a.dtype)]
    for one in operation.inputs:
        if one not in arrays:
            script.lack(
                f"{one.name or one.variable or 'an input'} ({one.dtype or one.kind}) cannot be made here"
            )
    made = [_made(script, a, inputs) for a in arrays]
    if any("view(" in words for words in made):
        repro_memory.use(script)
        script.add(*VIEW.splitlines(), "", "")
    script.add("arrays = [")
    for argument, words in zip(arrays, made, strict=True):
        label = argument.variable or argument.name
        shown = f"  # {ascii(label)[1:-1][:60]}" if label else ""
        script.add(f"    {words},{shown}")
    script.add("]")
    script.lack(
        "the call is given the arrays in the order in which they were found, and nothing else"
    )
    script.add(*call)


def _call(operation: Operation) -> Sequence[str]:
    """The lines of the call: a ufunc, a method of an array, or a function by its path."""
    op = operation.op
    if method := METHOD.match(op):
        return (f"print(arrays[0].{name(op[method.end() :], 'a method')}())",)
    if op in ("numpy", "numpy.") and operation.inner:
        op = f"numpy.{operation.inner}"
    module, _, function = op.rpartition(".")
    if not module or not all(part.isidentifier() for part in op.split(".")):
        raise UsageError(f"no repro: {op!a} is no function that a script can call")
    path = ".".join(name(part, "a module") for part in module.split("."))
    checked = name(function, "a function")
    found = f"np.{checked}" if path == "numpy" else f"locate({text(f'{path}.{checked}')})"
    return (
        f"call = {found}",
        'print(call(*arrays[: getattr(call, "nin", None)]))',
    )


def _made(script: Script, argument: Argument, members: Mapping[str, bytes]) -> str:
    label = argument.name or argument.variable or "an array"
    sizes = [int(size) for size in argument.shape or []]
    array = values.of(argument, members)
    if repro_memory.how(script, argument) or (array is None and _is_strided(argument, sizes)):
        return _view(script, argument, label, sizes)
    if array is None:
        some = values.told(argument)
        if len(some) == math.prod(sizes):
            return _literal(some, argument.dtype, sizes)
        script.lack(
            f"the values of {label} were not kept whole, zeros stand for them; sigwhy run --inputs full keeps more"
        )
        return f"np.zeros({tuple(sizes)}, np.{_type(argument)})"
    if values.is_even(array) and array.elements > 1:
        value = values.literal(values.elements(array)[0])
        return f"np.full({tuple(sizes)}, {value}, np.{_type(argument)})"
    if values.is_short(array):
        return _literal(values.elements(array), argument.dtype, sizes)
    return script.store(label, members[argument.member])


def _type(argument: Argument) -> str:
    return "bool_" if argument.dtype == "bool" else argument.dtype


def _literal(some: Sequence[values.Plain], dtype: str, sizes: Sequence[int]) -> str:
    kind = "bool_" if dtype == "bool" else dtype
    words = f"np.array({values.listed(some)}, np.{kind})"
    return words if len(sizes) == 1 else f"{words}.reshape({tuple(sizes)})"


def _is_strided(argument: Argument, sizes: Sequence[int]) -> bool:
    dense = [math.prod(sizes[at + 1 :]) for at in range(len(sizes))]
    return argument.strides is not None and argument.strides != dense


def _view(script: Script, argument: Argument, label: str, sizes: list[int]) -> str:
    """An array over memory of its own, as large as its owner had; what it reaches beyond is not there."""
    strides = [int(step) for step in argument.strides or []]
    if len(strides) != len(sizes):
        strides = [math.prod(sizes[at + 1 :]) for at in range(len(sizes))]
    item = int(re.sub(r"\D", "", argument.dtype) or 8) // 8
    start, owned = argument.storage or (argument.address or 0, math.prod(sizes) * item)
    before = max((argument.address or start) - start, 0)
    if owned > MOST_REACH or before > max(owned - item, 0):
        script.lack(f"{label} lies outside of its memory or is too large; zeros stand for it")
        return f"np.zeros({tuple(sizes)}, np.{_type(argument)})"
    how = repro_memory.how(script, argument)
    if not how and all(sizes):
        script.lack(
            f"the values of {label} are zeros here: it is a view, whose memory was not kept"
        )
    bad = f", {text(how)}" if how else ""
    return (
        f"view(np.{_type(argument)}, {tuple(sizes)}, {strides}, {before}, {max(owned, item)}{bad})"
    )
