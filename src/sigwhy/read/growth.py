"""Signs that memory grew before the end: a row of readings, a warning, a list that keeps tensors.

Looks like::

    step 100 rss=1204 MB
    step 200 rss=1911 MB
    step 300 rss=2620 MB
    step 400 rss=3330 MB
    WARNING:tensorflow:6 out of the last 6 calls to <function f at 0x7f> triggered tf.function retracing.
    distributed.worker - WARNING - Unmanaged memory use is high. This may indicate a memory leak
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from sigwhy.machine.sizes import bytes_of
from sigwhy.model.fact import Notice, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

READING = re.compile(
    r"(?i:\b(?:rss|ram|mem(?:ory)?|maxrss|vmrss|ru_maxrss|used)\b(?: ?(?:usage|used|use|size))?)[\"']?\s{0,3}[:=]?\s{0,3}"
    r"(?P<size>\d[\d,]{0,15}(?:\.\d{1,6})?) ?(?P<unit>[kKMGT]?i?[Bb]|[KMGT]|%)(?![\w/])"
)
WORDS: Final = tuple(
    (topic, re.compile(words))
    for topic, words in (
        ("retracing", r"out of the last \d{1,6} calls to <?[^\n]{1,400}? triggered tf\.function retracing"),
        ("memory-grows", r"(?:内存|显存|RAM)[^\n]{0,12}(?:不断|一直|持续|逐渐|越来越)[^\n]{0,8}(?:增|涨|上升|高|多|大)|メモリ[^\n]{0,12}(?:増え続|増加し続)|메모리[^\n]{0,12}계속 (?:증가|늘)"),
        ("memory-grows", r"may indicate a memory leak|(?:possible|potential) memory leak\b"),
        ("memory-grows", r"(?i:(?:memory|ram|rss)(?: usage| consumption| footprint)?(?: \w{1,12}){0,2} (?:keeps?|kept|auto|continues? to|continually|constantly|steadily|slowly|gradually) (?:on )?(?:grow|increas|ris|climb|go))"),
        ("memory-grows", r"(?i:(?:memory|ram|rss)(?: usage| consumption| footprint)?[^\n]{0,30} (?:grows?|increases?|rises?|grew|increased) (?:with|after|at|on|in|per|by)[^\n]{0,20} (?:each|every|per|step|epoch|iteration|batch))"),
        ("memory-grows", r"(?i:\bmemory leaks?\b[^\n]{0,40} (?:in|when|with|during|while)\b)"),
        ("keeps-tensors", r"^[\s>|.\d]{0,20}(?:\w{1,40}\.)?\w{1,40}(?:\.append\(| ?\+= ?)(?:loss|outputs?|logits|preds?|predictions?|detections?|features?|model\([^\n]{0,80}\)|sess\.run\([^\n]{0,80}\))\)?\s{0,8}$"),
    )
)  # fmt: skip
ENOUGH_READINGS = 4
MUCH = 1.5
HUNDRED_MB = 100 * 1024 * 1024
MARKERS = (
    "rss", "RSS", "em", "RAM", "ram", "MEM", "used", "Used", "retracing", "leak", "append(", "+=", "内存", "显存", "メモリ", "메모리",
)  # fmt: skip


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield each sign of growth; of readings the first row of four that only rises."""
    rows: list[tuple[int, float]] = []
    unit, told = "", False
    for n, line in enumerate(evidence.lines):
        for topic, way in WORDS:
            if found := way.search(line):
                span = Span(evidence=evidence.name, first=n, last=n, words=found[0].strip())
                yield Notice(span=span, topic=topic, text=span.words)
                break
        if told or not (found := READING.search(line)):
            continue
        size = _amount(found)
        if rows and (found["unit"] != unit or size < rows[-1][1]):
            rows = []
        unit = found["unit"]
        rows.append((n, size))
        if _grew(rows, in_percent=unit == "%"):
            told = True
            span = Span(evidence=evidence.name, first=rows[0][0], last=n)
            text = f"{len(rows)} readings of memory, each above the one before it"
            yield Notice(span=span, topic="memory-grows", text=text)


def _amount(found: re.Match[str]) -> float:
    number = found["size"].replace(",", "")
    if found["unit"] == "%":
        return float(number)
    return float(bytes_of(f"{number} {found['unit']}") or 0)


def _grew(rows: list[tuple[int, float]], *, in_percent: bool) -> bool:
    """Whether these readings rose far enough, and from the first to the last."""
    if len(rows) < ENOUGH_READINGS:
        return False
    sizes = [size for _, size in rows]
    rises = all(b > a for a, b in pairwise(sizes))
    return rises and sizes[-1] >= MUCH * sizes[0] and (in_percent or sizes[-1] >= HUNDRED_MB)
