"""The table of known bugs: ``causes/upstream.toml``, read and refused where it says nothing.

It lies below all who ask it: what explains a death, and what checks a source.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from sigwhy.model.condition import Condition  # noqa: TC001 -- msgspec reads annotations at run time
from sigwhy.model.error import UsageError

TABLE = Path(__file__).parent / "causes" / "upstream.toml"
ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
OP = re.compile(r"[A-Za-z_]\w*\Z")
VERSION = re.compile(r"\d+(?:\.\d+){1,2}\Z")
NUMBER = re.compile(r"\d+")
LINK = re.compile(r"https://\S+\Z")

Outcome = Literal["SIGABRT", "SIGSEGV", "SIGFPE", "SIGBUS", "SIGILL", "error", "ok", "hang"]
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
        raise UsageError(f"{name} cannot be used: {error}; see src/sigwhy/known_bugs.py") from error
    ids = [row.id for row in table.bug]
    if twice := sorted({one for one in ids if ids.count(one) > 1}):
        raise UsageError(f"{name} has the id {twice[0]!r} twice; give each row its own")
    return tuple(table.bug)


@cache
def rows() -> tuple[Row, ...]:
    """The rows that come with sigwhy."""
    return read(TABLE.read_text(encoding="utf-8"))
