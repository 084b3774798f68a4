"""The arrays that a call was given: those on the stack of native code, and those of its Python frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.operations.arrays import array
from sigwhy.operations.attributes import attributes
from sigwhy.operations.python_objects import address_of
from sigwhy.operations.variables import is_own
from sigwhy.operations.words import register_words, stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Thread
    from sigwhy.operations.arrays import Array
    from sigwhy.operations.scene import Scene

MOST = 16
MOST_STACK = 128 << 10
NOT_LOOKED_INTO = frozenset({"", "module", "type", "function", "ABCMeta", "dict", "list", "tuple"})
MOST_NAMES = 400
NAMES_OF_FRAME = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An array, the name that the package has for it, and the user's."""

    array: Array
    name: str = ""
    variable: str = ""


def held_arrays(scene: Scene, thread: Thread, upto: int) -> list[Held]:
    """The arrays of the call, each once; ``upto`` is where on the stack the interpreter begins."""
    found: dict[int, Held] = {}
    of_package = dict(_of_package(scene, thread))
    places = {at: name for name, at in of_package.items()}
    named = dict(reversed(list(_attributes_of_variables(scene))))
    for at in (*_on_stack(scene, thread, upto), *of_package.values()):
        if at in found or len(found) >= MOST:
            continue
        if read := array(scene.variables.objects, at):
            variable = scene.variables.users(at) or named.get(at, "")
            held = Held(array=read, name=places.get(at, ""), variable=variable)
            if (
                read.shape or held.name or held.variable
            ):  # a single number without a name tells nothing
                found[at] = held
    return list(found.values())


def everything(scene: Scene) -> Iterator[Held]:
    """Every array that a name of the user's holds, or an attribute of what one holds."""
    seen: set[int] = set()
    for name, at in list(scene.variables.all())[:MOST_NAMES]:
        if at not in seen and (read := array(scene.variables.objects, at)):
            seen.add(at)
            yield Held(array=read, variable=name)
    for at, name in _attributes_of_variables(scene):
        if at not in seen and (read := array(scene.variables.objects, at)):
            seen.add(at)
            yield Held(array=read, variable=name)


def _on_stack(scene: Scene, thread: Thread, upto: int) -> Iterator[int]:
    yield from register_words(thread.registers)
    for place, value in stack(scene.memory, thread.registers, most=MOST_STACK):
        if upto and place > upto:
            return
        yield value


def _of_package(scene: Scene, thread: Thread) -> Iterator[tuple[str, int]]:
    """What the names of the package's innermost call hold, and the attributes of its ``self``."""
    inner = next(iter(thread.python), None)
    if inner is None or is_own(inner):
        return
    for name, value in list(inner.locals.items())[:NAMES_OF_FRAME]:
        at = address_of(value)
        if at:
            yield name, at
        if at and name == "self":
            yield from attributes(scene.variables.objects, at).items()


def _attributes_of_variables(scene: Scene) -> Iterator[tuple[int, str]]:
    """``m.indices`` for what the user calls m; modules and classes are left out."""
    for name, at in list(scene.variables.all())[:MOST_NAMES]:
        kind = scene.variables.objects.type_of(at)
        if kind in NOT_LOOKED_INTO:
            continue
        for attribute, value in attributes(scene.variables.objects, at).items():
            yield value, f"{name}.{attribute}"
