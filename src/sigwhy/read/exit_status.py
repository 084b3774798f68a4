"""How a process ended, as those report it who started it: IDE, launcher, supervisor, CI.

Looks like::

    Process finished with exit code 139 (interrupted by signal 11: SIGSEGV)
    Process finished with exit code -1073741819 (0xC0000005)
    [Done] exited with code=3221225477 in 2.1 seconds
    subprocess.CalledProcessError: Command '['python']' died with <Signals.SIGSEGV: 11>.
    failed (exitcode: -9) local_rank: 0 (pid: 3112) of binary: /usr/bin/python
    mpirun noticed that process rank 1 with PID 314 on node a exited on signal 4 (Illegal instruction).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sigwhy.machine import ntstatus, signals
from sigwhy.model.fact import Death, Exit, Notice, Platform, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

SIGNALS: Final = {**signals.LINUX, 10: "SIGUSR1", 12: "SIGUSR2", 26: "SIGVTALRM", 27: "SIGPROF"}
# 129 is what git says of a wrong option, and -1 what everybody says of any failure.
NO_SIGNAL: Final = {1, 2}
# What is left of a negative number in one byte: sys.exit(-9) ends with 247.
WRAPPED: Final = {256 - n: SIGNALS[n] for n in (4, 6, 7, 8, 9, 11)}
PID = r"(?:PID:?|pid[:=]?|Pid:?)\s?(?P<pid>\d{1,10})"

# Words that say a signal: its number or its name.
SIGNALLED = tuple(
    re.compile(pattern)
    for pattern in (
        # torchrun, when its own terminal or job goes away
        r"Sending process (?P<pid>\d{1,10}) closing signal (?P<signal>SIG(?:HUP|INT|QUIT))\b",
        r"Received (?P<signal>\d{1,2}) death signal, shutting down workers",
        # PyCharm
        r"interrupted by signal (?P<signal>\d{1,2})\b",
        # Open MPI, PRRTE
        r"process rank \d{1,9} with PID (?P<pid>\d{1,10}) on node \S{1,120} exited on signal (?P<signal>\d{1,2})",
        # MPICH, Intel MPI
        r"EXIT STRING: [^\n()]{1,80} \(signal (?P<signal>\d{1,2})\)",
        r"KILLED BY SIGNAL: (?P<signal>\d{1,2})",
        # subprocess
        r"died with <Signals\.\w{1,12}: (?P<signal>\d{1,2})>",
        r"[Dd]ied with (?P<signal>SIG[A-Z]{2,6})\b",
        # s6, runit, supervisord, Go, cargo, tox
        r"\(by signal (?P<signal>\d{1,2})\)",
        r"(?:terminated|killed|crashed|ended|exited|stopped|died) (?:by|with|from|due to|because of|on) (?:a |the )?(?:[Ss]ignal:? ?)?(?P<signal>SIG[A-Z]{2,6})\b",
        r"(?:terminated|killed|crashed|ended|exited|stopped|died|caught|got|received),?:? (?:by |with |from |on |due to |unexpectedly by )?(?:unexpected |fatal |exit )?[Ss]ignal:? ?#?(?P<signal>\d{1,2})\b(?! ?[%.]\d)",
        r"\(signal: (?P<signal>\d{1,2}), SIG[A-Z]{2,6}",
        r"(?:process|program|command|[Rr]untime|[Ww]orker|[Cc]hild|: error)[^\n]{0,80}: signal: (?P<signal>killed|segmentation fault|aborted|bus error|illegal instruction|trace/breakpoint trap|floating point exception|terminated)\b",
        r"^\s{0,8}(?:error: )?signal: (?P<signal>killed|segmentation fault|aborted|bus error|illegal instruction|trace/breakpoint trap|floating point exception|terminated)\b",
        # torch elastic
        r"Signal (?P<signal>\d{1,2}) \(SIG[A-Z]{2,6}\) received by PID (?P<pid>\d{1,10})",
        r"SignalException: Process (?P<pid>\d{1,10}) got signal: (?P<signal>\d{1,2})",
        # celery, billiard, RQ, uWSGI, gunicorn
        r"exited (?:prematurely: |with ')signal (?P<signal>\d{1,2}) \(",
        r"waitpid returned (?:\d{1,6} \(signal )?(?P<signal>\d{1,2})\)",
        r"\(pid: (?P<pid>\d{1,10})\) died, killed by signal (?P<signal>\d{1,2})",
        r"Worker \(pid:(?P<pid>\d{1,10})\) was (?:sent|terminated due to signal) (?P<signal>SIG[A-Z]{2,6}|\d{1,2})\b",
        # Airflow
        r"Negsignal\.(?P<signal>SIG[A-Z]{2,6})",
        # systemd
        r"code=(?:killed|dumped),? status=(?P<signal>\d{1,2})/[A-Z]{2,7}",
        # GCC
        r"(?:fatal error|internal compiler error): (?P<signal>Killed|Segmentation fault|Aborted|Bus error|Illegal instruction)(?: signal terminated| \(program)",
        # multiprocessing
        r"<\w{0,20}Process[^\n<>]{0,200} exitcode=-(?:SIG[A-Z]{2,6}|\d{1,2}) ?\(?(?P<signal>SIG[A-Z]{2,6})",
        r"exitcode=-(?P<signal>SIG[A-Z]{2,6})",
        # Python, LSF, Slurm, Go and everybody who writes the name behind the number
        r"(?:[Ee]xit(?:ed)?|return)[ _-]?(?:with )?(?:code|status)[^\n(]{0,20}\((?P<signal>SIG[A-Z]{2,6})\)",
        r"Exited; job has been killed by signal (?P<signal>\d{1,2})",
        # sacct: ExitCode 0:9
        r"\bExit(?:Code)?[=:\s]\s{0,20}\d{1,3}:(?P<signal>\d{1,2})\b",
    )
)
# A number said to be the status.
STATUS = re.compile(
    r"(?i:(?:\bexit(?:ed|s|ing)?\b[ _-]?(?:(?:unexpectedly |abnormally )?with )?(?:an? )?(?:non-?zero )?(?:exit |return )?(?:code|status)?"
    r"|\bexit(?:code|status)|\b(?:return|process exit) ?code|\breturncode|\brc|\bExitCode|\bERRORLEVEL)"
    r"[\"']?(?: is| was| of)?\s{0,3}[:=]{0,2}\s{0,12}[\"'(]?)(?P<status>-?\d{1,10}|0x[0-9a-fA-F]{8})\b(?![.:%]\d)"
)
# make: *** [train] Error 139
MAKE = re.compile(r"\*\*\* \[[^\]]{1,300}\] Error (?P<status>\d{1,3})\b")
ECHOED = re.compile(r"echo \"?\$(?:\?|status|LASTEXITCODE)|echo %ERRORLEVEL%", re.IGNORECASE)
BARE_NUMBER = re.compile(r"^\s{0,8}(?P<status>-?\d{1,10})\s{0,8}$")
NT = re.compile(
    r"\b(?P<status>0x[Cc]0[0-9a-fA-F]{6}|0x[Ee]06[dD]7363|0x8000000[1-4])\b|(?<![\w.])(?P<decimal>-107\d{7}|32212\d{5})\b"
)
WHO = re.compile(PID)
# A list of what might have happened is not what happened.
MAYBE = re.compile(r"root causes|or other unexpected errors|(?:could|might|may) be caused by")
# A program that catches its own crash and goes on, or turns it into a plain exit.
HANDLED = re.compile(
    r"(?i:(?:caught|handling|handled|intercepted|trapped|ignoring|swallowed) (?:the |a |fatal )?(?:signal |crash |segfault )?)\(?"
    r"(?P<signal>SIG(?:SEGV|BUS|FPE|ILL|ABRT)|(?:1[1]|[4678])\b|segmentation fault|segfault)\)?"
    r"[^\n]{0,60}?(?i:\b(?:ignor|continu|exiting|exit\(|recover|restart|resum|skipp|shutting down|returning|going on))"
)

MARKERS = (
    "closing signal", "death signal",
    "exit", "Exit", "EXIT", "signal", "Signal", "SIGNAL", "SIG", "returncode", "return code", "Return code",
    "status", "Status", "rc=", "rc:", "rc ", "Error ", "echo ", "ERRORLEVEL", "errorlevel", "0x", "-107", "32212",
    "waitpid", "internal compiler error", "caught", "Caught", "died with",
)  # fmt: skip


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield how processes ended."""
    asked = False
    for n, line in enumerate(evidence.lines):
        yield from _ended(evidence.name, n, line)
        if asked and (found := BARE_NUMBER.match(line)):
            yield from _exited(evidence.name, n, line, found, named=False)
        asked = bool(ECHOED.search(line))
        if found := HANDLED.search(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
            subject = signals.signal_named(found["signal"]) or found["signal"]
            yield Notice(span=span, topic="signal-handled", text=found[0], subject=subject)


def _ended(name: str, n: int, line: str) -> Iterator[Fact]:
    """The signal and the status that one line tells of."""
    named = False
    for way in SIGNALLED if not MAYBE.search(line) else ():
        if (found := way.search(line)) and (signal := _signal(found["signal"])):
            named = True
            yield Death(
                span=Span(evidence=name, first=n, last=n, words=found[0]),
                signal=signal,
                pid=_pid(found.groupdict().get("pid"), line),
            )
            break
    if found := STATUS.search(line) or MAKE.search(line) or NT.search(line):
        yield from _exited(name, n, line, found, named=named)


def _exited(name: str, n: int, line: str, found: re.Match[str], *, named: bool) -> Iterator[Fact]:
    """The status as it was said, and the signal that it stands for unless that was said too."""
    said = found["status"] or found.groupdict().get("decimal") or "0"
    status = int(said, 16) if said.startswith("0x") else int(said)
    windows = ntstatus.status_named(status)
    signal = None if windows else _stands_for(status)
    span = Span(evidence=name, first=n, last=n, words=found[0].strip())
    yield Exit(span=span, status=status, means=windows or signal)
    if windows:
        yield Platform(span=span, system="windows", detail=windows)
    if signal and not named:
        yield Death(span=span, signal=signal, pid=_pid(None, line))


def _signal(text: str) -> str | None:
    if text.isascii() and text.isdigit():
        return SIGNALS.get(int(text[:4]))
    return signals.signal_named(text)


def _stands_for(status: int) -> str | None:
    """The signal that a status means by the customs of shells and of Python."""
    number = status - 128 if 128 < status < 192 else -status
    return WRAPPED.get(status) or (None if number in NO_SIGNAL - {2} else SIGNALS.get(number))


def _pid(said: str | None, line: str) -> int | None:
    found = said or ((match := WHO.search(line)) and match["pid"])
    return int(found) if found else None
