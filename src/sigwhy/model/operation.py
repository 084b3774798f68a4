"""An operation of a framework as it was found in the memory of a process, and its arguments.

What was read is kept raw: names, types, sizes, first values, and how each was found. Which argument
is to blame is said anew each time the Incident is explained. A field that could not be read and
verified keeps its default; a wrong word is worse than none.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Framework = Literal["tensorflow", "tflite", "torch", "numpy", "scipy", "pandas", "opencv", "pyarrow", "h5py"]  # fmt: skip
# running: it died inside. constructing: its kernel was being made, inputs do not exist yet.
# left: an exception had just left it. beside: another thread was in it.
State = Literal["running", "constructing", "left", "beside"]
# How the memory of an argument stands: there; partly or wholly not mapped; not to be read;
# none although it has elements; on a device; none needed.
Standing = Literal["there", "gone", "protected", "missing", "device", "none"]
Value = bool | int | float | str | None


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The base of all parts: frozen, named fields, and nothing is written that was not seen."""


class Argument(Part, frozen=True):
    """An input, output or attribute: a tensor or array, or a plain value.

    ``kind`` is what it is: tensor, array, resource, variant, int, float, bool, string, dtype, shape,
    function, list, none, object. Plain values stand in ``values`` (a list has several), in words in
    ``text`` where they are neither numbers nor strings. ``shape`` is None where its rank is unknown.
    """

    name: str = ""
    kind: str = "tensor"
    dtype: str = ""
    shape: list[int] | None = None
    strides: list[int] | None = None  # in elements
    offset: int | None = None  # of the first element within its storage, in elements
    values: list[
        Value
    ] = []  # the first ones; a complex number and bytes are written as Python does
    text: str = ""
    extremes: list[int] = []  # of whole numbers, the smallest and the largest of all looked at
    elements: int | None = None
    address: int | None = None  # where its first element lies
    storage: tuple[int, int] | None = None  # where its storage begins, and its size in bytes
    standing: Standing = "there"
    mapped: str = ""  # the file whose mapping holds it
    variable: str = ""  # the Python name that holds it
    member: str = ""  # the member of the Incident with all its bytes, as .npy
    number: int | None = None  # of the tensor in its model
    scales: list[float | str] | None = None  # one that is no number in words: nan, inf
    zero_points: list[int] | None = None
    constant: bool = False  # it is a part of the model
    note: str = ""  # what is odd about it, in words


class Model(Part, frozen=True):
    """The model that an operation belongs to, and where it stands in it."""

    path: str = ""
    address: int | None = None  # where its bytes lie
    size: int | None = None
    sha256: str = ""  # of its bytes in memory, where all could be read
    member: str = ""  # the member of the Incident with all its bytes, as .npy of uint8
    owner: int | None = None  # where the interpreter has its first subgraph
    subgraph: int | None = None
    index: int | None = None  # of the node in its subgraph
    cycle: list[int] = []  # subgraphs that call each other without end


class Operation(Part, frozen=True):
    """One operation: what it is, where it stood, and with what.

    ``found`` says in words how it was found ("its parameters lie on the stack"); ``is_hint`` marks
    what may be old news. ``trace`` is where the user's program made the node, where that is kept.
    """

    framework: Framework
    op: str
    tid: int | None = None
    state: State = "running"
    found: str = ""
    is_hint: bool = False
    inner: str = ""  # the operation below it that really ran: addmm of linear
    node: str = ""
    device: str = ""
    kernel: str = ""  # the class or function that runs it, as people write it
    library: str = ""  # the file that defines it
    phase: str = ""  # TFLite: load, init, prepare, invoke, delegate, delete
    call: str = ""  # the API call that led there: Interpreter.invoke
    delegate: str = ""
    pipeline: str = ""  # tf.data: Iterator::Root::Map
    model: Model | None = None
    inputs: list[Argument] = []
    outputs: list[Argument] = []
    attributes: list[Argument] = []
    trace: list[str] = []  # file:line in function(), innermost first
    missing: list[str] = []  # what could not be read, and why
