"""What the stack protector, fortified functions and run-time checks of compilers say.

Looks like::

    *** stack smashing detected ***: terminated
    *** buffer overflow detected ***: ./resize terminated
    *** bit out of range 0 - FD_SETSIZE on fd_set ***: terminated
    Run-Time Check Failure #2 - Stack around the variable 'name' was corrupted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Notice, Span, StackSmashed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

SMASHED = re.compile(
    r"\*\*\* (?:stack smashing|buffer overflow|%n in writable segment|invalid %N\$ use) detected \*\*\*"
    r"|\*\*\* (?:longjmp causes uninitialized stack frame|bit out of range 0 - FD_SETSIZE on fd_set"
    r"|invalid %N\$ use detected|read buffer overflow detected) \*\*\*"
    r"|\bstack corruption detected(?: \(-fstack-protector\))?"
    r"|\bFORTIFY: \w+: (?:prevented|detected|file descriptor|count|size|write|read|mode|%n|int)[^\n]{0,120}"
    r"|\bFORTIFY_SOURCE: \w[^\n]{0,100}"
    r"|Run-Time Check Failure #2 - [^\n]{1,120}"
    r"|A stack buffer overrun occurred in this application"
    r"|overrun of a stack-based buffer in this application"
    r"|\bSTATUS_STACK_BUFFER_OVERRUN\b"
    r"|\b(?:stack_chk_fail|Stack overflow) handler: stack smashing"
)
MARKERS = (
    "smashing", "overflow detected", "writable segment", "FD_SETSIZE", "stack corruption",
    "FORTIFY", "Run-Time Check", "longjmp causes", "invalid %N$", "buffer overrun",
    "overrun of a stack", "STACK_BUFFER_OVERRUN",
)  # fmt: skip


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield what was found to be smashed."""
    for n, line in enumerate(evidence.lines):
        found = SMASHED.search(line)
        if not found:
            continue
        words = found[0].rstrip()
        span = Span(evidence=evidence.name, first=n, last=n, words=words)
        yield StackSmashed(span=span, text=words)
        if "FD_SETSIZE" in words:
            # Not the limit of the system (ulimit -n): the number was too high for select().
            yield Notice(span=span, topic="fd-set-full", text=words, mechanism="stack-smashing")
