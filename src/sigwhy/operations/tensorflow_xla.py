"""What XLA was running: the thunk of the compiled function, which knows its instruction and module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.operations.texts import texts_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sigwhy.operations.scene import Scene

THUNK = "N3xla3cpu5ThunkE"
HEAD_BYTES = 96  # {functions, kind, name of the instruction, name of the module, ...}
CALLS = ("N3xla3cpu9CallThunkE", "N3xla3cpu10WhileThunkE")  # they only run others


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction of a compiled module; fused ones have a name like ``add_fusion.1``."""

    name: str
    module: str

    def is_of(self, function: str) -> bool:
        """Whether its module was compiled from a function: the name is kept but for its beginning."""
        core = function.strip("_")
        return bool(core) and core in self.module


def instruction(scene: Scene, values: Iterable[int]) -> Instruction | None:
    """The innermost instruction to which registers or a stack point."""
    outer = None
    for value in dict.fromkeys(values):
        kinds = scene.classes.of(value)
        if THUNK in kinds and len(texts := texts_in(scene.memory, value, HEAD_BYTES)) >= 2:
            found = Instruction(texts[0], texts[1])
            if kinds[0] not in CALLS:
                return found
            outer = outer or found
    return outer
