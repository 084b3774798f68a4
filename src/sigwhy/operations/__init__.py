"""Dead memory to operations: which operation of which framework a process was in, and with what.

One framework is a few files; the one with its plain name has ``LIBRARIES``, by which it is seen that
the framework was loaded, and ``find``, which looks. What stands in memory is believed only where it
fits together: classes by their run-time type, names by a second place that repeats them, sizes by
their product. No offset is trusted because of a version number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.operations.writable import writable

if TYPE_CHECKING:
    from sigwhy.model.operation import Operation
    from sigwhy.operations.scene import Scene

# The quickest search first: all share the time that a process may be held.
FRAMEWORKS = ("tflite", "tensorflow", "torch", "numpy")
MOST = 16


@dataclass(frozen=True, slots=True)
class Found:
    """The operations, the most certain and innermost first, and what went wrong."""

    operations: tuple[Operation, ...] = ()
    notes: tuple[str, ...] = ()


def operations(scene: Scene) -> Found:
    """Every operation that a thread was in when the process died."""
    from importlib import import_module
    from importlib.util import find_spec

    found: list[Operation] = []
    notes: list[str] = []
    files = "\n".join({m.path for m in scene.memory.mappings})
    for name in FRAMEWORKS:
        try:
            if not find_spec(f"sigwhy.operations.{name}"):
                continue
            framework = import_module(f"sigwhy.operations.{name}")
            if framework.LIBRARIES.search(files):
                found += framework.find(scene)
        except Exception as error:  # noqa: BLE001 -- one framework must not silence the others
            notes.append(f"the search for operations of {name} broke ({error!r}); please report it")
    found.sort(key=lambda operation: (operation.state == "beside", operation.is_hint))
    return Found(tuple(map(writable, found[:MOST])), (*scene.notes, *notes))
