"""What an operator of a TensorFlow Lite model that was found in memory says for the causes.

Before it has any data an interpreter works on the model alone, so the phase in which it died tells
much. What an argument of the operator is charged with is heard in ``accused``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Clue, Culprit, Weight
from sigwhy.model.entry import whom
from sigwhy.model.fact import Death, Entered, Guilty, Notice, Stack
from sigwhy.model.model_op import died_in, foreign_delegate, is_node
from sigwhy.model.model_op import whom as whom_of
from sigwhy.model.shape import aborter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Op

EARLY = {
    "load": "it died while the model was read: no data was there yet",
    "init": "it died while {op} of the model was made: no data was there yet",
    "prepare": "it died while {op} of the model was prepared: no data was there yet",
    "delegate": "it died while a delegate took over {op} of the model: no data was there yet",
}
LATE = {"delete": "was freed", "prepare": "was prepared", "invoke": "ran"}
COPIES_OUT = re.compile(r"get_tensor(?:_details)?$")
CUSTOM_OPS = re.compile(r"InterpreterWithCustomOps|custom_op_registerers")
LOOKS_UP = re.compile(
    r"GetRegistrationFromOpCode|OpResolver|BuildLocalIndexToRegistrationMapping|RegisterSelectedOps"
)
OPERATORS = re.compile(r"(?:^|[ *&])(?:tflite|ruy|gemmlowp)::")
NEAR = 6
# What is said of the file behind a model, and what that is to each cause.
FILE = {
    ("model-shrank", "file-truncated"): (Weight.PROOF, "the model was longer when it was loaded than its file is now"),
    ("model-shrank", "malformed-model"): (Weight.EXCLUDES, "the file was whole when it was loaded, and was cut or rewritten afterwards"),
    ("model-read-past-end", "file-truncated"): (Weight.EXCLUDES, "the file is as long as it was when it was loaded"),
    ("model-read-past-end", "malformed-model"): (Weight.STRONG, "what was read lies behind the end of the model"),
    ("interpreter-shared", "thread-unsafe"): (Weight.STRONG, "two threads were in one interpreter when it died"),
}  # fmt: skip


def clues(case: Case, cause: str) -> Iterator[Clue]:
    """Yield what speaks for this cause or against it."""
    for notice in case.all(Notice):
        if row := FILE.get((notice.topic, cause)):
            name = notice.subject
            culprit = (
                Culprit(kind="file", name=name, file=name) if cause == "file-truncated" else None
            )
            yield Clue(row[0], notice, row[1], culprit if row[0] > 0 else None)
    op = died_in(case)
    if op and cause in CAUSES:
        yield from CAUSES[cause](case, op)


def was_read(case: Case) -> bool:
    """Whether it died after the model had been read."""
    op = died_in(case)
    return op is not None and (op.phase != "load" or looked_up(case, op))


def divided_by_zero(case: Case) -> bool:
    """Whether a divisor was 0; the other way to SIGFPE is a quotient that does not fit."""
    died = case.first(Death)
    return bool(died and died.signal == "SIGFPE") and not any(
        guilty.rule == "quotient" for guilty in case.all(Guilty)
    )


def looked_up(case: Case, op: Op) -> bool:
    """Whether it died where operators are looked up, after the file was read."""
    near = [f for s in case.all(Stack) if s.crashed for f in s.frames[:NEAR]]
    return op.phase == "load" and any(LOOKS_UP.search(f.function or "") for f in near)


def _model(case: Case, op: Op) -> Iterator[Clue]:
    death = case.first(Death)
    if foreign_delegate(op):
        return
    if op.cycle:
        turns = " -> ".join(map(str, (*op.cycle, op.cycle[0])))
        says = f"subgraphs of the model call each other without end: {turns}"
        yield Clue(Weight.PROOF, op, says, whom_of(op))
    if looked_up(case, op):
        says = "it died where operators are looked up, not where the file is read"
        yield Clue(Weight.AGAINST, op, says)
    elif op.phase in EARLY and (is_node(op) or op.phase == "load"):
        yield Clue(Weight.STRONG, op, EARLY[op.phase].format(op=op.op), whom_of(op))
    elif death and (is_node(op) or COPIES_OUT.search(op.op)):
        says = f"it died inside of {op.op}, which works as the model tells it to"
        yield Clue(Weight.FAIR, op, says, whom_of(op))
        yield from _gave_up(case, op)
    if death and is_node(op) and divided_by_zero(case):
        says = f"{op.op} divided by zero: a size or an option in the model is 0"
        yield Clue(Weight.STRONG, death, says, whom_of(op))


def _gave_up(case: Case, op: Op) -> Iterator[Clue]:
    """What operators check by abort() is what the model says of tensors and options."""
    for stack in case.all(Stack):
        frame = aborter(stack.frames) if stack.crashed else None
        if frame and is_node(op) and OPERATORS.search(frame.function or ""):
            says = f"{op.op} checked what it works on, and gave up in silence"
            yield Clue(Weight.STRONG, stack, says, whom_of(op))
            return


def _recursion(_case: Case, op: Op) -> Iterator[Clue]:
    if op.cycle:
        says = "it is the model that calls itself: no stack is deep enough"
        yield Clue(Weight.EXCLUDES, op, says)


def _delegate(case: Case, op: Op) -> Iterator[Clue]:
    """A delegate that does not come with the runtime had the word when it died."""
    if (name := foreign_delegate(op)) is None:
        return
    culprit = Culprit(kind="library", name=name, library=op.library, node=op.node)
    fix = "Keep the delegate alive until the interpreter is gone; try without it to be sure."
    says = f"it died while the delegate {name} {LATE.get(op.phase or '', 'was at work')}"
    yield Clue(Weight.PROOF, op, says, culprit, fix)
    if death := case.first(Death):
        yield Clue(Weight.FAIR, death, f"it died of {death.signal} there", culprit)
    if (entered := case.first(Entered)) and entered.died_whose == "own":
        says = "the code that it died in was called by the interpreter, as a delegate's is"
        yield Clue(Weight.FAIR, entered, says, culprit)


def _registered(case: Case, op: Op) -> Iterator[Clue]:
    """Functions that register operators get objects of the runtime's own, by its own headers."""
    entered = case.first(Entered)
    if entered is None or not CUSTOM_OPS.search(entered.written or "") or is_node(op):
        return
    culprit = whom(entered, argument="custom_op_registerers")
    says = (
        "functions that register operators were handed over, and it died while their work was used"
    )
    fix = "Build what registers the operators with the headers of this runtime, and check its signature."
    yield Clue(Weight.STRONG, entered, says, culprit, fix)
    yield Clue(Weight.FAIR, op, "no operator had run yet", culprit)
    if looked_up(case, op):
        yield Clue(Weight.STRONG, op, "what they had registered was looked up", culprit)


def _fed(case: Case, op: Op) -> Iterator[Clue]:
    """It died of what the operator was fed with, not of what stands in the model."""
    charged = (g for g in case.all(Guilty) if g.cause == "op-argument" and g.op == op.op)
    fed = next(charged, None)
    if fed and is_node(op):
        says = f"{fed.argument} is no part of the model: it was fed with it"
        culprit = whom_of(op)
        yield Clue(
            Weight.STRONG,
            op,
            says,
            Culprit(
                kind="op", name=op.op, argument=fed.argument, value=fed.value, node=culprit.node
            ),
        )


CAUSES: dict[str, Callable[[Case, Op], Iterator[Clue]]] = {
    "malformed-model": _model,
    "deep-recursion": _recursion,
    "delegate": _delegate,
    "abi-mismatch": _registered,
    "op-argument": _fed,
}
