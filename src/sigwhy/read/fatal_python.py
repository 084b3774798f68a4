"""The interpreter gives up: ``Fatal Python error`` without a signal, and what it adds to it.

Looks like::

    Fatal Python error: PyEval_SaveThread: the function must be called with the GIL held
    Python runtime state: finalizing (tstate=0x00005581f5d2c3a8)
    Fatal Python error: deallocating None
    Modules/gcmodule.c:114: gc_decref: Assertion "gc_get_refs(g) > 0" failed: refcount is too small
    object type name: list
    Debug memory block at address p=0x7f8d64159ab0: API 'm'
        at tail+0: 0x78 *** OUCH
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Notice, PythonFatal, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

MARKERS = (
    "fatal_error (", "Py_FatalError",
    "Fatal Python error", "Python runtime state: ", "Assertion failed", 'Assertion "',
    "object type name: ", "*** OUCH", "Assertion `",
)  # fmt: skip

# Fatal Python error: PyThreadState_Get: no current thread         Fatal Python error: deallocating None
FATAL = re.compile(
    r"Fatal Python error: (?:(?P<function>_?[A-Za-z]\w{0,80}): )?(?P<text>\S[^\n]{0,1000})"
)
# gdb: fatal_error (fd=2, prefix=0x5555 <__func__.6> "PyThreadState_Get", msg=0x5555 "the function must be …", status=-1)
ARGUMENTS = re.compile(
    r"prefix=[^\n\"]{0,120}\"(?P<function>\w{1,80})\"|msg=[^\n\"]{0,120}\"(?P<text>[^\"\n]{4,400})\""
)
GIVES_UP = re.compile(r"\bfatal_error\w* \(|\b_?Py_FatalError\w* \(")
SIGNAL = re.compile(
    r"^(?:Segmentation fault|Aborted|Bus error|Illegal instruction|Floating[ -]point exception"
    r"|Bad system call|Trace/breakpoint trap)"
)
STATE = re.compile(r"Python runtime state: (?P<state>[a-z][a-z ]{2,40}[a-z])")
ASSERTED = re.compile(
    r"(?<![\w./\\-])(?P<file>[\w./\\-]{1,200}\.[ch]):(?P<line>\d{1,7}): (?:(?P<function>\w{1,80}): )?"
    r"Assertion (?:\"(?P<expression>[^\"\n]{1,300})\" )?failed(?:: (?P<text>[^\n]{1,300}))?"
)
# ceval.c:135: is_tstate_valid: Assertion `!_PyMem_IsPtrFreed(tstate->interp)' failed.
OF_A_THREAD = re.compile(
    r"(?:ceval(?:_gil)?|pystate|pycore_pystate)\.[ch]:\d{1,7}: [^\n]{0,200}?Assertion [`'](?P<what>[^\n]{0,300}?(?:tstate|\bgil\b|gilstate|_PyThreadState)[^\n]{0,300}?)' failed"
)
OBJECT = re.compile(r"object type name: (?P<type>[\w.]{1,200})")
OUCH = re.compile(r"\bat (?P<side>tail|p)(?P<offset>[+-]\d{1,4}): 0x[0-9a-f]{2} \*\*\* OUCH")


FEW = 4  # lines into which gdb wraps the arguments


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield why the interpreter gave up, and in which state it was."""
    for n, line in enumerate(evidence.lines):
        yield from _fatal(evidence, n, line)
        if GIVES_UP.search(line):
            yield from _in_arguments(evidence, n)
        yield from _around(evidence, n, line)


def _span(evidence: Evidence, n: int, words: str) -> Span:
    return Span(evidence=evidence.name, first=n, last=n, words=words.strip())


def _fatal(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    found = FATAL.search(line)
    if found and not SIGNAL.match(found["text"]):
        span = _span(evidence, n, found[0])
        yield PythonFatal(span=span, text=found["text"].strip(), function=found["function"])


def _in_arguments(evidence: Evidence, n: int) -> Iterator[Fact]:
    """What gdb shows as the arguments of the function that gives up."""
    said: dict[str, str] = {}
    last = n
    for m, line in enumerate(evidence.lines[n : n + FEW], n):
        for found in ARGUMENTS.finditer(line):
            said |= {name: words for name, words in found.groupdict().items() if words}
            last = m
    if text := said.get("text"):
        span = Span(evidence=evidence.name, first=n, last=last, words=text)
        yield PythonFatal(span=span, text=text, function=said.get("function"))


def _around(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    """What stands around it: the state, the object, the byte that was written over."""
    if found := STATE.search(line):
        span, state = _span(evidence, n, found[0]), found["state"]
        topic = "python-finalizing" if state.startswith("finalizing") else "python-state"
        yield Notice(span=span, topic=topic, text=span.words, subject=state)
    elif found := ASSERTED.search(line):
        if found["function"] or found["text"]:
            yield Notice(
                span=_span(evidence, n, found[0]),
                topic="python-assert",
                text=(found["text"] or found["expression"] or "").strip(),
                subject=found["function"],
                mechanism="fatal-python-error",
            )
    elif found := OF_A_THREAD.search(line):
        span = _span(evidence, n, found[0])
        yield Notice(span=span, topic="gil-not-held", text=found["what"])
    elif found := OBJECT.search(line):
        span = _span(evidence, n, found[0])
        yield Notice(span=span, topic="python-object-type", text=span.words, subject=found["type"])
    elif found := OUCH.search(line):
        span = _span(evidence, n, found[0])
        yield Notice(span=span, topic="python-pad-bytes", text=span.words, subject=found["side"])
