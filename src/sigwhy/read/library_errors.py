"""The error lines of OpenCV, ONNX Runtime, MXNet, XGBoost and LightGBM.

Looks like::

    cv2.error: OpenCV(4.9.0) /io/opencv/resize.cpp:4152: error: (-215:Assertion failed) !ssize.empty() in function 'resize'
    OpenCV Error: Assertion failed (scn == 3 || scn == 4) in cvtColor, file /build/opencv/color.cpp, line 9748
    [E:onnxruntime:, sequential_executor.cc:514 ExecuteKernel] Non-zero status code returned while running Conv node. Name:'Conv_0' Status Message: bad shape
    onnxruntime_pybind11_state.InvalidProtobuf: [ONNXRuntimeError] : 7 : INVALID_PROTOBUF : Load model from m.onnx failed:Protobuf parsing failed.
    [10:11:12] src/ndarray/ndarray.cc:612: Check failed: !is_view (1 vs. 0) : view
      [bt] (3) /usr/lib/libmxnet.so(+0x1d) [0x7f12ab34cd56]
    [LightGBM] [Fatal] Check failed: (num_data) > (0) at /io/dataset.cpp, line 33 .
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.place import symbolised
from sigwhy.model.fact import Allocation, Check, Fact, Frame, Log, Notice, Op, Span, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence

MARKERS = (
    "is not a registered", "No Op registered", "model file format",
    "Invalid Feed", "nvalid feed", "find an implementation", "for input: ", "protobuf parsing", "INVALID_PROTOBUF", "ir_version", "IR version", "under development", "Required inputs", "input data type", "equired input",
    "OpenCV", "onnxruntime", "ONNXRuntimeError", "while running ", "Check failed: ", "[bt]", "[LightGBM]", "Protobuf parsing failed",
)  # fmt: skip
OPENCV = re.compile(
    r"OpenCV\([\w. -]{1,40}\) (?P<file>[^\n]{1,400}?):(?P<line>\d{1,6}): error: "
    r"\((?P<code>-?\d{1,5}):(?P<kind>[^)]{1,80})\) ?(?P<text>.*)"
)
OPENCV_OLD = re.compile(
    r"OpenCV(?:\([\w. -]{1,40}\))? Error: (?P<kind>[\w ,-]{3,80}) \((?P<text>.{0,400})\) in (?P<function>[^,]{1,200}), "
    r"file (?P<file>.{1,400}), line (?P<line>\d{1,6})"
)
IN_FUNCTION = re.compile(r"(?: |^)in function '(?P<function>[^']{1,200})'")
ASSERTION = "Assertion failed"
NO_MEMORY = re.compile(r"Failed to allocate (?P<bytes>\d{1,18}) bytes")
# Where the second line of an error was torn off: only the condition and the function remain.
ONNX_NODE = re.compile(
    r"(?:Non-zero status code returned|Exception) (?:caught )?(?:while|during) running (?P<op>\w{1,60}) node\."
    r"(?: Name: ?'(?P<node>[^']{0,200})')?(?: Status Message: (?P<text>.*))?"
)
ONNX_LOG = re.compile(
    r"\[(?P<level>[EF]):onnxruntime:[^,]{0,60}, (?P<file>[\w./]{1,200}):(?P<line>\d{1,6}) [^\]]{1,200}\] (?P<text>.*)"
)
ONNX_STATUS = re.compile(r"\[ONNXRuntimeError\] : \d{1,3} : (?P<code>[A-Z_]{2,40}) : (?P<text>.*)")
ONNX_ROWS = (
    (re.compile(r"Protobuf parsing failed|INVALID_PROTOBUF|Failed to load model because protobuf parsing failed"), "model-damaged"),
    (re.compile(r"Got invalid dimensions for input: (?P<about>\S+)"), "tensor-size-wrong"),
    (re.compile(r"Unexpected input data type\. Actual: \(tensor\(\w+\)\)"), "tensor-type-wrong"),
    (re.compile(r"Invalid [Ff]eed [Ii]nput [Nn]ame:? ?(?P<about>\S+)|Required inputs \(\[.{1,200}\]\) are missing from input feed"), "tensor-index-wrong"),
    (re.compile(r"Invalid rank for input: (?P<about>\S+)"), "tensor-size-wrong"),
    (re.compile(r"(?:Could not find an implementation for|is not a registered function/op|No Op registered for) ?(?P<about>\w+)"), "custom-op-unresolved"),
    (re.compile(r"Unsupported model IR version|Unknown model file format version|Opset \d+ is under development|ir_version"), "runtime-too-old"),
)  # fmt: skip
# OpenCV's own threads, memory and modules: no argument of a caller comes there.
INNARDS = re.compile(r"core/src/(?:system|parallel|alloc|lock|utils|plugin)\w{0,20}[./]")
DMLC = re.compile(
    r"(?P<file>[\w./\\:-]{1,300}\.(?:cc|cu|h|cuh|cpp|hpp)):(?P<line>\d{1,6}): Check failed: (?P<text>.*)"
)
LIGHTGBM = re.compile(
    r"\[LightGBM\] \[Fatal\] Check failed: (?P<text>.{1,300}?) at (?P<file>\S{1,300}), line (?P<line>\d{1,6})"
)
BT = "[bt]"


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield failed conditions, failed nodes, allocations and sentences that are known."""
    for n, line in enumerate(evidence.lines):
        yield from _opencv(evidence, n, line)
        if "nnx" in line.lower() or "while running" in line or "rotobuf" in line:
            yield from _onnx(evidence, n, line)
        yield from _checks(evidence, n, line)
    yield from _stacks(evidence)


