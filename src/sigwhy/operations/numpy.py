"""NumPy, and what stands on arrays: SciPy, pandas, OpenCV, Arrow, HDF5.

Their objects are Python objects, so no layout of C++ is needed: the function is named by Python
frames and by the ufunc on the stack, the arrays lie on the stack of native code, in the package's own
names, or under the user's. What is found here is a hint until the unwound stack bears it out
(``autopsy/borne_out.py``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sigwhy.machine.memory import UnreadableError
from sigwhy.model.operation import Argument, Operation
from sigwhy.operations.array_argument import MOST_VALUES, argument
from sigwhy.operations.held_arrays import Held, everything, held_arrays
from sigwhy.operations.packages import PACKAGES, framework_of, is_common
from sigwhy.operations.python_call import python_call
from sigwhy.operations.return_addresses import libraries
from sigwhy.operations.wild_index import wild_index
from sigwhy.operations.words import stack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sigwhy.model.incident import Thread
    from sigwhy.model.operation import Framework
    from sigwhy.operations.arrays import Array
    from sigwhy.operations.scene import Scene

LIBRARIES = re.compile("|".join(form.pattern for _, form in PACKAGES))
UFUNC, UFUNC_NAME = "numpy.ufunc", 56
LONGEST_NAME = 64
MOST_INPUTS = 10
BEYOND = 1024  # bytes of the interpreter's frames in which it keeps what it passes on


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """The library that a thread is in, and where on the stack the interpreter begins below it."""

    framework: Framework
    library: str
    upto: int


def find(scene: Scene) -> list[Operation]:
    """The call that the crashed thread was in, where it was in one of these libraries."""
    thread = scene.crashed
    if thread is None or scene.signal is None:
        return []
    entered = _entered(scene, thread)
    if entered is None:
        return []
    calls = thread if thread.python else _waiting(scene)
    if calls is None:
        return []
    upto = entered.upto if calls is thread else 0
    named = python_call(calls.python)
    ufunc = _ufunc(scene, calls, upto)
    every = list(everything(scene))
    arrays = _told_apart(scene, _in_your_words(held_arrays(scene, calls, upto), every), every)
    operation = Operation(
        framework=named.framework if named else entered.framework,
        op=named.name if named else f"numpy.{ufunc}" if ufunc else entered.framework,
        tid=thread.tid,
        found="its library is on the stack of the thread",
        is_hint=True,
        inner=(named.inner or ufunc) if named else "",
        library=entered.library,
        inputs=[_argument(scene, held) for held in arrays[:MOST_INPUTS]],
        attributes=_wild(scene, arrays, every),
    )
    return [operation]


def _entered(scene: Scene, thread: Thread) -> Entered | None:
    """The innermost library that is neither the interpreter's nor of the system."""
    framework: Framework | None = None
    library, upto = "", 0
    for place, path in libraries(scene.memory, thread.registers):
        if not library and not is_common(path):
            framework, library = framework_of(path), path
            if framework is None:
                return None
        elif library and is_common(path) and "python" in path:
            upto = place + BEYOND
            break
    return Entered(framework=framework, library=library, upto=upto) if framework else None


def _waiting(scene: Scene) -> Thread | None:
    """The first thread of the process, which waits for the one that has no Python frames."""
    return next((t for t in scene.threads if t.tid == scene.pid and t.python), None)


def _ufunc(scene: Scene, thread: Thread, upto: int) -> str:
    """The name of the innermost ufunc on the stack."""
    objects = scene.variables.objects
    for place, value in stack(scene.memory, thread.registers, most=max(BEYOND, 1 << 17)):
        if upto and place > upto:
            break
        if objects.type_of(value) != UFUNC:
            continue
        try:
            name = scene.memory.text(scene.memory.word(value + UFUNC_NAME), LONGEST_NAME)
        except UnreadableError:
            continue
        if name.isidentifier():
            return name
    return ""


def _in_your_words(arrays: list[Held], every: Sequence[Held]) -> list[Held]:
    """A view of all of an array has the name of that array: packages often make one."""
    known = {(h.array.low, h.array.high): h.variable for h in reversed(every) if h.array.elements}
    return [
        held
        if held.variable
        else replace(held, variable=known.get((held.array.low, held.array.high), ""))
        for held in arrays
    ]


def _told_apart(scene: Scene, arrays: list[Held], every: Sequence[Held]) -> list[Held]:
    """Of arrays over the same memory only the one that the call is about.

    Views without a name lie in an array with one. Of several that hold the address of the fault the
    smallest is the nearest to the call; where none does, the user's others are looked at.
    """
    named = [held.array for held in arrays if _name(held)]
    arrays = [
        held for held in arrays if _name(held) or not any(_within(held.array, n) for n in named)
    ]
    address = scene.signal.address if scene.signal else None
    if address is None:
        return arrays
    touched = [held for held in arrays if _touches(held.array, address)]
    if not any(_name(held) for held in touched):
        others = (held for held in every if _touches(held.array, address))
        nearest = sorted(others, key=_reach)[:1]
        arrays = [*[held for held in arrays if not (nearest and held in touched)], *nearest]
        touched = nearest
    least = min(map(_reach, touched), default=0)
    return [held for held in arrays if held not in touched or _reach(held) == least]


def _reach(held: Held) -> int:
    return held.array.high - held.array.low


def _touches(found: Array, address: int) -> bool:
    return found.low <= address < found.high


def _within(one: Array, other: Array) -> bool:
    return other.low <= one.low and one.high <= other.high


def _argument(scene: Scene, held: Held) -> Argument:
    objects = scene.variables.objects
    return argument(
        objects, held.array, name=_name(held), variable=held.variable, keeper=scene.keeper
    )


def _wild(scene: Scene, arrays: Sequence[Held], every: Sequence[Held]) -> list[Argument]:
    """The element that led to the address of the fault, as an attribute of the call."""
    address = scene.signal.address if scene.signal else None
    if address is None:
        return []
    candidates = [*arrays, *every] if arrays else []
    by_place = {held.array.at: held for held in reversed(candidates)}
    of_call = [held.array for held in arrays]
    more = [held.array for held in by_place.values() if held.array not in of_call]
    found = wild_index(scene.memory, [*of_call, *more], address)
    if found is None:
        return []
    indices = by_place[found.indices.at]
    if found.at < MOST_VALUES and indices in arrays[:MOST_INPUTS]:
        return []  # it is seen among the values of the input
    into = by_place[found.into.at]
    return [
        Argument(
            name=f"{_name(indices) or 'indices'}[{found.at}]",
            kind="index",
            values=[found.value],
            variable=indices.variable,
            text=_name(into),
        )
    ]


def _name(held: Held) -> str:
    return held.variable or held.name
