"""Sentences in which a program says that this CPU, or this kind of machine, is not the one it needs.

Looks like::

    F tensorflow/core/platform/cpu_feature_guard.cc:37] The TensorFlow library was compiled to use AVX2 instructions, but these aren't available on your machine.
    RuntimeError: NumPy was built with baseline optimizations: (X86_V2) but your machine doesn't support: (X86_V2).
    Fatal glibc error: CPU does not support x86-64-v3
    qemu: uncaught target signal 4 (Illegal instruction) - core dumped
    bash: ./train: cannot execute binary file: Exec format error
    <jemalloc>: Unsupported system page size

The banner "optimized to use available CPU instructions", also its old form "Your CPU supports
instructions that this TensorFlow binary was not compiled to use", says that all is well.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Death, LoadFailure, Notice, Platform, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

CHECKED, REFUSED = "check-failed", "load-failure"
LACKS, WARNED, OLD = "cpu-lacks", "cpu-lacks-warning", "cpu-is-old"
FAILED = "emulator-failed"
EMULATED, PAGES, MACHINE, VSYSCALL = "emulated-cpu", "page-size", "other-machine", "vsyscall-off"

# (words that must be there, pattern with <what> it lacks and <who> says so, topic, mechanism)
SENTENCES = tuple(
    (hint, re.compile(pattern), topic, mechanism)
    for hint, pattern, topic, mechanism in (
        ("was compiled to use", r"The (?P<who>\w+) library was compiled to use (?P<what>[\w.,/ -]{2,60}?) (?:SIMD )?instructions, but these (?:aren't|are not) available", LACKS, CHECKED),
        ("was built using", r"This version of (?P<who>jaxlib) was built using (?P<what>[\w.]{2,20}) instructions, which your CPU", LACKS, CHECKED),
        ("baseline optimizations", r"(?P<who>NumPy) was built with baseline optimizations:(?: ?\\n)?(?: ?\((?P<what>[\w. ]{2,200})\))?", LACKS, CHECKED),
        ("does not support x86-64", r"Fatal (?P<who>glibc) error: CPU does not support (?P<what>x86-64-v\d)", LACKS, REFUSED),
        ("Fatal glibc error", r"Fatal (?P<who>glibc) error: (?:This version of Amazon Linux|CPU|.{1,60}) (?:requires|does not support) (?P<what>[\w .-]{2,40})", LACKS, REFUSED),
        ("ISA level is lower", r"(?:(?P<who>[^\s:]{1,300}): )?CPU ISA level is lower than required(?P<what>)", LACKS, REFUSED),
        ("Please verify that both", r"Please verify that both the operating system and the processor support (?P<who>Intel)\(R\) (?P<what>[^.\r\n]{2,300}?)(?: instructions)?\.", LACKS, CHECKED),
        ("operating system and the processor support", r"verify that both the operating system and the processor support (?P<who>Intel)\(R\) (?P<what>[^.\r\n]{2,300}?)(?: instructions)?(?:\.|$)", LACKS, CHECKED),
        ("minimum requirements for use of", r"does not meet the minimum requirements for use of (?P<who>the Intel\(R\) (?:oneAPI )?(?:Math Kernel Library|MKL)[^.\r\n]{0,60})(?P<what>)", LACKS, CHECKED),
        ("processor must support", r"The processor must support (?:the )?(?P<who>Intel)\(R\) (?P<what>[^.\r\n]{2,160}?) instructions", LACKS, CHECKED),
        ("This program was not built to run", r"Fatal Error: This program was not built to run (?:in your system|on the processor)(?P<who>)(?P<what>)", LACKS, CHECKED),
        ("required by the image", r"does not support all of the following CPU features that are required by the (?P<who>image): \[(?P<what>[\w, .]{2,300})\]", LACKS, CHECKED),
        ("required by the image", r"does not support all of the following CPU features that are required by the (?P<who>image): \[(?P<what>[\w, .]{2,300})\]", LACKS, CHECKED),
        ("Instruction check fail", r"Instruction check fail\. The CPU does not support (?P<what>[\w.]{2,20}) instruction set(?P<who>)", LACKS, CHECKED),
        ("AVX", r"(?P<who>[\w+ .]{2,40}?) (?:requires?|needs) (?:a CPU with |a processor with |the |an? )?(?P<what>AVX[\w-]{0,12})(?: instruction(?: set)?s?)?(?: support)?,? (?:and|but|which|that) (?:your|this|the)(?: current)? (?:CPU|system|machine|processor|host)", LACKS, None),
        ("Must have AVX", r"Must have (?P<what>AVX\w{0,6}) instructions(?: to use (?P<who>\w{2,30}))?", LACKS, CHECKED),
        ("fbgemm", r"(?i)(?P<who>fbgemm)[^\r\n]{0,60}(?:requires|only supports?|without) (?P<what>AVX\w{0,6})", LACKS, CHECKED),
        ("CPU", r"(?i)\b(?:your|this|the) (?:CPU|processor|machine)(?: and/or operating system)? (?:does not|doesn't|do not|dose not|lacks) (?:have |provide )?support(?: for)?(?: the)? (?P<what>(?:AVX|SSE|SSSE|FMA|BMI|F16C|POPCNT|x86-64-v|NEON|SVE|LSE|asimd|dotprod)[\w.-]{0,20})\b(?P<who>)(?![^\r\n]{0,80}fall)", WARNED, None),
        ("CPU", r"(?i)\bCPU (?:does not|doesn't) support (?:the )?(?P<what>(?:AVX|SSE|SSSE|FMA|BMI|F16C|POPCNT|x86-64-v|NEON|SVE|LSE|asimd|dotprod)[\w.-]{0,20})\b(?P<who>)(?![^\r\n]{0,80}fall)", WARNED, None),
        ("lacks AVX", r"(?:CPU|processor|machine) lacks (?P<what>AVX\w{0,6}) support(?P<who>)", WARNED, None),
        ("features were not detected", r"The following (?:required )?CPU features were not detected(?P<who>)(?P<what>)", WARNED, None),
        ("Missing required CPU features", r"Missing required CPU features(?P<who>)(?P<what>)", WARNED, None),
        ("Could not initialize NNPACK", r"Could not initialize (?P<who>NNPACK)! Reason: Unsupported hardware(?P<what>)", OLD, None),
        ("AVX is not support", r"AVX is not support(?:ed)? on your machine(?P<who>)(?P<what>)", WARNED, None),
        ("noavx", r"(?P<who>core_noavx)(?P<what>)", OLD, None),
        ("no_avx", r"(?P<who>no_avx core)(?P<what>)", OLD, None),
        ("qemu: ", r"qemu: (?:uncaught target signal \d{1,2}|unhandled CPU exception)(?P<who>)(?P<what>)", EMULATED, None),
        ("Could not open", r"(?P<who>qemu-\w{3,10})(?:-static)?: Could not open '(?P<what>[^'\r\n]{2,120})'", FAILED, REFUSED),
        ("qemu-", r"(?P<who>qemu-(?:x86_64|i386|aarch64|arm|ppc64le|riscv64|s390x))(?:-static)?: (?:uncaught target|unhandled)(?P<what>)", EMULATED, None),
        ("rosetta error", r"(?P<who>rosetta) error: (?P<what>[^\r\n]{2,120})", FAILED, REFUSED),
        ("requested image's platform", r"The requested image's platform \((?P<what>[\w/]{2,40})\) does not match the detected host platform \((?P<who>[\w/]{2,40})\)", MACHINE, None),
        ("Unsupported system page size", r"<?(?P<who>jemalloc)>?: Unsupported system page size(?P<what>)", PAGES, CHECKED),
        ("page size", r"(?P<who>)(?:Unsupported|unsupported|unexpected|incompatible) (?:system |kernel |memory )?page size(?P<what>)", PAGES, CHECKED),
        ("vsyscall attempted", r"vsyscall attempted with vsyscall=(?P<what>none)(?P<who>)", VSYSCALL, None),
    )
)  # fmt: skip
MARKERS = (
    "Fatal glibc error", "processor must support", "core_noavx", "require AVX", "require a CPU",
    *dict.fromkeys(hint for hint, *_ in SENTENCES if hint not in {"CPU", "AVX"}),
    "CPU does", "CPU lacks", "requires AVX", "requires a CPU with", "machine doesn't support",
    "machine does not support", "processor does not support", "processor doesn't support",
    "Exec format error", "exec format error", "Bad CPU type", "bad CPU type", "Apple M",
    "Apple Silicon", "Apple silicon", "apple silicon", "arm64-apple", "macOS-", "macosx", "RELEASE_ARM64", "tensorflow-macos",
)  # fmt: skip

# NumPy breaks its sentence over lines; what the machine lacks stands at the end.
LACKING = re.compile(r"\((?P<what>[A-Z0-9][\w. ]{1,200})\)\.?\s*$")
POLARS = re.compile(
    r"^\s{2,8}(?P<what>(?:avx|sse|ssse|fma|bmi|lzcnt|popcnt|pclmul|movbe)[\w. ,]{0,120})$"
)
# OSError: [Errno 8] Exec format error: './train';  exec /app/train: exec format error
NO_EXEC = re.compile(
    r"(?:(?P<before>[^\s:'\"]{1,300}): )?(?:cannot execute binary file: |user process caused[: \"]{1,4})?"
    r"[Ee]xec format error(?:: ['\"]?(?P<after>[^\s'\"]{1,300}))?"
)
BAD_CPU = re.compile(
    r"(?:(?P<after>[^\s:]{1,300}): )?[Bb]ad CPU type in executable(?:: ['\"]?(?P<before>[^\s'\"]{1,300}))?"
)
REFUSALS = (("xec format error", NO_EXEC), ("ad CPU type in executable", BAD_CPU))
AROUND = 600
SCRIPTS = (".py", ".sh", ".pl", ".rb", ".txt", ".bash")
UNCAUGHT = re.compile(
    r"qemu: uncaught target signal (?P<number>\d{1,2}) \((?P<words>[\w /-]{3,40})\)"
)
SIGNALS = {
    "4": "SIGILL",
    "5": "SIGTRAP",
    "6": "SIGABRT",
    "7": "SIGBUS",
    "8": "SIGFPE",
    "11": "SIGSEGV",
}
APPLE = re.compile(
    r"\bApple (?:M\d|[Ss]ilicon)|\bapple silicon\b|\barm64-apple-darwin|\bmacOS-[\d.]{2,12}-arm64|\bmacosx[_-][\d_.]{2,8}[_-]arm64"
    r"|\bRELEASE_ARM64_T\d|\btensorflow[-_]macos\b"
)


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield what programs said of the CPU and of the machine."""
    for n, line in enumerate(evidence.lines):
        yield from _sentence(evidence, n, line)
        for hint, pattern in REFUSALS:
            if found := _near(hint, pattern, line):
                yield _cannot_run(_span(evidence, n, found), found)
        if (found := UNCAUGHT.search(line)) and (signal := SIGNALS.get(found["number"])):
            yield Death(span=_span(evidence, n, found), signal=signal)
        if found := APPLE.search(line):
            yield Platform(
                span=_span(evidence, n, found), system="macos", machine="arm64", detail=found[0]
            )


