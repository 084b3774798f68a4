"""The crash report of macOS and iOS since 2021: ``.ips``, one JSON line and one JSON body.

Looks like::

    {"app_name":"Python","bug_type":"309","os_version":"macOS 14.5"}
    {
      "translated" : false,
      "exception" : {"type":"EXC_BAD_ACCESS","signal":"SIGSEGV","subtype":"KERN_INVALID_ADDRESS at 0x8"},
      "faultingThread" : 3,
      "threads" : [{"triggered":true,"frames":[{"imageOffset":44,"symbol":"merge_sorted","imageIndex":0}]}],
      "usedImages" : [{"name":"libfast.dylib","path":"/opt/fast/libfast.dylib"}]
    }
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from sigwhy.machine.demangle import demangled
from sigwhy.machine.place import number
from sigwhy.model.fact import (
    Death,
    Fault,
    Frame,
    LoadFailure,
    MemoryKill,
    Notice,
    Platform,
    Span,
    Stack,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

KEY = re.compile(
    r'"(?P<key>exception|termination|faultingThread|threads|usedImages|asi|translated|cpuType'
    r'|procName|pid)"\s*:\s*'
)
SUBTYPE = re.compile(
    r"(?P<code>KERN_\w{3,40}|EXC_\w{3,40})(?:[^\n]{0,40}? at (?P<address>0x[0-9a-fA-F]{1,16}))?"
)
NOT_LOADED = re.compile(r"Library not loaded: (?P<library>[^\s'\"]{1,300})")
REFERENCED = re.compile(r"Referenced from: (?:<[^>\n]{1,60}> )?(?P<by>[^\s'\"]{1,300})")
MARKERS = ('"exception"', '"faultingThread"', '"threads"', '"usedImages"', '"termination"')
PROOF = ('"faultingThread"', '"imageIndex"', '"imageOffset"', '"bug_type"', '"EXC_')
CODE_NAMES = {
    "KERN_INVALID_ADDRESS": "SEGV_MAPERR",
    "KERN_PROTECTION_FAILURE": "SEGV_ACCERR",
    "EXC_ARM_DA_ALIGN": "BUS_ADRALN",
}
MACHINES = {"ARM-64": "arm64", "X86-64": "x86_64"}
LARGEST = 16 * 1024 * 1024
MOST_THREADS = 600
MOST_FRAMES = 2000
# A value which is an object or a list may be torn; each is tried once, so that hostile text cannot
# make the whole be scanned again and again.
DECODER = json.JSONDecoder()


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the death, the fault, the machine, the stacks, and what libraries left to say."""
    text = "\n".join(evidence.lines)[:LARGEST]
    if not any(proof in text for proof in PROOF):
        return
    values, spans = _values(evidence, text)
    if exception := _dict(values.get("exception")):
        yield from _died(exception, values, spans["exception"])
    if termination := _dict(values.get("termination")):
        yield from _ended(termination, spans["termination"])
    if asi := _dict(values.get("asi")):
        for text_ in (t for texts in asi.values() for t in _list(texts) if isinstance(t, str)):
            yield Notice(span=spans["asi"], topic="abort-message", text=text_[:2000])
    yield from _platform(values, spans)
    yield from _stacks(values, spans)


def _values(evidence: Evidence, text: str) -> tuple[dict[str, Any], dict[str, Span]]:
    """The first value of each key that matters, and the lines on which it stands."""
    starts = [0, *accumulate(len(line) + 1 for line in evidence.lines)]
    values: dict[str, Any] = {}
    spans: dict[str, Span] = {}
    tried: set[str] = set()
    for found in KEY.finditer(text):
        key = found["key"]
        if key in tried:
            continue
        tried.add(key)
        try:
            value, end = DECODER.raw_decode(text, found.end())
        except (ValueError, RecursionError):
            continue
        values[key] = value
        first = bisect_right(starts, found.start()) - 1
        last = bisect_right(starts, max(end - 1, 0)) - 1
        spans[key] = Span(evidence=evidence.name, first=first, last=last)
    return values, spans


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    return value[:4000] if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**64 else None


def _died(exception: dict[str, Any], values: dict[str, Any], span: Span) -> Iterator[Fact]:
    told = SUBTYPE.search(_text(exception.get("subtype")) or "")
    code = told["code"] if told else ""
    if signal := _text(exception.get("signal")):
        yield Death(
            span=span,
            signal=signal,
            code=CODE_NAMES.get(code),
            pid=_count(values.get("pid")),
            command=_text(values.get("procName")),
        )
    if _text(exception.get("type")) == "EXC_BAD_ACCESS" and told:
        address = number(told["address"])
        canonical = code != "EXC_I386_GPFLT"
        yield Fault(
            span=span,
            address=address if canonical else None,
            present=True if code == "KERN_PROTECTION_FAILURE" else None,
            canonical=canonical,
        )


def _ended(termination: dict[str, Any], span: Span) -> Iterator[Fact]:
    space = _text(termination.get("namespace"))
    reasons = " ".join(t for t in _list(termination.get("reasons")) if isinstance(t, str))[:4000]
    if space == "DYLD" and (missing := NOT_LOADED.search(reasons)):
        by = REFERENCED.search(reasons)
        yield LoadFailure(
            span=span, kind="file", missing=missing["library"], needed_by=by["by"] if by else None
        )
    elif space == "JETSAM":
        yield MemoryKill(span=span, by="kernel")
    elif space and space != "SIGNAL":
        says = _text(termination.get("indicator")) or space
        yield Notice(span=span, topic=f"macos-termination-{space.lower()[:30]}", text=says)


def _platform(values: dict[str, Any], spans: dict[str, Span]) -> Iterator[Fact]:
    if machine := _text(values.get("cpuType")):
        yield Platform(span=spans["cpuType"], system="macos", machine=MACHINES.get(machine))
    if values.get("translated") is True:
        yield Platform(span=spans["translated"], system="macos", detail="translated")


def _stacks(values: dict[str, Any], spans: dict[str, Span]) -> Iterator[Fact]:
    images = [_dict(image) for image in _list(values.get("usedImages"))]
    for n, thread in enumerate(_list(values.get("threads"))[:MOST_THREADS]):
        frames = tuple(
            _frame(_dict(frame), images)
            for frame in _list(_dict(thread).get("frames"))[:MOST_FRAMES]
        )
        if not frames:
            continue
        yield Stack(
            span=spans["threads"],
            thread=str(n),
            crashed=_dict(thread).get("triggered") is True or values.get("faultingThread") == n,
            frames=frames,
        )


def _frame(frame: dict[str, Any], images: list[dict[str, Any]]) -> Frame:
    index = _count(frame.get("imageIndex"))
    image = images[index] if index is not None and index < len(images) else {}
    symbol = _text(frame.get("symbol"))
    return Frame(
        function=demangled(symbol) if symbol else None,
        library=_text(image.get("path")) or _text(image.get("name")),
        offset=None if symbol else _count(frame.get("imageOffset")),
        file=_text(frame.get("sourceFile")),
        line=_count(frame.get("sourceLine")),
    )
