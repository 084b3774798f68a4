"""From an operation and a death to the guilty argument: one rule per file.

A rule looks at one ``Trial`` and yields a ``Charge`` for each argument that explains the death. No rule
knows another one, and none decides. Here the charges that fit best are kept. Where several arguments
fit equally well, all are named as rivals of each other: none is chosen.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

from sigwhy.model.fact import (
    Allocation,
    Check,
    Death,
    Fault,
    Guilty,
    Instruction,
    Op,
    Place,
    PythonError,
    Span,
    Stack,
    Uncaught,
)
from sigwhy.model.trial import FITS, Trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.case import Case
    from sigwhy.model.incident import Incident
    from sigwhy.model.operation import Operation
    from sigwhy.model.trial import Charge, Fit

# What an operation that may be old news takes away from a fit.
LESS: dict[Fit, Fit] = {"exact": "likely", "likely": "possible", "possible": "possible"}
ENDS = frozenset({"SIGSEGV", "SIGBUS", "SIGFPE", "SIGABRT", "SIGILL", "SIGTRAP"})


class Rule(Protocol):
    """What every file of this room offers."""

    def charges(self, trial: Trial) -> Iterator[Charge]:
        """Yield the arguments that explain the death, each with the reason."""
        ...


@cache
def rules() -> dict[str, Rule]:
    """Every rule, by the name of its file."""
    return {
        info.name: cast("Rule", importlib.import_module(f"{__name__}.{info.name}"))
        for info in pkgutil.iter_modules(__path__)
    }


def guilty(case: Case, tries: Sequence[Trial], notes: list[str]) -> tuple[Guilty, ...]:
    """The arguments of the innermost operation that has any to blame."""
    for trial in tries:
        charges = _weighed(trial, list(_charges(trial, notes)))
        if charges:
            return tuple(_fact(case, trial, charge, charges) for charge in charges)
    return ()


def _charges(trial: Trial, notes: list[str]) -> Iterator[Charge]:
    for name, rule in rules().items():
        try:
            yield from (_of_model(trial, charge) for charge in rule.charges(trial))
        except Exception as error:  # noqa: BLE001 -- one broken rule must not silence the others
            notes.append(f"the rule {name} broke on this operation ({error!r}); please report it")


def _of_model(trial: Trial, charge: Charge) -> Charge:
    """The same charge; what stands in a model is the model's fault, whoever runs it."""
    operation, argument = trial.operation, charge.argument
    if charge.cause != "op-argument" or operation.model is None or operation.model.index is None:
        return charge
    given = operation.phase == "invoke" and not argument.constant and argument in operation.inputs
    by_shape = (charge.value or "").startswith(("shape", "rank"))
    return charge if given and not by_shape else replace(charge, cause="malformed-model")


def _weighed(trial: Trial, charges: list[Charge]) -> list[Charge]:
    """The charges that fit best, one for each argument."""
    if trial.operation.is_hint:
        charges = [replace(charge, fit=LESS[charge.fit]) for charge in charges]
    best = max((FITS.index(charge.fit) for charge in charges), default=0)
    kept: dict[str, Charge] = {}
    for charge in charges:
        if FITS.index(charge.fit) == best:
            kept.setdefault(charge.argument.name, charge)
    return list(kept.values())


def _fact(case: Case, trial: Trial, charge: Charge, among: list[Charge]) -> Guilty:
    name = charge.argument.name
    return Guilty(
        span=span_of(case, trial.op, name),
        framework=trial.operation.framework,
        op=trial.operation.op,
        rule=charge.rule,
        argument=name,
        says=charge.says,
        value=charge.value,
        wanted=charge.wanted,
        variable=charge.argument.variable or None,
        fit=charge.fit,
        cause=charge.cause,
        rivals=tuple(c.argument.name for c in among if c is not charge),
    )


def span_of(case: Case, op: Op, argument: str | None) -> Span:
    """The line that tells of the argument, else those that tell of the operation."""
    found = next((e for e in case.evidence if e.name == op.span.evidence), None)
    rows = found.lines[op.span.first : op.span.last + 1] if found and argument else ()
    for n, line in enumerate(rows, op.span.first):
        words = line.strip().removeprefix("attribute ").removeprefix("output ")
        if words.startswith(f"{argument} ="):
            return Span(evidence=op.span.evidence, first=n, last=n, words=words)
    return op.span


def trials(case: Case, incidents: Sequence[Incident]) -> tuple[Trial, ...]:
    """Each operation of the thread that died, with what the case says of the death."""
    told = [op for op in case.all(Op) if op.from_memory]
    kept = [(incident, one) for incident in incidents for one in incident.operations]
    if Counter(op.op for op in told) != Counter(one.op for _, one in kept):
        return ()
    return tuple(
        _trial(case, incident, one, op)
        for (incident, one), op in zip(kept, told, strict=True)
        if one.state != "beside" and one.op == op.op
    )


def _trial(case: Case, incident: Incident, operation: Operation, op: Op) -> Trial:
    death = next((d for d in case.all(Death) if d.signal in ENDS), None)
    thread = next((t for t in incident.threads if t.crashed), None)
    return Trial(
        operation=operation,
        op=op,
        signal=death.signal if death else None,
        code=death.code if death else None,
        checks=tuple(case.all(Check)),
        thrown=tuple(case.all(Uncaught)),
        errors=tuple(case.all(PythonError)),
        allocations=tuple(case.all(Allocation)),
        stacks=tuple(stack for stack in case.all(Stack) if stack.crashed),
        fault=case.first(Fault),
        place=case.first(Place),
        instruction=case.first(Instruction),
        registers=thread.registers if thread else {},
        packages=_versions(incident),
    )


def _versions(incident: Incident) -> dict[str, str]:
    of_files = {m.distribution: m.version for m in incident.modules if m.distribution and m.version}
    return {**of_files, **incident.packages}
