"""What an arm64 instruction does, from its four bytes: reads, writes, traps, needs SVE.

    b9000020  ->  str w0, [x1]   writes through x1

capstone decodes, where it is installed; without it no instruction is named.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from sigwhy.model.fact import Instruction

if TYPE_CHECKING:
    from sigwhy.model.fact import Access, Span

WIDTH = 4
THROUGH = re.compile(r"\[(\w+)")
TRAPS = frozenset({"brk", "udf", "hlt", "hvc", "smc"})
JUMPS = frozenset({"br", "blr", "ret", "braa", "blraa", "retaa", "braaz", "blraaz"})
READS = re.compile(r"^(?:ld|prf)")
WRITES = re.compile(r"^(?:st|cas|swp|ldadd|ldclr|ldset|ldeor|ld[su]max|ld[su]min)")
EXCLUSIVES = frozenset(
    {
        "ldxr",
        "ldaxr",
        "stxr",
        "stlxr",
        "ldar",
        "stlr",
        "ldxp",
        "ldaxp",
        "stxp",
        "stlxp",
        "cas",
        "casa",
        "casal",
        "casl",
        "casp",
    }
)
# The extensions that builds take for granted and many boards lack; first match wins.
FEATURES = (
    (re.compile(r"^(?:cas|swp|ldadd|ldclr|ldset|ldeor|ld[su]max|ld[su]min|stadd|stset)"), "LSE"),
    (re.compile(r"^(?:sdot|udot)"), "dotprod"),
    (re.compile(r"^(?:smmla|ummla|usmmla|usdot|sudot)"), "i8mm"),
    (re.compile(r"^bf(?:dot|mmla|mlal|cvt)"), "bf16"),
    (re.compile(r"^(?:aes|sha|pmull)"), "crypto"),
    (re.compile(r"^crc32"), "crc32"),
    (re.compile(r"^(?:ldapr|ldapur|stlur)"), "RCPC"),
    (re.compile(r"^(?:fjcvtzs)"), "JSCVT"),
)
SCALABLE = re.compile(r"\b[zp]\d{1,2}(?:\.[bhsdq]|/[mz])|^(?:ptrue|whilelo|cnt[bhwd]|rdvl|addvl)\b")
HALF_PRECISION = re.compile(r"^f\w+ .*\b(?:h\d|v\d+\.[48]h)")


def instruction(code: bytes, *, span: Span, address: int = 0) -> Instruction | None:
    """The instruction in the first four bytes, little end first; None where it cannot be told."""
    engine = _engine()
    if engine is None or len(code) < WIDTH:
        return None
    decoded = next(engine.disasm_lite(code[:WIDTH], address & (2**64 - 1)), None)
    if decoded is None:
        return None
    _, _, name, operands = decoded
    text = f"{name} {operands}".strip()
    through = THROUGH.search(operands)
    return Instruction(
        span=span,
        text=text,
        access=_access(name),
        through=through[1] if through else operands or None if name in JUMPS else None,
        feature=_feature(text),
        traps=name in TRAPS,
        aligned=WIDTH if name in EXCLUSIVES else None,
        code=code,
    )


@cache
def _engine() -> Any:
    try:
        import capstone
    except ImportError:
        return None
    return capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)


def _access(name: str) -> Access:
    if name in JUMPS:
        return "execute"
    if WRITES.match(name):
        return "write"
    return "read" if READS.match(name) else "unknown"


def _feature(text: str) -> str | None:
    if SCALABLE.search(text):
        return "SVE"
    if HALF_PRECISION.search(text):
        return "fp16"
    return next((feature for pattern, feature in FEATURES if pattern.search(text)), None)
