"""What DUCC, the Fourier transforms of TensorFlow, JAX and SciPy, says before it gives up.

Looks like::

    DUCC FFT c2r failed:
    external/ducc/src/ducc0/fft/fft1d_impl.h: 2948 (static Trpass<Tfs> ducc0::detail_fft::rfftpass<float>::make_pass(size_t)):

    Assertion failure
    no zero-sized FFTs
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Check, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

MARKERS = ("DUCC FFT", "ducc0", "ducc/src", "zero-sized FFT")
FAILED = re.compile(r"DUCC FFT (?P<kind>[cr]2[cr]|\w{1,20}) failed")
PLACE = re.compile(
    r"(?P<file>[\w./\\-]*ducc[\w./\\-]*\.(?:h|cc|cpp)): ?(?P<line>\d{1,6}) \((?P<function>.*)\):?"
)
ASSERTION = "Assertion failure"
# What DUCC asserts, where only the last lines were kept.
KNOWN = re.compile(
    r"^\s*(?P<text>no zero-sized FFTs|unsupported multi-D shape|transform axes? .{0,60}|axis out of range|bad (?:stride|axis)\b.{0,60})\s*$"
)


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the check that failed, with the condition in words and the place."""
    place, asserted = None, False
    for n, line in enumerate(evidence.lines):
        if FAILED.search(line):
            place, asserted = None, False
        elif found := PLACE.search(line):
            place = found
        elif line.strip() == ASSERTION:
            asserted = True
        elif line.strip() and (asserted or KNOWN.match(line)):
            yield _check(evidence, n, place)
            place, asserted = None, False


def _check(evidence: Evidence, n: int, place: re.Match[str] | None) -> Check:
    text = evidence.lines[n].strip()
    return Check(
        span=Span(evidence=evidence.name, first=n, last=n, words=text),
        framework="ducc",
        expression=text,
        file=place["file"] if place else None,
        line=int(place["line"]) if place else None,
        function=place["function"] if place else None,
    )
