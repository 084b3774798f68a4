"""Handles to resources and variants of TensorFlow, made anew: what they led to is not in the Incident.

Types and shapes are those that the handle declares, else those of the operation's attributes and other inputs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.report.repro_types import KNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sigwhy.model.operation import Argument, Operation
    from sigwhy.report.repro_script import Script

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
HELD = re.compile(r" of (?P<dtype>\w{1,30})\[(?P<shape>[\d,?]{0,200})\]")
LIST_LENGTH = 3  # of a tensor list whose contents are not known
TYPE_ATTRIBUTES = ("dtype", "element_dtype", "Tparams", "T", "value_dtype", "elem_type", "SrcT")
KEYS = ("key_dtype", "Tin", "Tkey", "Tkeys")
VALUES = ("value_dtype", "Tout", "Tvalue", "Tvalues")


def handle(script: Script, argument: Argument, rows: tuple[tuple[str, str], ...]) -> str:
    """A handle to something new of the same kind."""
    operation = script.operation
    label = argument.name or "an input"
    held = HELD.search(argument.text)
    for form, recipe in rows:
        if re.search(form, HELD.sub("", argument.text) or operation.op):
            words = argument.text or "unknown"
            script.lack(f"the contents of {label} ({words}) are not known; it is new here")
            known = f"tf.{held['dtype']}" if held and held["dtype"] in KNOWN else None
            return recipe.format(
                dtype=known or _type(operation, TYPE_ATTRIBUTES),
                key=_type(operation, KEYS),
                value=_type(operation, VALUES),
                shape=_sizes(held["shape"]) if held else _likely_shape(operation),
                count=LIST_LENGTH,
            )
    script.lack(f"{label}, a handle to {argument.text or 'something unknown'}, cannot be made here")
    return "None"


def _type(operation: Operation, names: Sequence[str]) -> str:
    """A type that the attributes name, the likeliest first."""
    named = {a.name: a.text for a in operation.attributes if a.kind == "dtype"}
    found = next((named[n] for n in names if named.get(n) in KNOWN), "float32")
    return f"tf.{found}"


def _sizes(words: str) -> list[int]:
    """The sizes of a declared shape; one that is open is 1."""
    return [int(size) if size.isdecimal() else 1 for size in words.split(",") if size]


def _likely_shape(operation: Operation) -> list[int]:
    """The shape of a variable: mostly that of the last tensor that it is updated with."""
    kind = _type(operation, TYPE_ATTRIBUTES).removeprefix("tf.")
    shapes = [a.shape for a in operation.inputs if a.dtype == kind and a.shape]
    return [int(size) for size in shapes[-1]] if shapes else [4]
