"""One .tflite model, read once for all checks: its tensors, its operators and what they hold.

Nothing here imports anything heavy: ``sigwhy.guard`` uses it inside the user's process.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

from sigwhy.subjects.foreign import looks_like
from sigwhy.tflite.flat import IDENTIFIER, SMALLEST
from sigwhy.tflite.model import CALLS, name_of
from sigwhy.tflite.whole import Fault, Whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.target import Target
    from sigwhy.tflite.whole import Row

# Bits of one element, and the letter by which Python reads it.
TYPES = {
    "FLOAT32": (32, "f"), "FLOAT16": (16, ""), "INT32": (32, "i"), "UINT8": (8, "B"), "INT64": (64, "q"),
    "BOOL": (8, "B"), "INT16": (16, "h"), "COMPLEX64": (64, ""), "INT8": (8, "b"), "FLOAT64": (64, "d"),
    "COMPLEX128": (128, ""), "UINT64": (64, "Q"), "UINT32": (32, "I"), "UINT16": (16, "H"), "INT4": (4, ""),
    "BFLOAT16": (16, ""), "INT2": (2, ""), "UINT4": (4, ""), "FLOAT8_E4M3FN": (8, ""), "FLOAT8_E5M2": (8, ""),
}  # fmt: skip
HANDLES = ("RESOURCE", "VARIANT")
MOST_VALUES = 1 << 20  # a constant with more numbers is weights, and no index or shape
NONE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor: ``data`` is what the file holds of it, None where it is computed."""

    index: int
    name: str
    type: str
    shape: tuple[int, ...]
    signature: tuple[int, ...] | None
    buffer: int
    data: memoryview | None
    is_variable: bool
    quantization: Row | None
    sparsity: Row | None

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def count(self) -> int:
        """How many elements it has."""
        return prod(self.shape)

    @property
    def bytes(self) -> int | None:
        """How many bytes it takes; None where its type does not say."""
        known = TYPES.get(self.type)
        return (self.count * known[0] + 7) // 8 if known else None

    @property
    def values(self) -> Sequence[int] | Sequence[float] | None:
        """The numbers of a small constant; None where nobody knows them before it runs."""
        letter: Any = TYPES.get(self.type, (0, ""))[1]
        if self.data is None or not letter or self.sparsity or self.count > MOST_VALUES:
            return None
        if len(self.data) != self.bytes:
            return None
        values: memoryview = self.data.cast("B").cast(letter)
        return values

    @property
    def scales(self) -> Sequence[float]:
        """The scales of its quantisation."""
        found = self.quantization["scale"] if self.quantization else None
        return () if found is None else found

    def __str__(self) -> str:
        """As a report names it."""
        return f"tensor {self.index}" + (f" ({self.name})" if self.name else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An operator as it stands in the file; its indices may be wrong."""

    subgraph: int
    index: int
    name: str
    code: int
    version: int
    custom: str | None
    inputs: tuple[int, ...] | None
    outputs: tuple[int, ...] | None
    row: Row
    known: bool = True

    @property
    def options(self) -> Row | None:
        """Its options."""
        found: Row | None = self.row["builtin_options"] or self.row["builtin_options_2"]
        return found

    @property
    def place(self) -> str:
        """As a report names it."""
        called = self.custom or self.name
        return f"subgraph {self.subgraph}, operator {self.index} ({called})"


@dataclass(frozen=True, slots=True)
class Node:
    """An operator whose tensors are all there; None stands for one that was left out."""

    operator: Operator
    inputs: tuple[Tensor | None, ...]
    outputs: tuple[Tensor | None, ...]

    @property
    def name(self) -> str:
        """The operator's name."""
        return self.operator.name

    @property
    def options(self) -> Row:
        """The options; without them nothing, as if all were absent."""
        return self.operator.options or {}

    def option(self, name: str, default: int = 0) -> int:
        """One option that is a number."""
        found = self.options.get(name, default)
        return int(found) if isinstance(found, (bool, int)) else default

    def place(self, what: str = "") -> str:
        """As a report names it, and what in it."""
        return f"{self.operator.place}, {what}" if what else self.operator.place

    def input(self, n: int) -> Tensor | None:
        """An input; None where it was left out or never was."""
        return self.inputs[n] if n < len(self.inputs) else None

    def output(self, n: int = 0) -> Tensor | None:
        """An output."""
        return self.outputs[n] if n < len(self.outputs) else None

    def values(self, n: int) -> Sequence[int] | Sequence[float] | None:
        """The numbers of an input that is a constant."""
        tensor = self.input(n)
        return tensor.values if tensor else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph:
    """A subgraph: a function of the model."""

    index: int
    name: str
    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    row: Row


@dataclass(frozen=True)
class TfliteModel:
    """A model, or what the bytes are instead (``foreign``)."""

    size: int
    root: Row | None
    faults: tuple[Fault, ...] = ()
    foreign: str | None = None
    data: memoryview = field(default=memoryview(b""), repr=False)
    targets: tuple[Target, ...] = ()
    memory_limit: int | None = None
    verbose: bool = False

    @classmethod
    def of(
        cls,
        data: bytes | memoryview,
        *,
        targets: tuple[Target, ...] = (),
        memory_limit: int | None = None,
        verbose: bool = False,
    ) -> TfliteModel:
        """Read these bytes; never raises for what they are."""
        view = memoryview(data).cast("B")
        if len(view) < SMALLEST or bytes(view[4:8]) != IDENTIFIER:
            return cls(len(view), None, foreign=looks_like(view))
        whole = Whole(view)
        root = whole.model()
        return cls(
            len(view),
            root,
            tuple(whole.faults),
            data=view,
            targets=targets,
            memory_limit=memory_limit,
            verbose=verbose,
        )

    def rows(self, name: str) -> Sequence[Row | None]:
        """A vector of tables of the model itself."""
        return (self.root or {}).get(name) or ()

    @cached_property
    def buffers(self) -> Sequence[memoryview | None]:
        """What each buffer holds; those behind the flatbuffer are told by offset and size."""
        return [self._content(row) for row in self.rows("buffers")]

    def _content(self, row: Row | None) -> memoryview | None:
        if row is None:
            return None
        data: memoryview | None = row["data"]
        if data is not None and len(data):
            return data
        start, size = row["offset"], row["size"]
        inside = start > 1 and size and start + size <= self.size
        return self.data[start : start + size] if inside else None

    @cached_property
    def subgraphs(self) -> Sequence[Subgraph]:
        """All subgraphs that could be read; the index of one that could not stays free."""
        rows = self.rows("subgraphs")
        return [self._subgraph(n, row) for n, row in enumerate(rows) if row is not None]

    def _subgraph(self, index: int, row: Row) -> Subgraph:
        tensors = (self._tensor(n, one or {}) for n, one in enumerate(row["tensors"] or ()))
        operators = (self._operator(index, n, o) for n, o in enumerate(row["operators"] or ()) if o)
        return Subgraph(
            index=index,
            name=row["name"] or "",
            tensors=tuple(tensors),
            operators=tuple(operators),
            inputs=tuple(row["inputs"] or ()),
            outputs=tuple(row["outputs"] or ()),
            row=row,
        )

    def _tensor(self, index: int, row: Row) -> Tensor:
        buffer = row.get("buffer", 0)
        shape, signature = row.get("shape"), row.get("shape_signature")
        return Tensor(
            index=index,
            name=row.get("name") or "",
            type=name_of("TensorType", row.get("type", 0)),
            shape=tuple(shape or ()),
            signature=tuple(signature) if signature is not None else None,
            buffer=buffer,
            data=self.buffers[buffer] if 0 < buffer < len(self.buffers) else None,
            is_variable=bool(row.get("is_variable")),
            quantization=row.get("quantization"),
            sparsity=row.get("sparsity"),
        )

    def _operator(self, subgraph: int, index: int, row: Row) -> Operator:
        codes = self.rows("operator_codes")
        code = codes[row["opcode_index"]] if row["opcode_index"] < len(codes) else None
        # Since schema 3a numbers above 127 stand in a field of their own; the greater one counts.
        number = max(code["deprecated_builtin_code"], code["builtin_code"]) if code else NONE
        name = name_of("BuiltinOperator", number)
        inputs, outputs = row["inputs"], row["outputs"]
        return Operator(
            subgraph=subgraph,
            index=index,
            name=name,
            code=number,
            version=code["version"] if code else 0,
            custom=code["custom_code"] if code and name == "CUSTOM" else None,
            inputs=tuple(inputs) if inputs is not None else None,
            outputs=tuple(outputs) if outputs is not None else None,
            row=row,
            known=code is not None and name != str(number),
        )

    @cached_property
    def nodes(self) -> Sequence[Node]:
        """Every operator whose indices lead to tensors."""
        return [node for graph in self.subgraphs for node in _nodes(graph)]

    def named(self, *names: str) -> Iterator[Node]:
        """The nodes of these operators."""
        return (node for node in self.nodes if node.operator.name in names)


def _nodes(graph: Subgraph) -> Iterator[Node]:
    valid = range(NONE, len(graph.tensors))
    for operator in graph.operators:
        inputs, outputs = operator.inputs or (), operator.outputs or ()
        if all(n in valid for n in inputs) and all(n in valid for n in outputs):
            yield Node(
                operator,
                tuple(graph.tensors[n] if n >= 0 else None for n in inputs),
                tuple(graph.tensors[n] if n >= 0 else None for n in outputs),
            )


def called(operator: Operator) -> Iterator[tuple[str, int]]:
    """The subgraphs that an operator runs, with the option that names each."""
    for options in (operator.row["builtin_options"], operator.row["builtin_options_2"]):
        for name, value in (options or {}).items():
            if name in CALLS:
                yield name, value
            elif name == "branch_subgraph_indices":
                yield from ((name, n) for n in value or ())
