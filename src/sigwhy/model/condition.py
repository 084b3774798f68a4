"""A condition on the arguments of an operation, as data: ``grad has rank < rank of var``.

The same conditions serve everywhere: to recognise a known bug in a dead process, to find the call in a
source, to refuse it before it runs. So a condition is a row of fields and never code::

    { argument = "index", is = "<", than = 0 }                             some value is negative
    { argument = "grad", what = "rank", is = "!=", than = { argument = "var", what = "rank" } }
    { argument = "filter", what = "size", dimension = 3, is = "==", than = 0 }
    { argument = "T", what = "dtype", is = "in", than = ["int8", "uint8"] }

``what`` is ``value`` (any value of the argument), ``all`` (each value), ``rank``, ``elements``, ``length`` (how
many values a list or a vector has), ``size`` (of one ``dimension``; -1 is the last; without one: any of
them), ``product`` (of all values), ``dtype``, ``kind``, ``memory`` (there, gone, protected). What was not
read is neither true nor false: ``holds`` answers None.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sigwhy.model.operation import Argument

What = Literal[
    "value", "all", "rank", "elements", "length", "size", "product", "dtype", "kind", "memory"
]
Relation = Literal["<", "<=", "==", "!=", ">=", ">", "in", "not in", "begins"]
Plain = int | float | str | bool

NUMBERS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">=": operator.ge,
    ">": operator.gt,
}
HOW: dict[str, Callable[[object, object], bool]] = {"==": operator.eq, "!=": operator.ne}
WORDS = frozenset({"dtype", "kind", "memory"})
COUNTED = frozenset({"rank", "length", "elements", "size", "product"})
MOST_VALUES = 1 << 16


class Other(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another argument that the first one is compared with, and how much is added to it."""

    argument: str
    what: What = "value"
    dimension: int | None = None
    plus: int = 0


class Condition(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename={"relation": "is"},
):
    """One comparison; see the page above."""

    argument: str
    relation: Relation
    than: Plain | list[Plain] | Other
    what: What = "value"
    dimension: int | None = None

    def __post_init__(self) -> None:
        """Refuse what can never be answered."""
        several, comparison = isinstance(self.than, list), self.relation in {"in", "not in"}
        if several != comparison:
            raise ValueError(f"{self.argument}: {self.relation!r} does not go with {self.than!r}")
        if self.relation in NUMBERS and isinstance(self.than, str | bool):
            raise ValueError(
                f"{self.argument}: {self.relation!r} wants a number, not {self.than!r}"
            )
        if self.what in WORDS and self.relation in NUMBERS:
            raise ValueError(f"{self.argument}: a {self.what} has no order, {self.relation!r} does")
        if self.dimension is not None and self.what != "size":
            raise ValueError(
                f"{self.argument}: only a size has a dimension, a {self.what} has none"
            )


def holds(condition: Condition, arguments: Mapping[str, Argument]) -> bool | None:
    """Whether it is so; None where too little is known to say."""
    found = _seen(arguments, condition.argument, condition.what, condition.dimension)
    wanted = _wanted(condition, arguments)
    if found is None or wanted is None:
        return None
    answers = [_compared(one, condition.relation, wanted) for one in found]
    if condition.what == "all":
        return all(answers) and bool(answers)
    if any(answers):
        return True
    # The first values of a long tensor are kept: the one that matters may stand behind them.
    whole = condition.what != "value" or _is_whole(arguments[condition.argument])
    return False if whole else None


def all_hold(conditions: Sequence[Condition], arguments: Mapping[str, Argument]) -> bool | None:
    """Whether all of them are so; None where that is open, False as soon as one is not."""
    answers = [holds(condition, arguments) for condition in conditions]
    if False in answers:
        return False
    return None if None in answers else True


def shown(condition: Condition, arguments: Mapping[str, Argument]) -> str | None:
    """What stood there, as words: ``-1``, ``rank 1``, ``int32``."""
    found = _seen(arguments, condition.argument, condition.what, condition.dimension)
    wanted = _wanted(condition, arguments)
    if not found or wanted is None:
        return None
    fits = next((v for v in found if _compared(v, condition.relation, wanted)), found[0])
    return f"{condition.what} {fits}" if condition.what in COUNTED else str(fits)


def _wanted(condition: Condition, arguments: Mapping[str, Argument]) -> object:
    other = condition.than
    if not isinstance(other, Other):
        return other
    found = _seen(arguments, other.argument, other.what, other.dimension)
    if not found:
        return None
    first = found[0]
    return first + other.plus if isinstance(first, int | float) and other.plus else first


def _seen(
    arguments: Mapping[str, Argument], name: str, what: What, dimension: int | None
) -> list[object] | None:
    """What is compared; nothing at all, where it is not known."""
    argument = arguments.get(name)
    if argument is None:
        return None
    if what in WORDS:
        word = _word(argument, what)
        return [word] if word else None
    if what in {"value", "all", "product"}:
        return _values(argument, what)
    return _measured(argument, what, dimension)


def _word(argument: Argument, what: What) -> str:
    if what == "memory":
        return argument.standing
    if what == "kind":
        return argument.kind
    first = next(iter(argument.values), "")
    return argument.dtype or argument.text or (first if isinstance(first, str) else "")


def _values(argument: Argument, what: What) -> list[object] | None:
    values: list[object] = list(argument.values[:MOST_VALUES])
    if not values and argument.elements != 0 and argument.kind != "list":
        return None
    if what != "product":
        return values
    numbers = [v for v in values if isinstance(v, int | float)]
    return [math.prod(numbers)] if len(numbers) == len(values) and _is_whole(argument) else None


def _measured(argument: Argument, what: What, dimension: int | None) -> list[object] | None:
    if what == "length":
        return [_length(argument)]
    if argument.shape is None:
        return None
    if what == "rank":
        return [len(argument.shape)]
    if what == "elements":
        return [math.prod(argument.shape) if argument.elements is None else argument.elements]
    if dimension is None:
        return list(argument.shape)
    inside = -len(argument.shape) <= dimension < len(argument.shape)
    return [argument.shape[dimension]] if inside else []


def _length(argument: Argument) -> int:
    return len(argument.values) if argument.elements is None else argument.elements


def _is_whole(argument: Argument) -> bool:
    return argument.elements is None or len(argument.values) >= argument.elements


def _compared(found: object, relation: Relation, wanted: object) -> bool:
    if isinstance(wanted, list):
        return (found in wanted) == (relation == "in")
    if relation == "begins":
        return str(found).startswith(str(wanted))
    if relation in HOW:
        return HOW[relation](found, wanted)
    # A comparison with what is no number is false, and so is one with NaN.
    if isinstance(found, bool) or not isinstance(found, int | float):
        return False
    return isinstance(wanted, int | float) and NUMBERS[relation](found, wanted)
