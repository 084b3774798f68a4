"""An operation or a function got an argument that it does not check.

What happens: a shape, a type, an index, a 0 or an empty array reaches native code which takes it
for granted. It aborts at a CHECK deep inside, divides by zero, or runs past memory.

How to tell: the failed check speaks of shapes, sizes, types or indices; or the dead thread stands in
the operation's own kernel. SIGFPE inside an operation is always an integer divided by zero.

Fix: look at the arguments of the call that is named, most of all for 0, -1, an empty list, a wrong
rank or type, and a product of sizes above 2**31. Newer versions often raise an exception instead.

Folklore: an index out of range in tf.gather is no crash: on the CPU it is an exception.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sigwhy.model.argument_words import (
    ARGUMENT_WORDS,
    BAD,
    COMPARED,
    DECODES,
    EMPTY_IMAGE,
    KERNELS,
    OF_SHAPES,
    OTHERS,
    REFUSED,
    SHAPES,
)
from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.entry import is_of_others, whom
from sigwhy.model.fact import (
    Check,
    Checker,
    Death,
    Entered,
    Guilty,
    Instruction,
    Log,
    PythonError,
    Stack,
    Wrote,
)
from sigwhy.model.model_op import gives_data
from sigwhy.model.named_op import in_kernel, operation
from sigwhy.model.named_op import place as place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="op-argument",
    title="an operation got an argument that it does not check",
    fix="Check the arguments of the call before it: no 0, -1, empty, wrong rank or type, or huge size.",
    usually={"SIGABRT": "check-failed"},
)
FRAMEWORKS = ("tensorflow", "absl", "paddle", "dmlc", "glog", "tflite", "torch")
THREADS = "num_threads >= 1"
CHECK_IMAGE = "The image is empty: cv2.imread() returns None where it cannot read. Test for None."
LOOK_FOR_ZERO = "Look for a 0 among the sizes, strides, groups and block sizes of the call."
ENDS_INSIDE = frozenset({"SIGSEGV", "SIGFPE", "SIGABRT", "SIGBUS"})


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for an argument that nobody checked."""
    for check in case.all(Check):
        if check.framework in {"opencv", "ducc"}:
            says = f"{check.framework} checked its argument: {check.expression}"
            fix = CHECK_IMAGE if EMPTY_IMAGE.search(check.expression) else None
            yield Clue(Weight.PROOF, check, says, place_of(case, check), fix)
        elif check.framework in FRAMEWORKS and "INTERNAL ASSERT" not in check.span.words:
            yield from _condition(case, check)
    for log in (log for log in case.all(Log) if log.framework == "opencv"):
        if BAD.match(log.text):
            yield Clue(Weight.STRONG, log, "OpenCV refuses an argument", place_of(case, log))
    yield from _inside(case)
    yield from _refusal(case)
    for entered in case.all(Entered):
        yield from _entered(case, entered)


def _entered(case: Case, entered: Entered) -> Iterator[Clue]:
    """A function of a package was called from your line, and the process died inside of it."""
    death = next((d for d in case.all(Death) if d.signal in ENDS_INSIDE), None)
    # What a decoder was given is data, and what most calls of an interpreter work on is the model.
    if death is None or not is_of_others(entered) or DECODES.search(entered.written or ""):
        return
    if not gives_data(case):
        return
    blamed = whom(entered)
    says = f"your call of {entered.written} went into {entered.package or 'a framework'} and died there"
    yield Clue(Weight.STRONG, entered, says, blamed)
    yield Clue(Weight.FAIR, death, f"{death.signal} is what unchecked arguments end in", blamed)
    if death.signal == "SIGFPE":
        says = "an integer was divided by zero there"
        yield Clue(Weight.STRONG, death, says, blamed, LOOK_FOR_ZERO)
    for wrote in case.all(Wrote):
        if wrote.topic == "edits":
            says = f"{wrote.call} was edited in place: what stands in it is believed, not checked"
            at = replace(blamed, argument=wrote.call, file=wrote.file, line=wrote.line)
            yield Clue(Weight.STRONG, wrote, says, at)
            return


def _refusal(case: Case) -> Iterator[Clue]:
    """The operation refused its argument with an exception, of which nobody dies."""
    ran = operation(case)
    for error in case.all(PythonError):
        if ran and error.type.endswith("InvalidArgumentError") and REFUSED.search(error.text):
            weight = Weight.FAIR if case.first(Death) else Weight.PROOF
            yield Clue(weight, error, "the operation refused its argument", ran)


def _condition(case: Case, check: Check) -> Iterator[Clue]:
    words, place = f"{check.expression} {check.detail}", (check.file or "").replace("\\", "/")
    if THREADS in words:
        culprit = Culprit(kind="argument", name="num_threads")
        yield Clue(Weight.PROOF, check, "a thread pool was asked for no threads", culprit)
    elif not OTHERS.search(f"{place} {words}"):
        yield from _weighed(case, check, words, place)


def _weighed(case: Case, check: Check, words: str, place: str) -> Iterator[Clue]:
    """The condition and the place of a check are two observations; so is the kernel that ran."""
    culprit, at_kernel = place_of(case, check), bool(KERNELS.search(place))
    numbers = at_kernel and COMPARED.search(check.detail)
    if ARGUMENT_WORDS.search(words) or check.status == "INVALID_ARGUMENT" or numbers:
        says = f"the failed check is about an argument: {check.expression}"
        yield Clue(Weight.STRONG, check, says, culprit)
    if at_kernel or SHAPES.search(place) or OF_SHAPES.search(words):
        weight = Weight.FAIR if at_kernel else Weight.STRONG
        says = "it stands in code that handles the arguments of operations"
        yield Clue(weight, check, says, culprit)
    if at_kernel and culprit.kind == "op":
        yield Clue(Weight.SLIGHT, check, f"the kernel of {culprit.name} was running", culprit)


def _inside(case: Case) -> Iterator[Clue]:
    """A death inside an operation; SIGFPE is a size, a stride or a group of 0."""
    ran = operation(case)
    if ran is None or any(guilty.cause != CAUSE.id for guilty in case.all(Guilty)):
        return
    divided = (d for d in case.all(Death) if d.signal == "SIGFPE")
    told = case.first(Death) or case.first(Checker)
    says = f"{ran.name} divided an integer by zero"
    for fact in (*divided, *(i for i in case.all(Instruction) if i.divides)):
        yield Clue(Weight.STRONG, fact, says, ran, LOOK_FOR_ZERO)
    for death in case.all(Death):
        if death.signal in {"SIGSEGV", "SIGABRT", "SIGFPE"}:
            yield Clue(Weight.FAIR, death, f"it died inside {ran.name}", ran)
    for stack in case.all(Stack):
        if stack.crashed and in_kernel(stack):
            says = f"the dead thread stands in the kernel of {ran.name} itself"
            yield Clue(Weight.STRONG if told else Weight.FAIR, stack, says, ran)
