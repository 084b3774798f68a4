"""What guilty arguments and known bugs say for a cause: each names the cause that it speaks for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from sigwhy.model.blame import owner, short_path
from sigwhy.model.cause import Clue, Culprit, Weight
from sigwhy.model.fact import Death, Frame, Guilty, KnownBug, Op, Wrote
from sigwhy.model.sharing import SHARING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.case import Case

CRASHES = frozenset({"SIGSEGV", "SIGABRT", "SIGFPE", "SIGBUS", "SIGILL", "SIGTRAP"})
OF_MEMORY = frozenset({"memory-demand", "memory-leak"})
LENT = ("borrows", "frees")
# What was lent is to blame where an address was given back; a resize is done to the very array.
RESIZES = re.compile(r"\.resize_?\b")
# Of these a user calls functions; an operation is something that a framework runs for him.
APIS = frozenset({"numpy", "scipy", "pandas", "opencv", "pyarrow", "h5py"})
# The access that failed went into memory that an input says is its own, or the decoder died of data
# whose head is absurd: nothing else explains it.
LENDING = frozenset({"freed", "protected", "view"})
PROVES = LENDING | {"contents", "objects"}
INSIDE = frozenset({"running", "constructing", "left"})
# Whose library defines an operation, and what it speaks for when the process died in there.
AT_FAULT = {"own": "custom-op-bug", "package": "native-extension-bug"}
WHOSE = {"own": "a library of your own", "package": "a package beside the framework"}
OF_THE_FRAMEWORK = frozenset({"op-argument", "op-bug"})
WEIGHTS = {"exact": Weight.STRONG, "likely": Weight.FAIR, "possible": Weight.SLIGHT}


def clues(case: Case, cause: str) -> Iterator[Clue]:
    """Yield what speaks for this cause, the best founded first."""
    for bug in case.all(KnownBug):
        if bug.cause == cause:
            weight = Weight.PROOF if bug.fit == "exact" else Weight.FAIR
            yield Clue(weight, bug, bug.says, _of_bug(case, bug), bug.workaround)
    for guilty in case.all(Guilty) if cause in OF_MEMORY else ():
        if guilty.rule == "contents" and guilty.fit == "exact":
            says = "the data asked for more memory than anybody has"
            yield Clue(Weight.EXCLUDES, guilty, says)
    charged = [guilty for guilty in case.all(Guilty) if guilty.cause == cause]
    if charged:
        yield _together(case, charged)
        yield from _laid(case, charged[0])
    for op in case.all(Op):
        if op.from_memory and op.state in INSIDE and op.library and op.framework not in APIS:
            yield from _defined(case, op, op.library, cause)


def _laid(case: Case, guilty: Guilty) -> Iterator[Clue]:
    """Objects over plain bytes: ``numpy.frombuffer`` refuses that, so somebody went around it."""
    laid = next((w for w in case.all(Wrote) if w.topic == "borrows"), None)
    if laid and guilty.rule == "objects":
        name = whole(laid.call)
        says = (
            f"{name} lays objects over plain bytes, which is refused where one asks for it openly"
        )
        at = Culprit(
            kind="api", name=name, argument=guilty.argument, file=laid.file, line=laid.line
        )
        yield Clue(Weight.STRONG, laid, says, at)


def _defined(case: Case, op: Op, library: str, cause: str) -> Iterator[Clue]:
    """Whose the operation is that it died in: the framework's, a package's, the user's own."""
    whose = owner(Frame(library=library)).whose
    name = short_path(library)
    blamed = Culprit(kind="op", name=op.op, node=op.node, library=name)
    if AT_FAULT.get(whose) == cause:
        weight = Weight.FAIR if op.is_hint else Weight.STRONG
        yield Clue(weight, op, f"{op.op} is an operation of {name}, {WHOSE[whose]}", blamed)
        died = case.first(Death)
        if died and died.signal in CRASHES and not op.is_hint:
            yield Clue(Weight.FAIR, died, f"it died of {died.signal} in there", blamed)
    elif whose in AT_FAULT and cause in OF_THE_FRAMEWORK:
        yield Clue(Weight.AGAINST, op, f"{op.op} is no operation of the framework itself")


def _of_bug(case: Case, bug: KnownBug) -> Culprit:
    charged = [guilty for guilty in case.all(Guilty) if guilty.cause == bug.cause]
    if bug.argument is None and charged:
        return culprit(case, charged)
    return Culprit(
        kind="op", name=bug.op, argument=bug.argument, value=bug.value, node=_node(case, bug.op)
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


def kind_of(ran: Op | Guilty) -> Literal["api", "op"]:
    """Whether users call it, or a framework runs it for them."""
    return "api" if ran.framework in APIS else "op"


def whole(call: str) -> str:
    """The name of a call without a bracket that is not closed."""
    return call if call.count("(") == call.count(")") else call.partition("(")[0]


def culprit(case: Case, charged: Sequence[Guilty]) -> Culprit:
    """The operation with the argument, or with those of which one is to blame."""
    values = list(dict.fromkeys(g.value for g in charged if g.value))
    lent = _lent(case) if charged[0].rule in LENDING else None
    if lent:
        return Culprit(
            kind="api",
            name=whole(lent.call),
            argument=charged[0].argument,
            value=values[0] if values else None,
            file=lent.file,
            line=lent.line,
        )
    return Culprit(
        kind=kind_of(charged[0]),
        name=charged[0].op,
        argument=" or ".join(g.argument for g in charged[:3]),
        value=" or ".join(values[:3]) or None,
        node=_node(case, charged[0].op),
    )


def _lent(case: Case) -> Wrote | None:
    """The line that lends memory without a copy; best the way by which frameworks are lent it."""
    wrote = [w for topic in LENT for w in case.all(Wrote) if w.topic == topic]
    known = [w for pattern, _ in SHARING for w in wrote if pattern.search(w.call)]
    resized = [w for w in wrote if RESIZES.search(w.call)]
    return next(iter(resized + known), None) or next(iter(wrote), None)


def _fix(charged: list[Guilty]) -> str | None:
    only = charged[0]
    if len(charged) > 1 or only.wanted is None:
        return None
    held = f", which stands in {only.variable}" if only.variable else ""
    return f"{only.op} wants {only.wanted} for {only.argument}{held}."


def _node(case: Case, op: str) -> str | None:
    return next((found.node for found in case.all(Op) if found.op == op and found.node), None)
