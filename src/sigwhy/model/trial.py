"""An operation, how its process died, and the arguments that are charged with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sigwhy.model.fact import (
        Allocation,
        Check,
        Fact,
        Fault,
        Instruction,
        Op,
        Place,
        PythonError,
        Stack,
        Uncaught,
    )
    from sigwhy.model.operation import Argument, Operation

# exact: numbers, an address or a name fit, and could hardly fit by chance. likely: the argument is odd
# in the way in which it died. possible: nothing speaks against it.
Fit = Literal["exact", "likely", "possible"]
FITS: tuple[Fit, ...] = ("possible", "likely", "exact")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One operation, and everything in the case that tells how its process died.

    ``allocations`` are those that failed. ``packages`` says which distribution has which version,
    where the process told.
    """

    operation: Operation
    op: Op
    signal: str | None = None
    code: str | None = None
    checks: tuple[Check, ...] = ()
    thrown: tuple[Uncaught, ...] = ()
    errors: tuple[PythonError, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    stacks: tuple[Stack, ...] = ()
    fault: Fault | None = None
    place: Place | None = None
    instruction: Instruction | None = None
    registers: Mapping[str, int] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """Inputs, then attributes; attributes that the framework keeps for itself are left out."""
        own = (a for a in self.operation.attributes if not a.name.startswith("_"))
        return (*self.operation.inputs, *own)

    @property
    def address(self) -> int | None:
        """The address of the access that failed, where it is known."""
        if self.fault and self.fault.address is not None:
            return self.fault.address
        return self.place.address if self.place else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One argument, and why it explains the death.

    ``says`` is a clause that needs no other words (``boxes has rank 1, the kernel wants 2``),
    ``shown_by`` is the fact that fits, ``cause`` what it speaks for.
    """

    argument: Argument
    rule: str
    says: str
    shown_by: Fact | None = None
    value: str | None = None
    wanted: str | None = None
    fit: Fit = "exact"
    cause: str = "op-argument"


def whole_numbers(argument: Argument) -> Iterator[tuple[int, int]]:
    """Place and value of each whole number of an argument; True and False are none."""
    for n, value in enumerate(argument.values):
        if isinstance(value, int) and not isinstance(value, bool):
            yield n, value


def at(argument: Argument, n: int) -> str:
    """The name of one of its values: ``strides[1]``, or just the name where there is only one."""
    one = len(argument.values) == 1 and (argument.elements in {None, 1})
    return argument.name if one else f"{argument.name}[{n}]"


def is_tensor(argument: Argument) -> bool:
    """Whether it has a shape of its own: no plain value, and no handle of something else."""
    return argument.kind in {"tensor", "array"} and argument.dtype not in {"resource", "variant"}


def is_attribute(trial: Trial, argument: Argument) -> bool:
    """Whether it was fixed when the operation was made."""
    return any(argument is attribute for attribute in trial.operation.attributes)
