"""A model as one asks for it: its operators by subgraph and index, their options, its tensors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from sigwhy.tflite.flat import MalformedError, Numbers, Table, fields, root
from sigwhy.tflite.schema import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sigwhy.tflite.flat import Number

OPTIONS = ("builtin_options", "builtin_options_2")
CUSTOM = "CUSTOM"
# Fields whose numbers have names.
NAMED = {
    "padding": "Padding",
    "fused_activation_function": "ActivationFunctionType",
    "weights_format": "FullyConnectedOptionsWeightsFormat",
    "mode": "MirrorPadMode",
    "combiner": "CombinerType",
    "kernel_type": "LSTMKernelType",
    "in_data_type": "TensorType",
    "out_data_type": "TensorType",
    "out_type": "TensorType",
    "idx_out_type": "TensorType",
    "output_type": "TensorType",
}
# Options of these names hold the numbers of subgraphs which the operator runs.
CALLS = (
    *("cond_subgraph_index", "body_subgraph_index", "then_subgraph_index", "else_subgraph_index"),
    *("init_subgraph_index", "subgraph", "decomposition_subgraph_index"),
    *("comparator_subgraph_index", "update_computation_subgraph_index"),
)
MOST_SHOWN = 64


@cache
def names(kind: str) -> tuple[str, ...]:
    """The names of an enumeration by their number."""
    return tuple(NUMBERS[kind].split())


def name_of(kind: str, number: int) -> str:
    """What a number of an enumeration is called; the number itself where nobody has called it."""
    known = names(kind)
    return known[number] if 0 <= number < len(known) and known[number] != "-" else str(number)


@dataclass(frozen=True, slots=True)
class Model:
    """A model whose bytes are read as they are asked for; all may raise ``MalformedError``."""

    root: Table

    @classmethod
    def of(cls, data: bytes | memoryview) -> Model:
        """The model of these bytes."""
        return cls(root(data))

    @property
    def subgraphs(self) -> Sequence[Table]:
        """All subgraphs."""
        return self.root.tables("subgraphs")

    def operator(self, subgraph: int, index: int) -> Table:
        """One operator by its number in a subgraph."""
        return at(at(self.subgraphs, subgraph, "subgraph").tables("operators"), index, "operator")

    def tensor(self, subgraph: int, number: int) -> Table | None:
        """One tensor; None for the number -1, which says that an optional one is left out."""
        tensors = at(self.subgraphs, subgraph, "subgraph").tables("tensors")
        return None if number == -1 else at(tensors, number, "tensor")

    def buffer(self, tensor: Table) -> memoryview | None:
        """The constant bytes of a tensor; None where it has none."""
        held = at(self.root.tables("buffers"), tensor.number("buffer"), "buffer")
        data = held["data"]
        if isinstance(data, Numbers) and len(data):
            return data.data
        start, size = held.number("offset"), held.number("size")  # files of more than 2 GB
        if start <= 1:
            return None
        if start + size > self.root.bytes.size:
            raise MalformedError(f"{held.place} lies outside of the file ({start:#x} + {size:#x})")
        return self.root.bytes.data[start : start + size] if size else None

    def op(self, operator: Table) -> str:
        """What an operator is called: ``CONV_2D``, or what a custom one calls itself."""
        codes = self.root.tables("operator_codes")
        code = at(codes, operator.number("opcode_index"), "operator code")
        # Since schema 3a numbers above 127 stand in a field of their own; the greater one counts.
        number = max(code.number("deprecated_builtin_code"), code.number("builtin_code"))
        name = name_of("BuiltinOperator", number)
        return code.text("custom_code") or name if name == CUSTOM else name


def at(items: Sequence[Table], n: int, what: str) -> Table:
    """One of a row of tables."""
    if not 0 <= n < len(items):
        raise MalformedError(f"there is no {what} {n}, only {len(items)}")
    return items[n]


def options(operator: Table) -> dict[str, Number | str | list[Number]]:
    """The options of an operator by name, its defaults included."""
    found: dict[str, Number | str | list[Number]] = {}
    for held in (operator.table(name) for name in OPTIONS):
        for name, field in fields(held.name).items() if held else ():
            value = held[name] if held else None
            if isinstance(value, Numbers):
                found[name] = list(value[:MOST_SHOWN])
            elif isinstance(value, (bool, float, str)):
                found[name] = value
            elif isinstance(value, int):
                named = NAMED.get(name) if field.type == "int8" else None
                found[name] = name_of(named, value) if named else value
    return found


def calls(operator: Table) -> list[int]:
    """The subgraphs that an operator runs."""
    found: list[int] = []
    for held in (operator.table(name) for name in OPTIONS):
        for name in fields(held.name) if held else ():
            if held and name in CALLS:
                found.append(held.number(name))
            elif held and name == "branch_subgraph_indices":
                found += [int(n) for n in held.numbers(name)]
    return found
