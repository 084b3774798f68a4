"""CPUs by what they can do, in the words of ``/proc/cpuinfo``."""

from __future__ import annotations

import re
from difflib import get_close_matches

from sigwhy.model.error import UsageError

FLAGS = re.compile(r"^(?:flags|Features)\s*:(.*)$", re.MULTILINE)
V1 = "fpu cmov cx8 fxsr mmx sse sse2"
V2 = f"{V1} cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3"
V3 = f"{V2} avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"
V4 = f"{V3} avx512f avx512bw avx512cd avx512dq avx512vl"
WESTMERE = f"{V2} aes pclmulqdq"
SANDY = f"{WESTMERE} avx xsave"
HASWELL = f"{V3} aes pclmulqdq rdrand"
SKYLAKE = f"{HASWELL} adx rdseed"
CASCADE = f"{V4} aes pclmulqdq rdrand adx rdseed avx512_vnni"
ICELAKE = f"{CASCADE} avx512ifma avx512vbmi avx512_vbmi2 avx512_bitalg avx512_vpopcntdq gfni vaes vpclmulqdq sha_ni rdpid"
ZEN = f"{HASWELL} adx rdseed sha_ni sse4a"
CPUS = {
    "x86-64": V1, "x86-64-v2": V2, "x86-64-v3": V3, "x86-64-v4": V4,
    "nehalem": V2, "westmere": WESTMERE, "sandybridge": SANDY, "ivybridge": f"{SANDY} f16c rdrand",
    "haswell": HASWELL, "broadwell": SKYLAKE, "skylake": SKYLAKE,
    "skylake-avx512": f"{V4} aes pclmulqdq rdrand adx rdseed", "cascadelake": CASCADE,
    "icelake-server": ICELAKE,
    "sapphirerapids": f"{ICELAKE} avx512_bf16 avx512_fp16 avx_vnni amx_tile amx_int8 amx_bf16",
    "alderlake": f"{SKYLAKE} sha_ni gfni vaes vpclmulqdq avx_vnni rdpid",
    "znver1": ZEN, "znver2": f"{ZEN} rdpid", "znver3": f"{ZEN} rdpid vaes vpclmulqdq",
    "znver4": f"{ICELAKE} avx512_bf16 sse4a", "znver5": f"{ICELAKE} avx512_bf16 avx_vnni sse4a",
}  # fmt: skip
# The levels that a linker writes into a file, by their bits.
LEVELS = {1: "x86-64", 2: "x86-64-v2", 4: "x86-64-v3", 8: "x86-64-v4"}
# How the decoder calls what the kernel calls otherwise; both spell the others alike.
OTHERWISE = {"SSE3": "pni", "SHA": "sha_ni", "CMPXCHG16B": "cx16"}
# What a program can ask for before it uses it, and dies of where it does not ask. LZCNT and TZCNT are
# not among them: a CPU without them runs BSR and BSF in their place, and does not stop.
WATCHED = frozenset(flag for words in CPUS.values() for flag in words.split()) - {
    "fpu", "cmov", "cx8", "fxsr", "mmx", "sse", "sse2", "lahf_lm", "abm", "xsave", "rdpid",
}  # fmt: skip


def features(words: str) -> frozenset[str]:
    """What a CPU has: ``x86-64-v3``, ``haswell``, ``skylake+avx512_fp16``. Raises ``UsageError``."""
    name, *more = words.strip().lower().split("+")
    if name not in CPUS:
        near = get_close_matches(name, CPUS, n=3)
        hint = f"did you mean {' or '.join(near)}" if near else f"there are {', '.join(CPUS)}"
        raise UsageError(f"no CPU is called {words[:40]!r}; {hint}")
    if unknown := [one for one in more if one not in WATCHED]:
        raise UsageError(f"{unknown[0][:40]!r} is no flag of /proc/cpuinfo that sigwhy knows")
    return frozenset([*CPUS[name].split(), *more])


def of_cpuinfo(text: str) -> frozenset[str]:
    """What the first CPU of ``/proc/cpuinfo`` has; nothing where it is not told."""
    told = FLAGS.search(text)
    return frozenset(told[1].split()) if told else frozenset()