def _opencv(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    found = OPENCV.search(line) or OPENCV_OLD.search(line) if "OpenCV" in line else None
    if not found:
        return
    span = Span(evidence=evidence.name, first=n, last=n, words=found[0].strip())
    text, function = found["text"].strip(), found.groupdict().get("function")
    if inside := IN_FUNCTION.search(text):
        text, function = text[: inside.start()].strip(), inside["function"]
    if asked := NO_MEMORY.search(line):
        yield Allocation(span=span, device="host", asked_bytes=int(asked["bytes"]))
    elif ASSERTION in found["kind"]:
        yield Check(
            span=span,
            framework="opencv-core" if INNARDS.search(found["file"]) else "opencv",
            expression=text,
            file=found["file"],
            line=int(found["line"]),
            function=function,
        )
    else:
        told = f"{found['kind']}: {text}" if text else found["kind"]
        yield Log(
            span=span,
            framework="opencv",
            level="error",
            text=told,
            file=found["file"],
            line=int(found["line"]),
        )


def _onnx(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    if found := ONNX_NODE.search(line):
        span = Span(evidence=evidence.name, first=n, last=n, words=found[0].strip())
        yield Op(span=span, framework="onnxruntime", op=found["op"], node=found["node"] or None)
    if found := ONNX_LOG.search(line) or ONNX_STATUS.search(line):
        span = Span(evidence=evidence.name, first=n, last=n, words=found[0].strip())
        said = found.groupdict()
        yield Log(
            span=span,
            framework="onnxruntime",
            level="fatal" if said.get("level") == "F" else "error",
            text=said["text"],
            file=said.get("file"),
            line=int(said["line"]) if said.get("line") else None,
        )
    for pattern, topic in ONNX_ROWS:
        if found := pattern.search(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0].strip())
            subject = found.groupdict().get("about") or "ONNX Runtime"
            words = found[0].strip()
            yield Notice(span=span, topic=topic, text=words, subject=subject, mechanism="no-crash")
            return


def _checks(evidence: Evidence, n: int, line: str) -> Iterator[Check]:
    if found := DMLC.search(line) or LIGHTGBM.search(line) if "Check failed: " in line else None:
        text = found["text"].strip()
        condition, _, detail = text.partition(" (") if " vs. " in text else (text, "", "")
        yield Check(
            span=Span(evidence=evidence.name, first=n, last=n, words=found[0].strip()),
            framework="dmlc",
            expression=condition.strip(" :"),
            detail=detail.replace(")", "", 1).strip(" :"),
            file=found["file"],
            line=int(found["line"]),
        )


def _stacks(evidence: Evidence) -> Iterator[Stack]:
    """Each run of ``[bt] (N) LIB(SYMBOL+0xH) [0xH]``."""
    frames: list[Frame] = []
    first = last = 0
    for n, line in enumerate((*evidence.lines, "")):
        frame = symbolised(line.partition(BT)[2]) if BT in line else None
        if frame:
            first = first if frames else n
            frames.append(frame)
            last = n
        elif frames:
            span = Span(evidence=evidence.name, first=first, last=last)
            yield Stack(span=span, thread=None, crashed=True, frames=tuple(frames))
            frames = []
