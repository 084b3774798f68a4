"""Known bugs of libraries: the rows of ``causes/upstream.toml``, and those that fit a death.

A row fits where the operation is that of the row, the process died as the row says, the version is one
that dies, and the arguments fulfil the condition. ``tools/upstream.py`` runs every row again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.guilt import span_of
from sigwhy.known_bugs import Row, rows
from sigwhy.model.condition import COUNTED, all_hold, shown
from sigwhy.model.fact import Check, Death, KnownBug, Op
from sigwhy.model.operation import Operation
from sigwhy.model.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sigwhy.model.case import Case

MKL = re.compile(r"^_Mkl(?:Native)?")
PACKAGES = ("tensorflow", "tensorflow-cpu", "tensorflow_cpu", "tensorflow-intel", "tf-nightly")

ENDS = {"error": "raises an exception instead", "ok": "computes it", "hang": "does not die of it"}
PLURAL = frozenset({"elements"})


def known(case: Case, tries: Sequence[Trial]) -> tuple[KnownBug, ...]:
    """The rows that fit the innermost operation for which one does."""
    for trial in tries or _named(case):
        if trial.operation.is_hint:
            continue
        found = [bug for row in rows() if (bug := _bug(case, trial, row))]
        if found:
            return tuple(sorted(found, key=lambda bug: bug.fit != "exact"))[:1]
    return ()


def _named(case: Case) -> Iterator[Trial]:
    """The operations that a text names, of whose arguments nothing is known, and the check that failed."""
    checks, death = tuple(case.all(Check)), case.first(Death)
    for op in case.all(Op) if checks else ():
        if op.framework == "tensorflow" and not op.from_memory:
            signal = death.signal if death else "SIGABRT"
            operation = Operation(framework="tensorflow", op=op.op)
            yield Trial(operation=operation, op=op, signal=signal, checks=checks)


def _bug(case: Case, trial: Trial, row: Row) -> KnownBug | None:
    operation = trial.operation
    if operation.framework != row.framework or MKL.sub("", operation.op) not in row.ops:
        return None
    arguments = {a.name: a for a in (*operation.attributes, *operation.inputs)}
    answer = all_hold(row.when, arguments)
    if not arguments and row.check is None:
        return None  # an operation that a text names, and nothing that tells this bug from others
    if answer is False or not _shows(row, trial) or not row.may_die(version(trial.packages)):
        return None
    # That it is a handle is no fault of it: who is to blame is for the rules to say.
    of_a_kind = row.when[0].what == "kind"
    blamed = row.argument or (None if of_a_kind else row.when[0].argument)
    value = next((shown(c, arguments) for c in row.when if c.argument == blamed), None)
    return KnownBug(
        span=span_of(case, trial.op, blamed),
        id=row.id,
        cause=row.cause,
        op=operation.op,
        says=_sentence(row, blamed, value),
        argument=blamed,
        value=value,
        link=row.link,
        fixed_in=row.fixed_in,
        workaround=_fix(row),
        fit="exact" if answer else "likely",
        tried=row.dies_in,
    )


def version(packages: Mapping[str, str]) -> str | None:
    """The version of TensorFlow that the process had, where it is known."""
    return next((packages[name] for name in PACKAGES if name in packages), None)


def _shows(row: Row, trial: Trial) -> bool:
    """Whether it died as the row says."""
    if trial.signal not in set(row.ran.values()):
        return False
    said = (f"{c.expression} {c.detail} {c.span.words}" for c in trial.checks)
    if row.check is not None and not any(row.check in words for words in said):
        return False
    thrown = (f"{t.type} {t.what}" for t in trial.thrown)
    return row.thrown is None or any(row.thrown in words for words in thrown)


def _sentence(row: Row, argument: str | None, value: str | None) -> str:
    first, last = row.dies_in[0], row.dies_in[-1]
    span = first if first == last else f"{first} to {last}"
    where = f", {row.link}" if row.link else ""
    stood = f"{_stood(argument, value)}: " if argument and value and len(value) < 40 else ""
    return f"{stood}{row.says} (known bug, seen in {span}{where})"


def _stood(argument: str, value: str) -> str:
    """``axis is -1``, ``grad has rank 1``, ``values has no elements``."""
    what, _, count = value.partition(" ")
    if what not in COUNTED:
        return f"{argument} is {value}"
    if what in PLURAL:
        return f"{argument} has {'no' if count == '0' else count} {what}"
    return f"{argument} has {value}"


def _fix(row: Row) -> str | None:
    """What to do until the version comes that raises instead of dying."""
    if not row.fixed_in:
        return row.workaround
    newer = f"Install TensorFlow {row.fixed_in} or newer, which {ENDS[row.ran[row.fixed_in]]}"
    return f"{newer}; until then: {row.workaround}" if row.workaround else f"{newer}."
