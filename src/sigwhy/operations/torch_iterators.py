"""Iterators over elements and the kernels that derive from them; both lie on the stack themselves.

The class of a structured kernel names the operator that really runs (``addmm`` of ``linear``), and
the iterator holds its operands, the outputs first.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations.classes import is_pointer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sigwhy.operations.scene import Scene
    from sigwhy.operations.torch_tensors import Tensor, Tensors

ITERATOR = "N2at18TensorIteratorBaseE"
META = "N2at4impl8MetaBaseE"
# The class is named within a namespace without a name, and its length stands before it:
# N2at12_GLOBAL__N_135structured_ufunc_add_CPU_functionalE
STRUCTURED = re.compile(r"(structured_(?:ufunc_)?(\w+?)_(?:functional|inplace|out))E\Z")
BACKEND = re.compile(r"(?:_(?:out|cpu|CPU|structured|default_backend))+\Z")
OPERANDS = (184, *range(96, 320, 8))  # where the list of them may begin
OPERAND_BYTES, OPERAND_TENSOR = (136, *range(96, 200, 8)), (88, *range(0, 136, 8))
MOST_OPERANDS = 64


@dataclass(frozen=True, slots=True)
class Iterator:
    """An iterator: where it lies, the structured operator that it is, and its operands."""

    at: int
    operator: str
    operands: tuple[Tensor, ...]


class Iterators:
    """Iterators and structured kernels of one scene."""

    def __init__(self, scene: Scene, tensors: Tensors) -> None:
        self.scene, self.tensors = scene, tensors
        self._layout: tuple[int, int, int] | None = None

    def at(self, address: int) -> Iterator | None:
        """The iterator or structured kernel that begins there."""
        classes = self.scene.classes.of(address)
        if ITERATOR not in classes and META not in classes:
            return None
        found = STRUCTURED.search(classes[0])
        if found and not classes[0].endswith(f"{len(found[1])}{found[1]}E"):
            found = None
        operands = self._operands(address) if ITERATOR in classes else ()
        return Iterator(address, BACKEND.sub("", found[2]) if found else "", tuple(operands))

    def _operands(self, address: int) -> Sequence[Tensor]:
        if self._layout:
            return self._with_layout(address, *self._layout)
        for at in OPERANDS:
            for size in OPERAND_BYTES:
                for inner in OPERAND_TENSOR:
                    found = self._with_layout(address, at, size, inner)
                    if len(found) > 1:
                        self._layout = at, size, inner
                        return found
                    if not found and inner == OPERAND_TENSOR[0] and not self._is_list(address + at):
                        break
                else:
                    continue
                break
        return ()

    def _is_list(self, at: int) -> bool:
        try:
            begin, count = struct.unpack("<QQ", self.scene.memory.read(at, 16))
        except UnreadableError:
            return False
        count, room = count & 0xFFFFFFFF, count >> 32
        return is_pointer(begin) and 0 < count <= room <= MOST_OPERANDS

    def _with_layout(self, address: int, at: int, size: int, inner: int) -> list[Tensor]:
        """The operands, where there is one for each that the list has."""
        if not self._is_list(address + at):
            return []
        begin, count = struct.unpack("<QQ", self.scene.memory.read(address + at, 16))
        found: list[Tensor] = []
        for n in range(count & 0xFFFFFFFF):
            try:
                word = self.scene.memory.word(begin + n * size + inner)
            except UnreadableError:
                return []
            tensor = self.tensors.at(word)
            if tensor is None and not self.scene.classes.of(word):
                return []
            found += [tensor] if tensor else []
        return found
