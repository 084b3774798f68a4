"""The PyTorch operator that a process was in, with its arguments by name and their memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from sigwhy.operations.torch_arguments import Arguments
from sigwhy.operations.torch_stack import Looking
from sigwhy.operations.torch_threads import employers
from sigwhy.operations.torch_verdict import verdict
from sigwhy.operations.variables import Variables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sigwhy.model.operation import Operation
    from sigwhy.operations.scene import Scene

LIBRARIES = re.compile(r"/libtorch_cpu\.so|/libtorch\.so|/libc10\.so")
MOST_EMPLOYERS = 2
HELPED = "the thread that died worked for another one, on whose stack it is"


def find(scene: Scene) -> Sequence[Operation]:
    """The operators that the threads were in; that of the crashed thread is the first."""
    crashed = scene.crashed
    if crashed is None:
        return ()
    looking = Looking(scene)
    arguments = Arguments(scene, looking.tensors, Variables(scene.memory, scene.threads))
    if found := verdict(looking.at(crashed.registers), arguments, crashed.tid):
        return [found]
    if crashed.python:  # it is nobody's helper: its own calls would be on its stack
        return ()
    for thread in employers(scene, crashed)[:MOST_EMPLOYERS]:
        if found := verdict(looking.at(thread.registers), arguments, thread.tid):
            return [msgspec.structs.replace(found, found=f"{HELPED}; {found.found}")]
    return ()
