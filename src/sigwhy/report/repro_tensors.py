"""The inputs of a TensorFlow operation as expressions: constants, their bits, memory that was not its own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sigwhy.report import repro_handles, repro_memory
from sigwhy.report import repro_values as values
from sigwhy.report.repro_script import text
from sigwhy.report.repro_types import ALIGNED, BITS, KNOWN, MOST_ELEMENTS, SHARED, SMALL_INTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sigwhy.model.operation import Argument
    from sigwhy.report.repro_script import Script

FOREIGN = '''\
def foreign(like, before, how=""):
    """A tensor over memory that is not TensorFlow's own, so many bytes behind an aligned place."""
    whole = np.frombuffer(mapped(before + like.nbytes), np.uint8)
    made = whole[before : before + like.nbytes].view(like.dtype).reshape(like.shape)
    tensor = tf.experimental.dlpack.from_dlpack(made.__dlpack__())
    made[...] = like
    if how:
        spoil(whole.ctypes.data, len(whole), how)
    return tensor
'''


def made(script: Script, argument: Argument, members: Mapping[str, bytes]) -> str:
    """One input as an expression."""
    match argument.dtype:
        case "resource":
            return repro_handles.handle(script, argument, repro_handles.HANDLES)
        case "variant":
            return repro_handles.handle(script, argument, repro_handles.VARIANTS)
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
    if dtype in SHARED and _is_foreign(script, argument):
        return _foreign(script, argument, array, label)
    return (
        _whole(script, argument, array, members[argument.member])
        if array
        else _partly(script, argument, label)
    )


def _whole(script: Script, argument: Argument, array: values.Whole, member: bytes) -> str:
    """A tensor with all its elements."""
    dtype, shape = argument.dtype, argument.shape or []
    if values.is_even(array) and array.elements > 1:
        return _constant(values.elements(array)[:1], dtype, shape)
    if values.is_short(array):
        return _constant(values.elements(array), dtype, shape)
    stored = script.store(argument.name or "input", member)
    if array.kind.startswith("S"):
        return f"tf.constant([s.rstrip(b'\\0')[:-1] for s in {stored}.flat], tf.string, {shape})"
    return _of_bits(f"tf.constant({stored})", dtype)


def _is_foreign(script: Script, argument: Argument) -> bool:
    """Whether its memory is not as TensorFlow makes it: taken away, or off its alignment."""
    astray = argument.address is not None and argument.address % ALIGNED
    small = math.prod(argument.shape or []) <= MOST_ELEMENTS
    return small and bool(repro_memory.how(script, argument) or astray)


def _foreign(script: Script, argument: Argument, array: values.Whole | None, label: str) -> str:
    """A tensor that shares memory with NumPy, as one does that TensorFlow was handed."""
    how = repro_memory.how(script, argument)
    repro_memory.use(script)
    script.use("import numpy as np")
    if not any(line.startswith("def foreign") for line in script.lines):
        script.add(*FOREIGN.splitlines(), "", "")
    shape = [int(size) for size in argument.shape or []]
    like = f"np.zeros({shape}, np.{argument.dtype})"
    if array and values.is_short(array):
        like = f"np.array({values.listed(values.elements(array))}, np.{argument.dtype}).reshape({shape})"
    elif not how:
        script.lack(
            f"{label} lies off the alignment of TensorFlow, as here; its values are zeros here"
        )
    bad = f", {text(how)}" if how else ""
    return f"foreign({like}, {(argument.address or 0) % ALIGNED}{bad})"


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
