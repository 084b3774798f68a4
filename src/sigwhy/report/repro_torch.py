"""The repro of a PyTorch operator: ``torch.ops.aten.X`` with tensors over storages as they were.

A tensor of PyTorch is a view: sizes, strides and an offset over a storage, which may be too small, be
empty, or have lost its memory. Such a tensor is made as a view of good memory first, which is then made bad.
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

BACKWARD = re.compile(r"Backward\d*\Z")
OVERLOAD = re.compile(r"(?<=\w)\.\w+\Z", re.ASCII)
VARIANT = re.compile(r"_(?:out_functional|functional|out|inplace)\Z")  # of a structured kernel
OURS = re.compile(r"/torch/|/libtorch|/libc10")
OF_A_LIST = re.compile(r"(?P<name>[A-Za-z_]\w{0,199})\[(?P<n>\d{1,5})\]\Z")
PLAIN = frozenset((
    *("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    *("uint64", "bool", "complex64", "complex128"),
))  # fmt: skip
QUANTISED = frozenset(("qint8", "quint8", "qint32"))
SIZES = {
    "float16": 2, "float32": 4, "float64": 8, "int8": 1, "int16": 2, "int32": 4, "int64": 8,
    "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8, "bool": 1, "complex64": 8, "complex128": 16,
    "bfloat16": 2, "qint8": 1, "quint8": 1, "qint32": 4,
}  # fmt: skip
UNSAID = frozenset(("out", "layout", "device", "pin_memory", "requires_grad", "generator", "names"))
MOST_REACH = 1 << 31  # bytes of a storage that a script may ask for
VIEW = '''\
def view(dtype, sizes, strides, offset, storage_bytes, how=""):
    """A tensor over a storage of so many bytes, which may be fewer than it reaches."""
    item = torch.empty(0, dtype=dtype).element_size()
    reach = offset + 1 + sum((n - 1) * s for n, s in zip(sizes, strides)) if all(sizes) else 0
    room = max(reach * item, storage_bytes, item)
    if how:
        made = torch.frombuffer(mapped(room), dtype=dtype).as_strided(sizes, strides, offset)
        spoil(made.untyped_storage().data_ptr(), room, how)
        return made
    made = torch.zeros(-(-room // item), dtype=dtype).as_strided(sizes, strides, offset)
    made.untyped_storage().resize_(storage_bytes)
    return made
'''


def write(script: Script, inputs: Mapping[str, bytes]) -> None:
    """Write the lines of the script."""
    operation = script.operation
    space, base = _operator(operation)
    script.use("import torch")
    named = [a for a in operation.inputs if OF_A_LIST.match(a.name) or a.name.isidentifier()]
    for one in operation.inputs:
        if one not in named and not re.match(r"operand \d|.+\.(?:indices|values|more)\Z", one.name):
            script.lack(f"one input has no name and is left out: {one.name or one.dtype}")
    made = [(a, _made(script, a, inputs)) for a in named]
    if any("view(" in words for _, words in made):
        script.add(*VIEW.splitlines(), "", "")
    script.add("inputs = {")
    for label, words in _grouped(made).items():
        script.add(f"    {text(label)}: {words},")
    for one in operation.attributes:
        if one.name not in UNSAID and one.name.isidentifier():
            _attribute(script, one)
    script.add("}", "")
    if operation.library and not OURS.search(operation.library) and space != "aten":
        script.add(f"torch.ops.load_library({text(operation.library)})")
    script.add(f"print(torch.ops.{space}.{base}(**inputs))")


def _operator(operation: Operation) -> tuple[str, str]:
    """The namespace and name of what is called again."""
    op = operation.op
    if BACKWARD.search(op):
        if not operation.inner:
            raise UsageError(
                f"no repro: {op!a} ran in a backward pass, whose inputs the graph holds; write the forward pass and call .backward()"
            )
        op = operation.inner
    space, _, base = op.rpartition("::")
    # Overloads and outputs are told by the arguments.
    base = VARIANT.sub("", OVERLOAD.sub("", base))
    return name(space or "aten", "a namespace"), name(base, "an operator")


def _grouped(made: Sequence[tuple[Argument, str]]) -> dict[str, str]:
    """By the names of the schema; the items of a list as one."""
    lists: dict[str, list[str]] = {}
    found: dict[str, str] = {}
    for argument, words in made:
        listed = OF_A_LIST.match(argument.name)
        if listed:
            lists.setdefault(listed["name"], []).append(words)
            found[listed["name"]] = f"[{', '.join(lists[listed['name']])}]"
        else:
            found["self" if argument.name == "input" and "self" not in found else argument.name] = (
                words
            )
    return found


# ---- tensors ----------------------------------------------------------------------------------


def _made(script: Script, argument: Argument, members: Mapping[str, bytes]) -> str:
    if argument.text == "sparse":
        return _sparse(script, argument, members)
    dtype = argument.dtype
    if dtype in QUANTISED:
        script.lack(f"scale and zero point of {argument.name} are not known; 1 and 0 here")
        sizes = _sizes(argument)
        return (
            f"torch._empty_affine_quantized({sizes}, scale=1.0, zero_point=0, dtype=torch.{dtype})"
        )
    if dtype not in PLAIN and dtype != "bfloat16":
        script.lack(f"{argument.name} has the type {dtype or 'unknown'}; it is float32 here")
        dtype = "float32"
    if _is_odd(argument, dtype):
        return _view(script, argument, dtype)
    array = values.of(argument, members)
    return (
        _dense_one(script, argument, array, members) if array else _partly(script, argument, dtype)
    )


def _dense_one(
    script: Script, argument: Argument, array: values.Whole, members: Mapping[str, bytes]
) -> str:
    """A tensor with all its elements."""
    dtype = argument.dtype
    if dtype == "bfloat16":
        stored = script.store(argument.name, members[argument.member])
        return f"torch.from_numpy({stored}.view(np.int16)).view(torch.bfloat16)"
    if array.elements > 1 and values.is_even(array):
        value = values.literal(values.elements(array)[0])
        return f"torch.full({_sizes(argument)}, {value}, dtype=torch.{dtype})"
    if values.is_short(array):
        return _literal(values.elements(array), argument, dtype)
    return f"torch.from_numpy({script.store(argument.name, members[argument.member])})"


def _literal(some: Sequence[values.Plain], argument: Argument, dtype: str) -> str:
    sizes = _sizes(argument)
    if not sizes:
        return f"torch.tensor({values.literal(some[0])}, dtype=torch.{dtype})"
    words = f"torch.tensor({values.listed(some)}, dtype=torch.{dtype})"
    return words if len(sizes) == 1 else f"{words}.reshape({sizes})"


def _partly(script: Script, argument: Argument, dtype: str) -> str:
    sizes = _sizes(argument)
    some = values.told(argument)
    if len(some) == math.prod(sizes) > 0:
        return _literal(some, argument, dtype)
    if math.prod(sizes):
        script.lack(
            f"the values of {argument.name} were not kept whole, zeros stand for them; sigwhy run --inputs full keeps more"
        )
    if math.prod(sizes) * SIZES[dtype] > MOST_REACH:
        script.lack(f"{argument.name} is too large to be made here; it is a view of one element")
        return f"torch.zeros(1, dtype=torch.{dtype}).expand({sizes})"
    return f"torch.zeros({sizes}, dtype=torch.{dtype})"


def _sizes(argument: Argument) -> list[int]:
    return [int(size) for size in argument.shape or []]


def _is_odd(argument: Argument, dtype: str) -> bool:
    """Whether it is more than a dense tensor over a storage that holds it."""
    if argument.standing in ("gone", "protected", "missing"):
        return True
    sizes = _sizes(argument)
    too_small = argument.storage and argument.storage[1] < math.prod(sizes) * SIZES[dtype]
    return _strides(argument) != _dense(sizes) or bool(too_small)


def _strides(argument: Argument) -> list[int]:
    sizes = _sizes(argument)
    dense = _dense(sizes)
    if argument.strides is None or len(argument.strides) != len(sizes):
        return dense
    # The step along a dimension of one element is never taken.
    pairs = zip(sizes, argument.strides, dense, strict=True)
    return [int(step) if n > 1 else plain for n, step, plain in pairs]


def _dense(sizes: Sequence[int]) -> list[int]:
    return [math.prod(max(1, n) for n in sizes[at + 1 :]) for at in range(len(sizes))]


def _view(script: Script, argument: Argument, dtype: str) -> str:
    """A view over a storage of its own, with that storage as it was."""
    sizes, strides, offset = _sizes(argument), _strides(argument), int(argument.offset or 0)
    size = argument.storage[1] if argument.storage else 0
    ends = [abs(step) * (n - 1) for n, step in zip(sizes, strides, strict=True) if n]
    reach = (offset + sum(ends) + 1) * SIZES[dtype]
    if reach > MOST_REACH or size > MOST_REACH:
        script.lack(f"{argument.name} reaches over {reach} bytes, too many to be made here")
        return f"torch.zeros(1, dtype=torch.{dtype}).expand({sizes})"
    how = repro_memory.how(script, argument)
    if how:
        repro_memory.use(script)
    elif math.prod(sizes) and argument.standing == "there":
        script.lack(
            f"the values of {argument.name} are zeros here: it is a view, whose storage was not kept"
        )
    bad = f", {text(how)}" if how else ""
    return f"view(torch.{dtype}, {sizes}, {strides}, {offset}, {0 if argument.standing == 'missing' else size}{bad})"


def _sparse(script: Script, argument: Argument, members: Mapping[str, bytes]) -> str:
    """A sparse tensor of the two that it consists of, whose indices nobody checks."""
    parts = {
        a.name.rpartition(".")[2]: a
        for a in script.operation.inputs
        if a.name.startswith(f"{argument.name}.")
    }
    if not {"indices", "values"} <= set(parts):
        script.lack(f"{argument.name} is sparse, and its parts are not known; it is empty here")
        return f"torch.sparse_coo_tensor(size={_sizes(argument)})"
    made = ", ".join(_made(script, parts[part], members) for part in ("indices", "values"))
    return f"torch.sparse_coo_tensor({made}, size={_sizes(argument)}, check_invariants=False)"


# ---- what is no tensor ------------------------------------------------------------------------


def _attribute(script: Script, one: Argument) -> None:
    words = _plain(one)
    if words is None:
        script.lack(f"the argument {one.name} ({one.kind}) is not known")
    else:
        script.add(f"    {text(one.name)}: {words},")


def _plain(one: Argument) -> str | None:
    match one.kind:
        case "none":
            return "None"
        case "dtype":
            found = one.text.removeprefix("torch.")
            return f"torch.{found}" if found in SIZES else None
        case "list" | "shape":
            some = one.shape if one.kind == "shape" and one.shape else one.values
            known = all(isinstance(v, (bool, int, float)) for v in some)
            return f"[{', '.join(values.literal(v) for v in some)}]" if known else None
        case "bool" | "int" | "float" | "string" | "str" if one.values:
            return values.literal(values.parsed(one.values[0], one.kind))
        case _:
            return None
