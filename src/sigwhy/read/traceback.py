r"""Python tracebacks: plain, chained, in groups, of IPython, torn, or glued into one line.

Looks like::

    Traceback (most recent call last):
      File "train.py", line 12, in <module>
        main()
      File "train.py", line 8, in main
        import fastlib
    ImportError: /opt/fastlib.so: undefined symbol: nope

    <ipython-input-1-0c2219f9314e> in <module>
    ----> 1 import fastlib
    ~/env/lib/python3.9/site-packages/fastlib/__init__.py in load(path)
    ---> 12     ctypes.CDLL(path)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sigwhy.model.fact import Frame, PythonError, Span, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

HEAD = "Traceback (most recent call last)"
MARKERS = (
    HEAD,
    '", line ',
    "Error:",
    "Exception:",
    "Error\n",
    "ExceptionGroup",
    "Interrupt",
    "Exit",
)

# File "train.py", line 8, in main      (faulthandler has no comma before "in": another reader's)
FRAME = re.compile(
    r"File \"(?P<file>[^\"\n]{1,500})\", line (?P<line>\d{1,9})(?:, in (?P<function>[^\s,]{1,200})|(?=\s*$))"
)
# ~/env/fastlib.py in load(path)  and, since IPython 8:  File ~/env/fastlib.py:12, in load(path)
IPYTHON = re.compile(
    r"^(?:File )?(?P<file>(?:[~/.]|[A-Za-z]:\\|<ipython-input-)[^\s:]{0,400}?(?:\.pyx?|\.so|>))(?::(?P<line>\d{1,9}))?,? in (?P<function>[\w.<>]{1,200})"
)
CELL = re.compile(
    r"^(?:Input |Cell )(?P<file>In ?\[\d{1,6}\])(?:, (?:line (?P<line>\d{1,9})|in (?P<function><[^>\n]{1,60}>)))?"
)
ARROW = re.compile(r"^-{2,}> ?(?P<line>\d{1,9}) ")
# ImportError: text     package.errors_impl.NotFoundError: text     E   OSError: text (pytest)
NAME = r"(?!(?:java|javax|kotlin|android|dalvik|com|org|io)\.)[A-Za-z_][\w.]{0,200}"
ERROR = re.compile(
    rf"^(?:E  +|(?:FAILED|ERROR) \S{{1,300}} - |\[[^\]\n]{{1,40}}\]:? ?|\([^)\n]{{1,40}}\) ?)?"
    rf"(?P<type>{NAME}(?:Error|Exception|ExceptionGroup|Interrupt|Exit)|(?:Base)?Exception(?:Group)?)(?:: (?P<text>.*)|:?\s*)$"
)
NAMED = re.compile(rf"^(?P<type>{NAME})(?:: (?P<text>.*)|)$")
GLUED = re.compile(
    r"\s(?P<type>[A-Za-z_][\w.]{0,200}(?:Error|Exception|Interrupt|Exit))(?:: (?P<text>[^\n]*))$"
)
# Nobody died of an exception that Python ignored or a program logged.
HARMLESS = re.compile(r"^(?:Exception ignored|Exception in thread|--- Logging error)")
# Lines below the exception that are no longer its words.
AFTER = re.compile(
    r"^\s*$|^[\s|+]{0,40}[-+]{3}|^(?:>>>|\$ |# |#\d|\(gdb\)|Traceback|During handling|The above exception|Current thread|Thread 0x"
    r"|Aborted|Segmentation fault|Fatal |Process finished|-{10,}|={10,}|\*\*\*|[IWEF]\d{4} |terminate called"
    r"|\[\w{1,40}[:\]]|\d{4}-\d\d-\d\d|Exception ignored|zsh: |bash: |sys:1: |Extension modules|OMP: |Killed)"
    r"|\(core dumped\)"
)
MOST_WORDS = 24
MOST_FRAMES = 1000
GUTTER = " \t|+"


@dataclass(slots=True)
class _Growing:
    """The frames that were met since the last exception."""

    frames: list[Frame] = field(default_factory=list)
    first: int = 0
    last: int = 0
    harmless: bool = False

    def add(self, n: int, frame: Frame) -> None:
        if not self.frames:
            self.first = n
        self.last = n
        if len(self.frames) < MOST_FRAMES:
            self.frames.append(frame)

    def points_at(self, n: int, line: int) -> None:
        """IPython says the line number with an arrow, below the name of the file."""
        if not self.frames:
            return
        frame = self.frames[-1]
        if frame.line is None:
            self.last = n
            self.frames[-1] = Frame(
                function=frame.function, file=frame.file, line=line, language="python"
            )


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the stacks and the exceptions of Python tracebacks."""
    growing = _Growing()
    for n, raw in enumerate(evidence.lines):
        line = raw.strip(GUTTER)
        if HEAD in line or HARMLESS.match(line):
            yield from _stack(evidence, growing)
            growing = _Growing(harmless=growing.harmless and not growing.frames)
            growing.harmless |= bool(HARMLESS.match(line))
        glued = _frames(n, line, growing)
        if found := _error(raw, line, growing, glued=glued):
            yield from _stack(evidence, growing)
            yield _exception(evidence, n, found, growing)
            growing = _Growing()
    yield from _stack(evidence, growing)


def _frames(n: int, line: str, growing: _Growing) -> bool:
    """Take what frames a line holds; whether it may hold the exception as well."""
    if found := ARROW.match(line):
        growing.points_at(n, int(found["line"]))
        return False
    rows = list(FRAME.finditer(line)) or [
        r for r in (IPYTHON.match(line) or CELL.match(line),) if r
    ]
    for found in rows:
        said = found.groupdict()
        frame = Frame(
            function=said["function"],
            file=said["file"],
            line=int(said["line"]) if said["line"] else None,
            language="python",
        )
        growing.add(n, frame)
    return bool(rows) and rows[0].re is FRAME


def _error(raw: str, line: str, growing: _Growing, *, glued: bool) -> re.Match[str] | None:
    """The exception of a line, if it is one."""
    if glued:
        return GLUED.search(line)
    if found := ERROR.match(line):
        return found if growing.frames or found["text"] else None
    unindented = raw[:1] not in (" ", "\t", "")
    return NAMED.match(line) if growing.frames and unindented and "." in line[:200] else None


def _exception(evidence: Evidence, n: int, found: re.Match[str], growing: _Growing) -> Fact:
    words = [found["text"] or ""]
    last = n
    for m in range(n + 1, min(n + 1 + MOST_WORDS, len(evidence.lines))):
        more = evidence.lines[m]
        if AFTER.search(more) or ERROR.match(more) or FRAME.search(more):
            break
        words.append(more)
        last = m
    inner = growing.frames[-1] if growing.frames else Frame()
    return PythonError(
        span=Span(evidence=evidence.name, first=n, last=last, words=found[0].strip()),
        type=found["type"],
        text="\n".join(words).strip(),
        file=inner.file,
        line=inner.line,
        function=inner.function,
    )


def _stack(evidence: Evidence, growing: _Growing) -> Iterator[Fact]:
    if growing.frames:
        yield Stack(
            span=Span(evidence=evidence.name, first=growing.first, last=growing.last),
            thread=None,
            crashed=not growing.harmless,
            frames=tuple(reversed(growing.frames)),
            language="python",
        )
