"""A tensor's shape, type and bytes do not fit each other.

What happens: the runtime takes the bytes of a constant for as many elements as the shape says. Where there are fewer, it reads behind them: SIGSEGV, or
SIGBUS behind the end of the file, or numbers from elsewhere. A negative dimension or a product beyond 2^31 becomes another number on the
way. A constant of strings carries its own offsets, which nobody verifies.

How to tell: the type is known; no dimension is negative; the product of the dimensions fits 31 bits; the buffer is there, and holds
exactly the bytes that shape and type want; the offsets of strings rise from the first to the last byte.

Fix: export the model again; where it was edited by hand, write shape and buffer together.
"""

from __future__ import annotations

from struct import unpack_from
from typing import TYPE_CHECKING

from sigwhy.model.check import Check
from sigwhy.subjects.tflite_model import HANDLES, TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Tensor, TfliteModel

CHECK = Check(
    id="tflite-tensors",
    title="shape, type and bytes of a tensor do not fit each other",
    fix="export the model again",
)
MOST_ELEMENTS = 2**31
MOST_BYTES = 2**40
HIGHEST_RANK = 8
MOST_STRINGS = 1 << 18


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield what does not fit, tensor by tensor."""
    buffers = len(model.buffers)
    for graph in model.subgraphs:
        for tensor in graph.tensors:
            place = f"subgraph {graph.index}, {tensor}"
            yield from _shape(tensor, place)
            if tensor.buffer >= buffers:
                says = f"its bytes stand in buffer {tensor.buffer}, but there are {buffers}"
                yield CHECK.problem(says, place=place)
            elif tensor.data is not None:
                yield from _content(tensor, place)


def _shape(tensor: Tensor, place: str) -> Iterator[Problem]:
    if tensor.type not in TYPES and tensor.type not in (*HANDLES, "STRING"):
        yield CHECK.problem(f"no type has the number {tensor.type}", place=place)
    negative = [n for n in tensor.shape if n < 0]
    if negative:
        says = f"a dimension of its shape {_shown(tensor.shape)} is negative"
        yield CHECK.problem(says, place=place)
    elif tensor.count >= MOST_ELEMENTS or (tensor.bytes or 0) >= MOST_BYTES:
        says = (
            f"its shape {_shown(tensor.shape)} has {tensor.count:,} elements, and 2^31 do not fit"
        )
        yield CHECK.problem(says, place=place)
    if tensor.rank > HIGHEST_RANK:
        says = f"it has {tensor.rank} dimensions; few operators take more than {HIGHEST_RANK}"
        yield CHECK.problem(says, place=place, severity="warning", confidence="possible")
    if tensor.signature is not None and len(tensor.signature) not in (0, tensor.rank):
        says = (
            f"shape and shape signature have {tensor.rank} and {len(tensor.signature)} dimensions"
        )
        yield CHECK.problem(says, place=place, severity="warning")


def _content(tensor: Tensor, place: str) -> Iterator[Problem]:
    size = len(tensor.data) if tensor.data is not None else 0
    if tensor.is_variable:
        yield CHECK.problem("it is a variable, and has bytes in the file", place=place)
    if tensor.type in HANDLES:
        yield CHECK.problem(f"a {tensor.type} has bytes in the file", place=place)
    elif tensor.type == "STRING":
        if says := _strings(tensor, size):
            yield CHECK.problem(says, place=place)
    elif tensor.sparsity is None and tensor.bytes is not None and tensor.bytes != size:
        says = (
            f"{tensor.type} of shape {_shown(tensor.shape)} takes {tensor.bytes:,} bytes, "
            f"but buffer {tensor.buffer} has {size:,}"
        )
        yield CHECK.problem(says, place=place)


def _strings(tensor: Tensor, size: int) -> str | None:
    """What is wrong with a constant of strings: a count, one offset more than that, the bytes."""
    if tensor.data is None or size < 4:
        return f"a constant of strings has only {size} bytes"
    count = unpack_from("<i", tensor.data)[0]
    if not 0 <= count <= min(MOST_STRINGS, size // 4 - 2):
        return f"a constant of strings says that it has {count:,}, and has only {size:,} bytes"
    offsets = unpack_from(f"<{count + 1}i", tensor.data, 4)
    if offsets[0] != 4 * (count + 2) or offsets[-1] > size or list(offsets) != sorted(offsets):
        return (
            "the offsets of its strings do not rise from the first string to the end of the bytes"
        )
    if count != tensor.count and tensor.shape:
        return f"it has {count} strings, and its shape {_shown(tensor.shape)} wants {tensor.count}"
    return None


def _shown(shape: tuple[int, ...]) -> str:
    more = "" if len(shape) <= HIGHEST_RANK else ", …"
    return f"[{', '.join(str(n) for n in shape[:HIGHEST_RANK])}{more}]"
