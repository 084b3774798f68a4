r"""Log lines of TensorFlow, XLA and all who log like glog or absl, and the places TensorFlow names.

Looks like::

    2024-05-02 10:11:12.131415: F tensorflow/core/framework/tensor.cc:733] Check failed: 1 == NumElements() (1 vs. 2)
    F0000 00:00:1795053866.481325    8769 tensor.cc:890] Check failed: dtype() == expected_dtype (1 vs. 3)
    F .\tensorflow/core/util/x.h:51] Non-OK-status: MakeShape(d) status: INVALID_ARGUMENT: got -37
    InvalidArgumentError: Size should be >= 0. [Op:TensorArrayV3]
             [[{{node model/conv2d/Conv2D}}]]

The two values behind a failed comparison stand in either order: TensorFlow up to 2.16 swaps them
for ``>`` and ``>=``. They are kept as they were printed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from sigwhy.model.fact import Check, Fact, Log, Notice, Op, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence

LEVELS: dict[str, Literal["info", "warning", "error", "fatal"]] = {
    "I": "info",
    "W": "warning",
    "E": "error",
    "F": "fatal",
}
MARKERS = (
    "Iterator resource",
    "Container localhost",
    "tatus: ",
    "in another function",
    "Cannot use '",
    ".cc:",
    ".h:",
    ".cpp:",
    ".hpp:",
    ".cu:",
    ".c:",
    ".mm:",
    "[Op:",
    "node ",
    "node:",
    "Node: ",
    "__wrapped__",
    "Op type not registered",
    "registered to support Op",
    "gen_",
    "Check failed: ",
    "Session",
    "Resource ",
    "uninitialized",
    "resource variable",
    "graph",
    "closed file",
    "out of scope",
    "iterator",
    "variable",
)
# The time stands before the level (TensorFlow), behind it (absl, glog) or nowhere.
LOGGED = re.compile(
    r"(?<![\w.])(?P<level>[IWEF])(?:\d{4,8}(?: [\d:.]{7,24})?(?: +\d{1,9})?)? +"
    r"(?P<file>(?:[A-Za-z]:)?[\w./\\+@-]+\.(?:cc|h|cpp|hpp|cu|cxx|c|mm|inc)):(?P<line>\d{1,6})\] ?(?P<text>.*)"
)
OWNERS = (
    (re.compile(r"tensorflow[/\\]lite|(?:^|[/\\])tflite[/\\]|[/\\]litert[/\\]"), "tflite"),
    (re.compile(r"(?:^|[/\\])(?:local_)?xla[/\\]|stream_executor|(?:^|[/\\])pjrt"), "xla"),
    (re.compile(r"tensorflow|(?:^|[/\\])tsl[/\\]"), "tensorflow"),
    (re.compile(r"paddle"), "paddle"),
    (re.compile(r"caffe|\.cpp$|\.hpp$|\.cu$"), "glog"),
)
FAILED = "Check failed: "
NOT_OK = "Non-OK-status: "
STATUS = re.compile(r"^\s*(?P<code>[A-Z][A-Za-z_]*(?: [a-z]+)?): ?(?P<text>.*)")
STATUS_BELOW = re.compile(r"^\s*[Ss]tatus: (?P<status>.*)")
ENDS = re.compile(
    r"^\s*(?:Aborted|Fatal Python error: Aborted)|Check failure stack trace|BEGIN MANGLED"
)
IS_OK = re.compile(r" is OK \((?P<status>.*)\)?\s*$")
CODES = re.compile(
    r"^(?:CANCELLED|UNKNOWN|INVALID_ARGUMENT|DEADLINE_EXCEEDED|NOT_FOUND|ALREADY_EXISTS"
    r"|PERMISSION_DENIED|RESOURCE_EXHAUSTED|FAILED_PRECONDITION|ABORTED|OUT_OF_RANGE"
    r"|UNIMPLEMENTED|INTERNAL|UNAVAILABLE|DATA_LOSS|UNAUTHENTICATED)$"
)
# Which operation: said by name and by node, by name, by node alone, or by the generated wrapper.
NAMED = (
    re.compile(r"\[\[Node: (?P<node>[\w./>-]+) = (?P<op>\w+)\["),
    re.compile(r"\[\[(?:\{\{)?node (?P<node>[\w./>-]+)(?:\}\})? = (?P<op>\w+)\["),
    re.compile(r"[Oo]p(?:Kernel was registered to support Op| type not registered) '(?P<op>\w+)'"),
    re.compile(r"No registered '(?P<op>\w+)' Op[Kk]ernel"),
    re.compile(r"\[Op:(?P<op>\w+)\]"),
    re.compile(r"__wrapped__(?P<op>[A-Za-z0-9]{1,80})\w{0,200}?_device_(?P<device>/job:[\w:/]+)"),
)
AT_NODE = (
    re.compile(r"\{\{node (?P<node>[\w./>-]+)\}\}"),
    re.compile(r"\[\[node (?P<node>[\w./>-]+)"),
    re.compile(r"\bDetected at node '?(?P<node>[\w./>-]+)"),
    re.compile(r"^\s*Node: '(?P<node>[\w./>-]+)'"),
)
# nodes are numbered when a name comes twice: Conv2D, Conv2D_1
NUMBERED = re.compile(r"_\d+$")
WRAPPER = re.compile(r"[/\\]gen_\w*ops(?:_?\w*)\.py\", line \d+,? in (?P<function>_?[a-z]\w*)")
# Well-known sentences: a thing was used too late, too early or in the wrong place.
SENTENCES = (
    (re.compile(r"Attempted to use a closed Session|Session has been closed"), "used-after-close", "Session"),
    (re.compile(r"The Session graph is empty"), "used-before-ready", "Session"),
    (re.compile(r"Could not find variable (?P<about>\S{1,200}?)\. This could mean that the variable"), "used-before-ready", "variable"),
    (re.compile(r"Resource (?P<about>\S{1,200}) (?:does not exist|was (?:already )?destroyed)|Container localhost does not exist"), "used-after-close", "resource"),
    (re.compile(r"(?:Attempting|Attempted) to use (?:an )?uninitialized value (?P<about>\S{1,200})"), "used-before-ready", "variable"),
    (re.compile(r"Error while reading resource variable (?P<about>\S{1,200}) from Container: localhost\. This could mean that the variable"), "used-before-ready", "variable"),
    (re.compile(r"must be from the same graph as|is not an element of this graph"), "wrong-graph", "Tensor"),
    (re.compile(r"Cannot use '(?P<about>\S{1,200})' as input to '\S{1,200}' because .{1,40} is in a while loop"), "wrong-graph", "Tensor"),
    (re.compile(r"is out of scope and cannot be used here|defined in another function or code block"), "wrong-graph", "Tensor"),
    (re.compile(r"Iterator resource .{0,60}(?:deleted|not initialized)|GetNext\(\) failed because the iterator has not been initialized"), "used-before-ready", "iterator"),
    (re.compile(r"Operation on closed file|I/O operation on closed file|seek of closed file"), "used-after-close", "file"),
)  # fmt: skip
CAPITALS = {
    "irfft": "IRFFT",
    "rfft": "RFFT",
    "ifft": "IFFT",
    "fft": "FFT",
    "2d": "2D",
    "3d": "3D",
    "lstm": "LSTM",
    "gru": "GRU",
    "lrn": "LRN",
}


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the records worth keeping, the checks that failed, and the operations named."""
    for n, line in enumerate(evidence.lines):
        if found := LOGGED.search(line):
            yield from _record(evidence, n, found)
        elif FAILED in line and "]" not in line[: line.find(FAILED)]:
            yield from _torn_off(evidence, n, line)
        elif found := STATUS_BELOW.match(line):
            yield from _status_alone(evidence, n, found)
        yield from _sentences(evidence, n, line)
    yield from _operations(evidence)


