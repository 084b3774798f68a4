"""UndefinedBehaviorSanitizer: one line for each error, and a summary where it was asked for.

Looks like::

    blur_op.cc:469:21: runtime error: division by zero
        #0 0x559c32c8 in Divide(int, int) /home/ann/blur/blur_op.cc:469
    SUMMARY: UndefinedBehaviorSanitizer: integer-divide-by-zero blur_op.cc:469:21 in Divide(int, int)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.sanitizer_frame import Run, frame, runs
from sigwhy.model.fact import Checker, Frame, Span, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Access, Fact

MARKERS = ("runtime error: ", "UndefinedBehaviorSanitizer")
ERROR = re.compile(
    r"((?:[A-Za-z]:)?[^\s:()]{1,400}):(\d{1,7})(?::(\d{1,7}))?: runtime error: (\S[^\n]*)"
)
SUMMARY = re.compile(
    r"SUMMARY: UndefinedBehaviorSanitizer: ([a-z][\w-]*)(?: ([^\s:]{1,400}(?::\d+){1,2}))?:?(?: in ?(\S.*)?)?"
)
POINTER = re.compile(r"(?:address|pointer) (0x[0-9a-fA-F]{1,16})")
# Its sentences, and the names that its own summaries give to them.
KINDS = tuple(
    (re.compile(words), kind)
    for words, kind in (
        (r"^division by zero", "integer-divide-by-zero"),
        (r"^division of .* by -1", "signed-integer-overflow: division"),
        (r"^(?:signed integer overflow|negation of)", "signed-integer-overflow"),
        (r"^unsigned integer overflow", "unsigned-integer-overflow"),
        (r"^null pointer (?:passed|returned)", "invalid-null-argument"),
        (r"null pointer", "null-pointer-use"),
        (r"misaligned address", "misaligned-pointer-use"),
        (r"assumption of .* alignment|alignment assumption", "alignment-assumption"),
        (r"insufficient space", "insufficient-object-size"),
        (r"^shift exponent", "invalid-shift-exponent"),
        (r"^left shift of", "invalid-shift-base"),
        (r"^index .* out of bounds", "out-of-bounds-index"),
        (r"^variable length array bound", "non-positive-vla-index"),
        (r"outside the range of representable values", "float-cast-overflow"),
        (r"not a valid value for type '?(?:_?[Bb]ool|BOOL)", "invalid-bool-load"),
        (r"not a valid value for type", "invalid-enum-load"),
        (r"does not point to an object of type", "dynamic-type-mismatch"),
        (r"incorrect function type|through pointer to incorrect", "function-type-mismatch"),
        (r"without returning a value", "missing-return"),
        (r"unreachable program point", "unreachable-call"),
        (r"pointer (?:index expression|offset)", "pointer-overflow"),
        (r"passing zero to", "invalid-builtin-use"),
        (r"implicit conversion", "implicit-conversion"),
        (r"control flow integrity check", "cfi-bad-type"),
    )
)
READS = re.compile(r"^(?:load of|reference binding|member access within)")
WRITES = re.compile(r"^store to")
SOON = 5  # lines after the error: a note, the bytes, the caret, then the stack
MOST_ERRORS = 20


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield what was undefined, and where; each place once."""
    found = runs(evidence.lines)
    told: set[tuple[str, str, str]] = set()
    for n, line in enumerate(evidence.lines):
        if "runtime error: " in line:
            error = ERROR.search(line)
            if error and (error[1], error[2], error[4]) not in told and len(told) < MOST_ERRORS:
                told.add((error[1], error[2], error[4]))
                yield _checker(evidence, n, error)
                yield _stack(evidence, n, error, found)
        elif (summary := SUMMARY.search(line)) and not told:
            told.add(("", "", summary[1]))
            yield from _summed_up(evidence, n, summary)


def _checker(evidence: Evidence, n: int, error: re.Match[str]) -> Checker:
    words = error[4].rstrip()
    pointer = POINTER.search(words)
    access: Access = "write" if WRITES.match(words) else "read" if READS.match(words) else "unknown"
    return Checker(
        span=Span(evidence=evidence.name, first=n, last=n, words=words),
        tool="ubsan",
        kind=next((kind for pattern, kind in KINDS if pattern.search(words)), words[:60]),
        access=access,
        address=int(pointer[1], 16) if pointer else None,
        place=f"{error[1]}:{error[2]}",
    )


def _stack(evidence: Evidence, n: int, error: re.Match[str], found: dict[int, Run]) -> Stack:
    """The stack below the error, else the one place that it names."""
    below = evidence.lines[n + 1 : n + 1 + SOON]
    until = next((m for m, line in enumerate(below) if "runtime error: " in line), len(below))
    run = next((found[n + 1 + m] for m in range(until) if n + 1 + m in found), None)
    return Stack(
        span=Span(
            evidence=evidence.name, first=run.first if run else n, last=run.last if run else n
        ),
        thread=None,
        crashed=True,
        frames=run.frames if run else (Frame(file=error[1], line=int(error[2])),),
    )


def _summed_up(evidence: Evidence, n: int, summary: re.Match[str]) -> Iterator[Fact]:
    span = Span(evidence=evidence.name, first=n, last=n, words=summary[1])
    yield Checker(span=span, tool="ubsan", kind=summary[1], place=summary[2])
    if summary[2] and (one := frame(f"0x0 in {summary[3] or ''} {summary[2]}")):
        yield Stack(span=span, thread=None, crashed=True, frames=(one,))