def _near(hint: str, pattern: re.Pattern[str], line: str) -> re.Match[str] | None:
    """The sentence around its hint: a line may be long, a sentence is not."""
    at = line.find(hint)
    return pattern.search(line[max(0, at - AROUND) : at + AROUND]) if at >= 0 else None


def _sentence(evidence: Evidence, n: int, line: str) -> Iterator[Notice]:
    for hint, pattern, topic, mechanism in SENTENCES:
        if not (found := _near(hint, pattern, line)):
            continue
        what = found["what"] or _said_below(evidence, n, topic)
        who = found["who"] or ("Polars" if "detected" in hint or "Missing" in hint else "")
        yield Notice(
            span=_span(evidence, n, found),
            topic=topic,
            text=f"{who}: {what}" if who and what else found[0].strip(),
            subject=what or who or None,
            mechanism=mechanism,
        )
        return


def _said_below(evidence: Evidence, n: int, topic: str) -> str | None:
    """What is missing, where it stands on one of the next lines."""
    if topic not in {LACKS, WARNED}:
        return None
    pattern = LACKING if topic == LACKS else POLARS
    for line in evidence.lines[n + 1 : n + 4]:
        if found := pattern.search(line):
            return found["what"].strip()
    return None


def _cannot_run(span: Span, found: re.Match[str]) -> LoadFailure:
    """A program that this machine cannot run; a script without its first line fails the same."""
    program = found["after"] or found["before"]
    kind = "format" if program and program.endswith(SCRIPTS) else "architecture"
    return LoadFailure(span=span, kind=kind, library=program, missing=span.words[-60:])


def _span(evidence: Evidence, n: int, found: re.Match[str]) -> Span:
    return Span(evidence=evidence.name, first=n, last=n, words=found[0].strip())