def _sentences(evidence: Evidence, n: int, line: str) -> Iterator[Notice]:
    for pattern, topic, subject in SENTENCES:
        if found := pattern.search(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
            yield Notice(span=span, topic=topic, text=found[0], subject=subject)
            return


def _record(evidence: Evidence, n: int, found: re.Match[str]) -> Iterator[Fact]:
    level = LEVELS[found["level"]]
    if level == "info":
        return
    span = Span(evidence=evidence.name, first=n, last=n, words=found[0].strip())
    file, line = found["file"].lstrip("./\\"), int(found["line"])
    owner = next((name for pattern, name in OWNERS if pattern.search(file)), "absl")
    text = found["text"].strip()
    below = [line.strip() for line in evidence.lines[n + 1 : n + 3]]
    if not text and below and below[0].startswith(FAILED):
        text = " ".join(below)  # a paste that broke each record into lines
    yield Log(span=span, framework=owner, level=level, text=text, file=file, line=line)
    if check := _check(text, evidence, n):
        expression, detail, status = check
        yield Check(
            span=span,
            framework=owner,
            expression=expression,
            detail=detail,
            status=status,
            file=file,
            line=line,
        )


def _torn_off(evidence: Evidence, n: int, line: str) -> Iterator[Check]:
    """A failed check whose place was torn off: the line begins in the middle of the record."""
    if not line.lstrip().startswith(FAILED):
        return
    if check := _check(line.strip(), evidence, n):
        span = Span(evidence=evidence.name, first=n, last=n, words=line.strip())
        expression, detail, status = check
        yield Check(
            span=span, framework="absl", expression=expression, detail=detail, status=status
        )


def _status_alone(evidence: Evidence, n: int, found: re.Match[str]) -> Iterator[Check]:
    """The second line of a status check whose first was cut away: the process ends right after it."""
    before, after = evidence.lines[:n], evidence.lines[n + 1 : n + 3]
    detail, status = _status(found["status"])
    cut = not (before and NOT_OK in before[-1])
    if cut and status and any(ENDS.search(line) for line in after):
        span = Span(evidence=evidence.name, first=n, last=n, words=found[0].strip())
        yield Check(
            span=span,
            framework="tensorflow",
            expression="status is OK",
            detail=detail,
            status=status,
        )


def _check(text: str, evidence: Evidence, n: int) -> tuple[str, str, str | None] | None:
    """The condition, what was printed with it, and the status, if the text is a failed check."""
    if NOT_OK in text:
        expression, _, status = text.partition(NOT_OK)[2].partition(" status: ")
        below = evidence.lines[n + 1] if n + 1 < len(evidence.lines) else ""
        if not status and (found := STATUS_BELOW.match(below)):
            status = found["status"]
        return (expression.strip(), *_status(status))
    if FAILED not in text:
        return None
    text = text.partition(FAILED)[2].strip()
    if found := IS_OK.search(text):
        return (text[: found.start()] + " is OK", *_status(found["status"].rstrip(") ")))
    return (*_comparison(text), None)


def _status(text: str) -> tuple[str, str | None]:
    """``Invalid argument: got -37`` is the words ``got -37`` and the code INVALID_ARGUMENT."""
    if found := STATUS.match(text):
        code = found["code"].upper().replace(" ", "_")
        if CODES.match(code):
            return found["text"].strip(), code
    return text.strip(), None


def _comparison(text: str) -> tuple[str, str]:
    """``d < dims() (1 vs. 1) more`` is ``d < dims()`` and ``1 vs. 1 more``."""
    middle = text.find(" vs. ")
    start = text.rfind(" (", 0, middle) if middle > 0 else -1
    if start < 0:
        return text, ""
    end = text.find(")", middle)
    end = len(text) if end < 0 else end
    detail = f"{text[start + 2 : end]} {text[end + 1 :].strip()}"
    return text[:start].strip(), detail.strip()


def _operations(evidence: Evidence) -> Iterator[Op]:
    """Each operation once, at its first mention."""
    seen = set()
    for n, line in enumerate(evidence.lines):
        for op, node, device, words in _named(line):
            if (op, node) not in seen and (node or (op, None) not in seen):
                seen.update({(op, node), (op, None)})
                span = Span(evidence=evidence.name, first=n, last=n, words=words)
                yield Op(span=span, framework="tensorflow", op=op, node=node, device=device)


def _named(line: str) -> Iterator[tuple[str, str | None, str | None, str]]:
    for pattern in NAMED:
        if found := pattern.search(line):
            said = found.groupdict()
            yield found["op"], said.get("node"), said.get("device"), found[0].strip()
            return
    for pattern in AT_NODE:
        if found := pattern.search(line):
            node = found["node"]
            yield NUMBERED.sub("", node.split("/")[-1]), node, None, found[0].strip()
            return
    if found := WRAPPER.search(line):
        yield _camel(found["function"]), None, None, found[0].strip()


def _camel(function: str) -> str:
    """``quantized_conv2d_eager_fallback`` is the wrapper of ``QuantizedConv2D``."""
    words = function.removesuffix("_eager_fallback").split("_")
    return "".join(_word(word) for word in words if word)


def _word(word: str) -> str:
    for small, capital in CAPITALS.items():
        if word.endswith(small):
            return word.removesuffix(small).capitalize() * (word != small) + capital
    return word.capitalize()
