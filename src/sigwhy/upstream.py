"""Known bugs of libraries: the rows of ``causes/upstream.toml``, and those that fit a death.

A row fits where the operation is that of the row, the process died as the row says, the version is one
that dies, and the arguments fulfil the condition. ``tools/upstream.py`` runs every row again.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from sigwhy.guilt import span_of
from sigwhy.model.condition import Condition, all_hold, shown
from sigwhy.model.error import UsageError
from sigwhy.model.fact import Check, Death, KnownBug, Op
from sigwhy.model.operation import Operation
from sigwhy.model.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sigwhy.model.case import Case

TABLE = Path(__file__).parent / "causes" / "upstream.toml"
ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
OP = re.compile(r"[A-Za-z_]\w*\Z")
VERSION = re.compile(r"\d+(?:\.\d+){1,2}\Z")
NUMBER = re.compile(r"\d+")
LINK = re.compile(r"https://\S+\Z")
MKL = re.compile(r"^_Mkl(?:Native)?")
PACKAGES = ("tensorflow", "tensorflow-cpu", "tensorflow_cpu", "tensorflow-intel", "tf-nightly")

Outcome = Literal["SIGABRT", "SIGSEGV", "SIGFPE", "SIGBUS", "SIGILL", "error", "ok", "hang"]
ENDS = {"error": "raises an exception instead", "ok": "computes it", "hang": "does not die of it"}
DIES = frozenset({"SIGABRT", "SIGSEGV", "SIGFPE", "SIGBUS", "SIGILL"})


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One bug: the operations, how they die, under which condition, and what became of it when run.

    ``ran`` tells of each version that was tried how ``call`` ended: by a signal, in an error, well.
    ``lives`` is a call like it that ends well or in an error. ``check`` is a part of the failed
    check, ``thrown`` of the exception. ``argument`` is to blame, where that is not the first one of
    the condition. ``link`` is where it was read, for those that were not found here.
    """

    id: str
    ops: list[str]
    says: str
    call: str
    lives: str
    ran: dict[str, Outcome]
    when: list[Condition]
    cause: str = "op-argument"
    framework: str = "tensorflow"
    argument: str | None = None
    check: str | None = None
    thrown: str | None = None
    link: str | None = None
    workaround: str | None = None

    def __post_init__(self) -> None:
        """Refuse a row that could never fit, or that says nothing."""
        faults = (
            (not ID.match(self.id), "id wants small letters, digits and dashes"),
            (not self.ops or not all(OP.match(op) for op in self.ops), "ops wants names of ops"),
            (
                not self.says.strip() or self.says.endswith("."),
                "says wants a clause without a stop",
            ),
            (not self.when, "when wants at least one condition"),
            (not DIES & set(self.ran.values()), "ran wants at least one version that dies"),
            (not all(VERSION.match(v) for v in self.ran), "ran wants versions such as 2.16.2"),
            (self.link is not None and not LINK.match(self.link), "link wants https://..."),
            (not any(op in self.call for op in self.ops), "call wants to call one of the ops"),
        )
        if wrong := [words for is_wrong, words in faults if is_wrong]:
            raise ValueError(f"{self.id!r}: {'; '.join(wrong)}")

    @property
    def dies_in(self) -> tuple[str, ...]:
        """The versions with which it died, the oldest first."""
        return tuple(v for v in sorted(self.ran, key=order) if self.ran[v] in DIES)

    @property
    def fixed_in(self) -> str | None:
        """The first version tried after the last one that died."""
        last = order(self.dies_in[-1])
        return next((v for v in sorted(self.ran, key=order) if order(v) > last), None)

    def may_die(self, version: str | None) -> bool:
        """Whether a version lies between those that died; an unknown one may."""
        if version is None:
            return True
        tried = sorted(self.ran, key=order)
        near = [v for v in tried if order(v) <= order(version)] or tried[:1]
        return self.ran[near[-1]] in DIES


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    bug: list[Row]


def order(version: str) -> tuple[int, ...]:
    """A version as numbers: 2.9 before 2.16."""
    return tuple(int(n) for n in NUMBER.findall(version)[:3])


def read(text: str, *, name: str = "upstream.toml") -> tuple[Row, ...]:
    """The rows of a table; one that is malformed is refused with its name and the reason."""
    try:
        table = msgspec.toml.decode(text, type=Table)
    except (msgspec.MsgspecError, ValueError) as error:
        raise UsageError(f"{name} cannot be used: {error}; see src/sigwhy/upstream.py") from error
    ids = [row.id for row in table.bug]
    if twice := sorted({one for one in ids if ids.count(one) > 1}):
        raise UsageError(f"{name} has the id {twice[0]!r} twice; give each row its own")
    return tuple(table.bug)


@cache
def rows() -> tuple[Row, ...]:
    """The rows that come with sigwhy."""
    return read(TABLE.read_text(encoding="utf-8"))


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
    stood = f"{argument} is {value}: " if argument and value and len(value) < 40 else ""
    return f"{stood}{row.says} (known bug, seen in {span}{where})"


def _fix(row: Row) -> str | None:
    """What to do until the version comes that raises instead of dying."""
    if not row.fixed_in:
        return row.workaround
    newer = f"Install TensorFlow {row.fixed_in} or newer, which {ENDS[row.ran[row.fixed_in]]}"
    return f"{newer}; until then: {row.workaround}" if row.workaround else f"{newer}."
