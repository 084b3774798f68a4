"""What guilty arguments and known bugs say for a cause: each names the cause that it speaks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.cause import Clue, Culprit, Weight
from sigwhy.model.fact import Guilty, KnownBug, Op

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.case import Case

# Where the access that failed went into memory that an input says is its own, nothing else explains it.
PROVES = frozenset({"freed", "protected"})
WEIGHTS = {"exact": Weight.STRONG, "likely": Weight.FAIR, "possible": Weight.SLIGHT}


def clues(case: Case, cause: str) -> Iterator[Clue]:
    """Yield what speaks for this cause, the best founded first."""
    for bug in case.all(KnownBug):
        if bug.cause == cause:
            weight = Weight.PROOF if bug.fit == "exact" else Weight.FAIR
            yield Clue(weight, bug, bug.says, _of_bug(case, bug), bug.workaround)
    charged = [guilty for guilty in case.all(Guilty) if guilty.cause == cause]
    if charged:
        yield _together(case, charged)


def _of_bug(case: Case, bug: KnownBug) -> Culprit:
    guilty = next((g for g in case.all(Guilty) if g.argument == bug.argument), None)
    return Culprit(
        kind="op",
        name=bug.op,
        argument=bug.argument or (guilty.argument if guilty else None),
        value=bug.value or (guilty.value if guilty else None),
        node=_node(case, bug.op),
    )


def _together(case: Case, charged: list[Guilty]) -> Clue:
    """One clue for one argument, or for several of which one is to blame."""
    first = charged[0]
    says = first.says
    if len(charged) > 1:
        says = "; or ".join(g.says for g in charged[:3])
    proves = first.fit == "exact" and first.rule in PROVES
    weight = Weight.PROOF if proves else WEIGHTS[first.fit]
    return Clue(weight, first, says, culprit(case, charged), _fix(charged))


def culprit(case: Case, charged: Sequence[Guilty]) -> Culprit:
    """The operation with the argument, or with those of which one is to blame."""
    values = list(dict.fromkeys(g.value for g in charged if g.value))
    return Culprit(
        kind="op",
        name=charged[0].op,
        argument=" or ".join(g.argument for g in charged[:3]),
        value=" or ".join(values[:3]) or None,
        node=_node(case, charged[0].op),
    )


def _fix(charged: list[Guilty]) -> str | None:
    only = charged[0]
    if len(charged) > 1 or only.wanted is None:
        return None
    held = f" (variable {only.variable})" if only.variable else ""
    return f"Give {only.op} another {only.argument}{held}: {only.wanted}."


def _node(case: Case, op: str) -> str | None:
    return next((found.node for found in case.all(Op) if found.op == op and found.node), None)
