"""A handler of the program turned the crash into an exit code or a loop.

What happens: the program, or a library in it, installs a handler for SIGSEGV that prints a line and
calls exit(), or returns. After exit() the status is plain and no core is written; after a return
the same instruction faults again, for ever, at full CPU.

How to tell: a line like "caught SIGSEGV, exiting" beside an ordinary exit status, or the same line
over and over.

Fix: remove the handler (or run with `-X faulthandler`, without it) and look at the first fault: the
crash behind it has its own cause.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Death, Exit, Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="masked",
    title="a handler of the program hid the crash",
    fix="Remove the program's handler for the signal, run again, and look at the first fault.",
)
OVER_AND_OVER = 3


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a crash that a handler hid, and against it."""
    handled = [notice for notice in case.all(Notice) if notice.topic == "signal-handled"]
    if not handled:
        return
    first = handled[0]
    yield Clue(
        Weight.STRONG,
        first,
        f"the program caught {first.subject} itself",
        culprit=Culprit(kind="api", name=f"handler of {first.subject}"),
    )
    if Counter(notice.text for notice in handled).most_common(1)[0][1] >= OVER_AND_OVER:
        yield Clue(Weight.STRONG, first, "the handler was called over and over")
    for ended in case.all(Exit):
        if not ended.means:
            yield Clue(Weight.FAIR, ended, f"it ended with the plain status {ended.status}")
    told = {(notice.span.evidence, notice.span.first) for notice in handled}
    for death in case.all(Death):
        here = (death.span.evidence, death.span.first) in told
        if death.signal == first.subject and not here:
            yield Clue(Weight.AGAINST, death, "in the end the signal did end it")
