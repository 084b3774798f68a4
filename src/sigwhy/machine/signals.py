"""What signals and their codes are called: numbers and words to the names of signal.h."""

from __future__ import annotations

from typing import Final

LINUX: Final = {
    1: "SIGHUP",
    2: "SIGINT",
    3: "SIGQUIT",
    4: "SIGILL",
    5: "SIGTRAP",
    6: "SIGABRT",
    7: "SIGBUS",
    8: "SIGFPE",
    9: "SIGKILL",
    10: "SIGUSR1",
    11: "SIGSEGV",
    12: "SIGUSR2",
    13: "SIGPIPE",
    14: "SIGALRM",
    15: "SIGTERM",
    16: "SIGSTKFLT",
    24: "SIGXCPU",
    25: "SIGXFSZ",
    26: "SIGVTALRM",
    27: "SIGPROF",
    29: "SIGIO",
    30: "SIGPWR",
    31: "SIGSYS",
}
# What strsignal() says, in small letters: glibc's words first, those of other systems after them.
WORDS: Final = {
    "segmentation fault": "SIGSEGV",
    "segmentation violation": "SIGSEGV",
    "bus error": "SIGBUS",
    "misaligned address error": "SIGBUS",
    "aborted": "SIGABRT",
    "abort": "SIGABRT",
    "abort trap": "SIGABRT",
    "illegal instruction": "SIGILL",
    "floating point exception": "SIGFPE",
    "floating-point exception": "SIGFPE",
    "arithmetic exception": "SIGFPE",
    "trace/breakpoint trap": "SIGTRAP",
    "trace/bpt trap": "SIGTRAP",
    "killed": "SIGKILL",
    "terminated": "SIGTERM",
    "hangup": "SIGHUP",
    "interrupt": "SIGINT",
    "quit": "SIGQUIT",
    "broken pipe": "SIGPIPE",
    "alarm clock": "SIGALRM",
    "bad system call": "SIGSYS",
    "cpu time limit exceeded": "SIGXCPU",
    "file size limit exceeded": "SIGXFSZ",
}
SENT: Final = {0: "SI_USER", -1: "SI_QUEUE", -6: "SI_TKILL", 128: "SI_KERNEL"}
CODES: Final = {
    ("SIGSEGV", 1): "SEGV_MAPERR",
    ("SIGSEGV", 2): "SEGV_ACCERR",
    ("SIGSEGV", 3): "SEGV_BNDERR",
    ("SIGSEGV", 4): "SEGV_PKUERR",
    ("SIGSEGV", 8): "SEGV_MTEAERR",
    ("SIGSEGV", 9): "SEGV_MTESERR",
    ("SIGBUS", 1): "BUS_ADRALN",
    ("SIGBUS", 2): "BUS_ADRERR",
    ("SIGBUS", 3): "BUS_OBJERR",
    ("SIGBUS", 4): "BUS_MCEERR_AR",
    ("SIGBUS", 5): "BUS_MCEERR_AO",
    ("SIGFPE", 1): "FPE_INTDIV",
    ("SIGFPE", 2): "FPE_INTOVF",
    ("SIGFPE", 3): "FPE_FLTDIV",
    ("SIGILL", 1): "ILL_ILLOPC",
    ("SIGILL", 2): "ILL_ILLOPN",
    ("SIGILL", 3): "ILL_ILLADR",
    ("SIGILL", 4): "ILL_ILLTRP",
    ("SIGTRAP", 1): "TRAP_BRKPT",
    ("SIGTRAP", 2): "TRAP_TRACE",
    ("SIGSYS", 1): "SYS_SECCOMP",
}
# What psiginfo(), Open MPI and UCX say for a code.
CODE_WORDS: Final = {
    "address not mapped": "SEGV_MAPERR",
    "address not mapped to object": "SEGV_MAPERR",
    "invalid permissions": "SEGV_ACCERR",
    "invalid permissions for mapped object": "SEGV_ACCERR",
    "invalid address alignment": "BUS_ADRALN",
    "non-existant physical address": "BUS_ADRERR",
    "nonexistent physical address": "BUS_ADRERR",
    "nonexisting physical address": "BUS_ADRERR",
    "object-specific hardware error": "BUS_OBJERR",
    "integer divide-by-zero": "FPE_INTDIV",
    "integer divide by zero": "FPE_INTDIV",
    "integer overflow": "FPE_INTOVF",
    "illegal opcode": "ILL_ILLOPC",
    "illegal operand": "ILL_ILLOPN",
    "illegal trap": "ILL_ILLTRP",
}


def signal_named(words: str) -> str | None:
    """The signal that a number, a name or a phrase means: ``11``, ``SIGSEGV``, ``Bus error``."""
    text = words.strip()
    if text.isascii() and text.isdigit():
        return LINUX.get(int(text[:4]))
    if text.startswith("SIG") and text[3:].isalnum():
        return text
    return WORDS.get(text.lower().partition(" (core dumped)")[0])


def code_named(signal: str | None, code: str) -> str | None:
    """The name of a code: a number beside its signal, a name as it is, or a phrase."""
    text = code.strip()
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) <= 4:
        number = int(text)
        return SENT.get(number) or CODES.get((signal or "", number))
    if text.isupper() and "_" in text:
        return text
    return CODE_WORDS.get(text.lower())
