"""What an x86 instruction does, from its bytes: reads, writes, jumps, divides, traps, needs AVX2.

    c5 fc 10 07   ->  vmovups ymm0,[rdi]   reads through rdi, needs AVX

iced-x86 decodes. capstone knows x86 too, but calls 4 to 7 in 100 stores of TensorFlow and NumPy
reads, and a diagnosis cannot be built on that. Without iced-x86 no instruction is named.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from sigwhy.model.fact import Instruction

if TYPE_CHECKING:
    from types import ModuleType

    from sigwhy.model.fact import Access, Span

LONGEST = 15
# What a debugger's line shows of it, in the words of AT&T and Intel; the first match wins.
WRITTEN = tuple(
    (re.compile(pattern), feature)
    for pattern, feature in (
        (r"^(?:tile|tdp|ldtilecfg)", "AMX_TILE"),
        (r"^v.*(?:zmm\d|%k[0-7]|\{%?k[1-7]\}|[xy]mm(?:1[6-9]|2\d|3[01])\b)|^k(?:mov|or|and|x|not|unpck|shift|test|add)", "AVX512F"),
        (r"^vf(?:n?madd|n?msub|maddsub|msubadd)", "FMA"),
        (r"^vcvtp[hs]2p[hs]", "F16C"),
        (r"^v(?:pbroadcast|pgather|gather|perm[dq]|permp[sd]|p(?:sllv|srlv|srav)|pblendd|inserti128|extracti128|perm2i128|broadcasti)|^vp.*ymm", "AVX2"),
        (r"^v(?!err|erw|mcall|mlaunch|mresume|mread|mwrite|mxo|mptr|mclear|mrun|mload|msave)\w", "AVX"),
        (r"^(?:mulx|pdep|pext|rorx|sarx|shlx|shrx|bzhi)", "BMI2"),
        (r"^(?:andn(?!p)|bextr|blsi|blsr|blsmsk|tzcnt)", "BMI1"),
        (r"^lzcnt", "LZCNT"),
        (r"^popcnt", "POPCNT"),
        (r"^movbe", "MOVBE"),
        (r"^(?:adcx|adox)", "ADX"),
        (r"^aes", "AES"),
        (r"^pclmul", "PCLMULQDQ"),
        (r"^sha(?:1|256)", "SHA"),
        (r"^(?:pcmpgtq|crc32|pcmp[ei]str)", "SSE4.2"),
        (r"^(?:pinsr[bdq]|pextr[bdq]|pmulld|ptest|round[ps]|p(?:min|max)(?:sb|u[wd]|sd)|pmov[sz]x|blend|dpp|insertps|extractps|packusdw|pcmpeqq|mpsadbw|phminpos|movntdqa)", "SSE4.1"),
        (r"^(?:pshufb|pmaddubsw|palignr|pabs|psign|phadd|phsub|pmulhrsw)", "SSSE3"),
        (r"^(?:haddp|hsubp|addsubp|lddqu|movs[hl]dup|movddup)", "SSE3"),
        (r"^rdrand", "RDRAND"),
        (r"^rdseed", "RDSEED"),
        (r"^(?:ldadd|cas[ab]?l?\b|swp|ldclr|ldset|ldeor)", "LSE"),
        (r"^[su]dot\b", "dotprod"),
    )
)  # fmt: skip
LOWEST_HALF = 1 << 32

# What every x86-64 CPU has: to need this is to need nothing.
EVERYWHERE = frozenset(
    {
        "INTEL8086",
        "INTEL8086_ONLY",
        "INTEL186",
        "INTEL286",
        "INTEL386",
        "INTEL486",
        "X64",
        "FPU",
        "FPU287",
        "FPU387",
        "CMOV",
        "CX8",
        "CPUID",
        "MMX",
        "FXSR",
        "SSE",
        "SSE2",
        "SEP",
        "SYSCALL",
        "TSC",
        "MSR",
        "MULTIBYTENOP",
        "PAUSE",
        "CLFSH",
        "CET_IBT",
        "CET_SS",
        "MPX",
        "RDPMC",
        "SMM",
        "FPU287XL_ONLY",
        "FPU387SL_ONLY",
    }
)
AS_PEOPLE_SAY = {"SSE4_1": "SSE4.1", "SSE4_2": "SSE4.2", "D3NOW": "3DNow!", "D3NOWEXT": "3DNow!"}
RAREST_FIRST = ("AMX", "AVX512_", "AVX512", "AVX")

NO_REGISTER = frozenset({"NONE", "RIP", "EIP"})
TRAPS = frozenset({"UD0", "UD1", "UD2", "INT3", "INT1", "INT", "HLT"})
DIVIDES = frozenset({"DIV", "IDIV"})
UNALIGNED_ANYWAY = frozenset(
    {
        "MOVUPS",
        "MOVUPD",
        "MOVDQU",
        "LDDQU",
        "MASKMOVDQU",
        "PCMPESTRI",
        "PCMPESTRM",
        "PCMPISTRI",
        "PCMPISTRM",
    }
)
ALIGNED_IN_ANY_FORM = frozenset(
    {
        "VMOVAPS",
        "VMOVAPD",
        "VMOVDQA",
        "VMOVDQA32",
        "VMOVDQA64",
        "VMOVNTPS",
        "VMOVNTPD",
        "VMOVNTDQ",
        "VMOVNTDQA",
        "CMPXCHG16B",
        "FXSAVE",
        "FXSAVE64",
        "FXRSTOR",
        "FXRSTOR64",
        "MOVNTPS",
        "MOVNTPD",
        "MOVNTDQ",
    }
)


def instruction(
    code: bytes, *, span: Span, address: int = 0, stack: int = LOWEST_HALF
) -> Instruction | None:
    """The instruction at the start of ``code``; None where there is none or nobody can decode.

    ``stack`` is the stack pointer: below 4 GiB it was a 32-bit program.
    """
    iced = _iced()
    if iced is None or not code:
        return None
    bits = 32 if max(stack, address) < LOWEST_HALF else 64
    decoded = iced.Decoder(bits, code[:LONGEST], ip=address & (2**64 - 1)).decode()
    if decoded.is_invalid:
        return None
    name = _names("Mnemonic")[decoded.mnemonic]
    access, through = _access(iced, decoded)
    return Instruction(
        span=span,
        text=iced.Formatter(iced.FormatterSyntax.INTEL).format(decoded),
        access=access,
        through=through,
        feature=_feature(decoded),
        traps=name in TRAPS,
        divides=name in DIVIDES,
        aligned=_alignment(iced, decoded, name),
        code=code,
    )


def feature_written(text: str) -> str | None:
    """The feature that an instruction as debuggers write it needs: ``vfmadd213ss %xmm1,...``."""
    return next((feature for pattern, feature in WRITTEN if pattern.search(text)), None)


@cache
def _iced() -> ModuleType | None:
    try:
        import iced_x86
    except ImportError:
        return None
    return iced_x86


@cache
def _names(enum: str) -> dict[int, str]:
    values = vars(getattr(_iced(), enum))
    return {v: n for n, v in values.items() if isinstance(v, int) and not n.startswith("__")}


def _access(iced: Any, decoded: Any) -> tuple[Access, str | None]:
    """What it does to memory, and through which register; a jump through one is an execution."""
    register = _names("Register")
    used = iced.InstructionInfoFactory().info(decoded).used_memory()
    named = _names_memory(iced, decoded)
    if decoded.flow_control == iced.FlowControl.RETURN:
        return "execute", "rsp"
    if decoded.flow_control in _jumps(iced) and not named:
        return "execute", register[decoded.op0_register].lower()
    if not used or len({m.base for m in used if not named}) > 1:  # movs reads here, writes there
        return "unknown", None
    # A call or push through memory touches the stack too: what it names comes first.
    first = next((m for m in used if named and m.base == decoded.memory_base), used[0])
    base = register.get(first.base or first.index, "RIP")
    return _kind(iced.OpAccess, first.access), None if base in NO_REGISTER else base.lower()


def _names_memory(iced: Any, decoded: Any) -> bool:
    kinds = (decoded.op_kind(n) for n in range(decoded.op_count))
    return any(kind == iced.OpKind.MEMORY for kind in kinds)


def _jumps(iced: Any) -> set[int]:
    return {iced.FlowControl.INDIRECT_BRANCH, iced.FlowControl.INDIRECT_CALL}


def _kind(kinds: Any, access: int) -> Access:
    if access in {kinds.WRITE, kinds.COND_WRITE, kinds.READ_WRITE, kinds.READ_COND_WRITE}:
        return "write"
    return "unknown" if access in {kinds.NONE, kinds.NO_MEM_ACCESS} else "read"


def _feature(decoded: Any) -> str | None:
    """The CPU feature that it needs beyond those of every x86-64 CPU."""
    names = [_names("CpuidFeature")[f] for f in decoded.cpuid_features()]
    wanted = sorted((n for n in names if n not in EVERYWHERE), key=_commonness)
    return AS_PEOPLE_SAY.get(wanted[0], wanted[0]) if wanted else None


def _commonness(feature: str) -> tuple[int, bool]:
    """The missing one of several features is the one that the fewest CPUs have."""
    families = (n for n, start in enumerate(RAREST_FIRST) if feature.startswith(start))
    return next(families, len(RAREST_FIRST)), feature == "AVX512VL"


def _alignment(iced: Any, decoded: Any, name: str) -> int | None:
    """The alignment in bytes which it demands of its memory operand, if it has one."""
    size = iced.MemorySizeInfo(decoded.memory_size).size if _names_memory(iced, decoded) else 0
    if name in ALIGNED_IN_ANY_FORM:
        return size if 16 <= size <= 64 else 16 if size else None
    old = decoded.encoding == iced.EncodingKind.LEGACY
    if not (old and size == 16) or name in UNALIGNED_ANYWAY:
        return None
    families = {_names("CpuidFeature")[f] for f in decoded.cpuid_features()}
    vectors = any(f.startswith(("SSE", "SSSE", "AES", "PCLMUL", "SHA", "GFNI")) for f in families)
    return 16 if vectors else None
