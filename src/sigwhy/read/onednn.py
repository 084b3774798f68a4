"""What oneDNN (once MKL-DNN) says: its verbose lines, and the errors of its primitives.

Looks like::

    onednn_verbose,v1,info,oneDNN v3.4.0 (commit 0123abc)
    dnnl_verbose,exec,cpu,convolution,jit:avx512_common,forward_training,src_f32::blocked:abcd:f0,,,mb1_ic3oc8,0.9
    mkldnn_verbose,exec,reorder,jit:uni,undef,in:f32_nchw out:f32_nChw8c,num:1,1x8x4x4,0.01
    RuntimeError: could not create a primitive descriptor for a matmul primitive
    Operation received an exception:Status: 3, message: could not create a primitive

A line of ``exec`` is written when the primitive has ended: the last one still went well.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Fact, Notice, Op, Span, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence

MARKERS = (
    "mkldnn::error",
    "dnn_verbose,",
    "dnnl_verbose,",
    "could not ",
    "received an exception",
    "dnnl::error",
    "Xbyak::Error",
)
VERBOSE = re.compile(r"\b(?:mkldnn|dnnl|onednn)_verbose,(?P<fields>[^\s].*)")
VERSION = re.compile(
    r"(?:oneDNN|DNNL|Intel\(R\) MKL-DNN|Intel MKL-DNN) v?(?P<version>\d[\w.]{0,20})"
)
STEPS = ("exec", "create", "create:cache_miss", "create:cache_hit", "create:check")
ENGINES = ("cpu", "gpu", "cpu0", "gpu0")
KIND = re.compile(r"^[a-z][a-z_0-9]{2,40}$")
ROWS = (
    (re.compile(r"Operation received an exception: ?Status: \d+, message: [^,]{0,120}"), "onednn-exception"),
    (re.compile(r"\bdnnl::error\b|\bmkldnn::error\b|\bXbyak::Error\b"), "onednn-exception"),
    (re.compile(r"could not (?:create|initialize|execute|set|construct)(?: an?)? (?:\w+ ){0,4}?(?:primitive|(?<!memory )descriptor)[\w ]{0,60}"), "onednn-failed"),
    (re.compile(r"could not (?:create|initialize|construct)(?: an?)? (?:\w+ ){0,4}?memory[\w ]{0,60}"), "onednn-memory"),
)  # fmt: skip


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the version, the last primitive that ran, and the errors."""
    last = None
    for n, line in enumerate(evidence.lines):
        if found := VERBOSE.search(line):
            if version := VERSION.search(found["fields"]):
                span = Span(evidence=evidence.name, first=n, last=n, words=version[0])
                yield Version(span=span, package="oneDNN", version=version["version"])
            last = _primitive(evidence, n, found) or last
        else:
            yield from _errors(evidence, n, line)
    if last:
        yield last


def _primitive(evidence: Evidence, n: int, found: re.Match[str]) -> Op | None:
    """``[v1,][primitive,]exec,[cpu,]convolution,jit:avx512,…``."""
    fields = [f for f in found["fields"].split(",")[:8] if f not in {"v0", "v1", "primitive"}]
    if len(fields) < 2 or fields[0] not in STEPS:
        return None
    rest = fields[2:] if fields[1] in ENGINES else fields[1:]
    if not rest or not KIND.match(rest[0]):
        return None
    span = Span(evidence=evidence.name, first=n, last=n, words=found[0].strip())
    kernel = rest[1] if len(rest) > 1 else None
    return Op(span=span, framework="onednn", op=rest[0], kernel=kernel)


def _errors(evidence: Evidence, n: int, line: str) -> Iterator[Notice]:
    for pattern, topic in ROWS:
        if found := pattern.search(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0].strip())
            yield Notice(span=span, topic=topic, text=found[0].strip(), subject="oneDNN")
            return
