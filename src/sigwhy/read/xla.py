"""What XLA, its LLVM back end and its GPU tools say when they cannot go on.

Looks like::

    LLVM ERROR: Cannot select: intrinsic %llvm.x86.avx512.mask
    Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice. This may result in compilation or runtime failures
    ptxas returned an error during compilation of ptx to sass: 'INTERNAL: ptxas exited with non-zero error code 65280'
    Detected unsupported operations when trying to compile graph __inference_f_92[] on XLA_CPU_JIT: Where
    UNIMPLEMENTED: Registers are spilled to local memory in function 'fusion_1'
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Fact, Notice, Op, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence

MARKERS = (
    "compile-time constant", "compile graph", "Slow compile", "slow", "egalize operation", "PTX compilation", "Verifier failed", "Bitcast",
    "LLVM ERROR", "libdevice", "ptxas", "XLA", "xla", "HLO", "Hlo", "MLIR", "LLVM", "mlir", "fusion",
    "nvlink",
)  # fmt: skip
# The sentence, its topic, what it speaks of, and the mechanism that it proves.
ROWS = (
    (re.compile(r"LLVM ERROR: out of memory"), "llvm-out-of-memory", "LLVM", "out-of-memory"),
    (re.compile(r"LLVM ERROR: (?:Cannot (?:select|encode|emit)|Do not know how to|Invalid (?:encoding|bitcode|record)|Broken (?:function|module)|unsupported|[Uu]nable to (?:legalize|allocate reg)|ran out of registers).{0,200}"), "llvm-cannot-compile", "LLVM", "check-failed"),
    (re.compile(r"LLVM ERROR: Failed to translate (?:Triton|MLIR)\w{0,10} .{0,100}"), "llvm-cannot-compile", "Triton", "check-failed"),
    (re.compile(r"LLVM ERROR: (?P<about>.{3,200})"), "llvm-gave-up", "LLVM", "check-failed"),
    (re.compile(r"Can't find libdevice directory|libdevice not found at"), "libdevice-missing", "libdevice.10.bc", None),
    (re.compile(r"(?:Couldn't (?:invoke|get|find|run)|Can't find|Could not find) ptxas|ptxas(?:: command)? not found|No PTX compilation provider"), "ptxas-missing", "ptxas", None),
    (re.compile(r"ptxas (?:returned an error|exited with non-zero error code|died due to signal)"), "ptxas-failed", "ptxas", None),
    (re.compile(r"Detected unsupported operations when trying to compile graph"), "xla-unsupported", "XLA", None),
    (re.compile(r"Input 0 to node .{1,300} must be a compile-time constant|must be a compile-time constant"), "xla-needs-constant", "XLA", None),
    (re.compile(r"Slow compile\?|is (?:very )?slow(?:\. |,)? ?(?:Very )?[Cc]ompil"), "slow-compile", "XLA", None),
    (re.compile(r"MLIR diagnostics|LLVM and MLIR|error: failed to legalize operation '(?P<about>[\w.]+)'"), "mlir-failed", "MLIR", None),
    (re.compile(r"Verifier failed|HLO verifier|Bitcast cannot have different shape|HloInstruction type .{0,40} not recognized"), "hlo-invalid", "XLA", None),
)  # fmt: skip
UNSUPPORTED = re.compile(
    r"(?:XLA_\w{3,12}|compile graph \S{1,200} on \S{1,60}): (?P<op>[A-Z]\w{1,60})(?: \(|,|\s|$)"
)


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the sentences that are known, and the operation XLA could not compile."""
    for n, line in enumerate(evidence.lines):
        for pattern, topic, subject, mechanism in ROWS:
            if found := pattern.search(line):
                words = found[0].strip()
                span = Span(evidence=evidence.name, first=n, last=n, words=words)
                yield Notice(
                    span=span, topic=topic, text=words, subject=subject, mechanism=mechanism
                )
                if topic == "xla-unsupported" and (named := UNSUPPORTED.search(line)):
                    yield Op(span=span, framework="xla", op=named["op"])
                break
