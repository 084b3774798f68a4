"""Two copies, or two versions, of protobuf (or of abseil, which it is built on) meet in one process.

What happens: protobuf keeps one table of all message types in the process. Two libraries that each
bring a copy, or the same generated code twice, register a file again, and protobuf aborts. Where
the copies differ in version it aborts by name, or memory is laid out differently and it crashes. On
macOS abseil's symbols of two packages merge, and a mutex of one is locked by the code of the other.

How to tell: "File already exists in database", "compiled against version … of the Protocol Buffer
runtime library", "Descriptors cannot be created directly"; on macOS "mutex lock failed: Invalid
argument" or "[mutex.cc : 452] RAW: Lock blocking" at an import.

Fix: one protobuf in the process: pin the version that both packages accept, link generated code
into one library only, or keep the two packages in two processes.

Folklore: PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python helps against old generated Python code; it
does nothing about two C++ copies.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Notice, Ran, Stack, Uncaught

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="protobuf-conflict",
    title="two copies or versions of protobuf meet in one process",
    fix="Let one protobuf be used: pin the version that all packages accept, or separate processes.",
    usually={"SIGABRT": "check-failed"},
)
MUTEX_FIX = (
    "Install versions that do not share abseil's symbols (for example tensorflow<2.20 on macOS, or "
    "another pyarrow), or use the two packages in two processes."
)
# topic: weight, what it says, fix
TOPICS = {
    "protobuf-twice": (Weight.PROOF, "the same .proto file was registered twice", "Link the generated code of this file into one library only, and use one libprotobuf."),
    "protobuf-version": (Weight.PROOF, "protobuf found another version than the code was built with", "Install the protobuf version that the message names, or rebuild with the installed one."),
    "protobuf-gencode": (Weight.PROOF, "generated Python code does not fit the installed protobuf", "Regenerate the _pb2.py files, or install the protobuf they fit (for old ones protobuf<=3.20.3)."),
    "protobuf-loaded-twice": (Weight.SLIGHT, "two copies of protobuf are loaded, which often goes well", None),
    "mutex-dead": (Weight.STRONG, "a mutex was locked that is none: two copies of abseil or protobuf merged", MUTEX_FIX),
    "mutex-blocks": (Weight.STRONG, "abseil waits for a mutex that nobody holds: two copies of it merged", MUTEX_FIX),
    "mutex-corrupt": (Weight.FAIR, "abseil found a mutex damaged", None),
    "protobuf-raced": (Weight.AGAINST, "a message changed while it was written: that is a race", None),
}  # fmt: skip
CARRIERS = re.compile(
    r"(?:^|\bimport |\bfrom )(?P<name>pyarrow|tink|grpc|ray|snowflake|onnx|datasets|polars|sentencepiece|ortools|onnxruntime|pymilvus|torch_xla|mediapipe|pyspark)\b"
)
PROTOBUF = re.compile(r"google::protobuf|6google8protobuf|\.pb\.cc|_pb_2eproto|_2eproto")
REGISTERS = re.compile(
    r"InternalAddGenerated|AddDescriptors|AssignDescriptors|DescriptorPool|EncodedDescriptorDatabase"
    r"|GeneratedMessageFactory|InternalRegisterGenerated|VerifyVersion|InitProtobufDefaults|InitSCC|OnShutdownRun"
)
# What protoc writes for Python.
GENERATED = re.compile(r"_pb2\.py$")
LOADS = re.compile(r"_GLOBAL__sub_I|call_init|_dl_init|dl_open|dlopen|static_initialization")


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for two copies of protobuf."""
    for notice in case.all(Notice):
        if row := TOPICS.get(notice.topic):
            weight, says, fix = row
            yield Clue(weight, notice, says, _blame(case, notice), fix)
    yield from _said(case)
    for stack in case.all(Stack):
        if stack.crashed and stack.role == "fault":
            yield from _frames(stack, _importer(case))


def _said(case: Case) -> Iterator[Clue]:
    mutex = next((n for n in case.all(Notice) if n.topic.startswith("mutex-")), None)
    whom = _importer(case)
    if mutex and whom:
        says = f"{whom.name} was imported, which brings an abseil of its own"
        yield Clue(Weight.FAIR, mutex, says, whom)
    for uncaught in case.all(Uncaught):
        if "google::protobuf::FatalException" in (uncaught.type or ""):
            yield Clue(Weight.FAIR, uncaught, "protobuf threw its own fatal exception")


def _blame(case: Case, notice: Notice) -> Culprit | None:
    if notice.topic == "protobuf-twice":
        return Culprit(kind="file", name=notice.subject or "protobuf", library="protobuf")
    if not notice.topic.startswith("mutex"):
        return Culprit(kind="package", name="protobuf", value=notice.subject)
    return _importer(case)


def _importer(case: Case) -> Culprit | None:
    found = (CARRIERS.search(ran.command) for ran in case.all(Ran))
    return next((Culprit(kind="package", name=f["name"]) for f in found if f), None)


def _frames(stack: Stack, whom: Culprit | None) -> Iterator[Clue]:
    frames = [f for f in stack.frames[:40] if f.function and PROTOBUF.search(f.function)]
    homes = {f.library for f in frames if f.library}
    first = stack.frames[0] if stack.frames else None
    if first and first.function == "<module>" and GENERATED.search(first.file or ""):
        says = "it died in a module that does nothing but register message types"
        yield Clue(Weight.STRONG, stack, says, Culprit(kind="package", name="protobuf"))
    if len(homes) > 1:
        says = "functions of protobuf lie in two libraries on one stack"
        yield Clue(Weight.STRONG, stack, says, _home(homes))
    if frames and stack.frames[0] in frames and whom:
        says = f"it died inside protobuf, and {whom.name} was imported, which brings one of its own"
        yield Clue(Weight.STRONG, stack, says, _home(homes))
        yield Clue(Weight.FAIR, stack, "nothing but imports was done", _home(homes))
    if any(REGISTERS.search(f.function or "") for f in frames):
        loading = any(LOADS.search(f.function or "") for f in stack.frames[:60])
        says = "it died while protobuf registered message types"
        yield Clue(Weight.STRONG if loading else Weight.FAIR, stack, says, _home(homes))


def _home(homes: set[str]) -> Culprit:
    return Culprit(kind="library", name="protobuf", library=min(homes, default=None))
