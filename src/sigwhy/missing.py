"""What would decide a case that is undecided: commands to type, the best first.

What to collect next depends on what is there. A text without a stack wants one; where the kernel
writes about such a death its log is the cheapest; a process that was killed left its reason in
counters, not in its own output.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.model.fact import (
    Death,
    Device,
    Exit,
    Fact,
    Fault,
    Gpu,
    HeapDamage,
    LoadFailure,
    MemoryKill,
    Platform,
    PythonError,
    Ran,
    Stack,
    Timeout,
)
from sigwhy.model.report import Missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sigwhy.model.case import Case

MOST = 5
CRASHES = frozenset({"SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP", "SIGSYS"})
# The kernel writes a line about these; about SIGBUS and SIGABRT it says nothing.
IN_KERNEL_LOG = frozenset({"SIGSEGV", "SIGILL", "SIGFPE", "SIGTRAP"})
# Only so plain a name is put into a command that a user may copy: the text is anybody's.
SCRIPT = re.compile(r"(?:^|\s)((?:[\w.-]+/)*[\w-]+\.py)(?=\s|$)")
DEFAULT_SCRIPT = "YOUR_PROGRAM.py"


@dataclass(frozen=True, slots=True)
class Advice:
    """What to collect ``when`` something is open: rows of system, command, what it brings."""

    when: Callable[[Case], bool]
    steps: tuple[tuple[str, str, str], ...]


def missing(case: Case) -> tuple[Missing, ...]:
    """What to collect next."""
    system, script = _system(case), _script(case)
    steps = (
        Missing(command.replace("SCRIPT", script), brings)
        for advice in ADVICE
        if advice.when(case)
        for runs_on, command, brings in advice.steps
        if system in runs_on.split()
    )
    return tuple(dict.fromkeys(steps))[:MOST]


def _system(case: Case) -> str:
    said = (p.system for p in case.all(Platform) if p.system in ("linux", "macos", "windows"))
    return next(said, "linux")


def _script(case: Case) -> str:
    return next(_scripts(case), DEFAULT_SCRIPT)


def _scripts(case: Case) -> Iterator[str]:
    commands = [d.command for d in case.all(Death)] + [r.command for r in case.all(Ran)]
    for command in commands:
        if found := SCRIPT.search((command or "")[:2000]):
            yield found[1]


def _crashed(case: Case) -> bool:
    return any(d.signal in CRASHES for d in case.all(Death))


def _killed(case: Case) -> bool:
    killed = any(d.signal == "SIGKILL" for d in case.all(Death))
    return (killed or any(e.status in (137, 9) for e in case.all(Exit))) and not _has(
        case, MemoryKill
    )


def _has(case: Case, *kinds: type[Fact]) -> bool:
    return any(isinstance(fact, kinds) for fact in case.facts)


def _stack(case: Case, language: str) -> bool:
    return any(
        frame.language == language for s in case.all(Stack) if s.crashed for frame in s.frames
    )


def _no_python_line(case: Case) -> bool:
    return not (_stack(case, "python") or _has(case, PythonError) or _killed(case))


def _no_native_stack(case: Case) -> bool:
    return _crashed(case) and not _stack(case, "native")


def _no_fault(case: Case) -> bool:
    signals = {death.signal for death in case.all(Death)}
    return bool(signals & IN_KERNEL_LOG) and not _has(case, Fault)


ADVICE = (
    Advice(
        _killed,
        (
            ("linux", "cat /sys/fs/cgroup/memory.events", "in the container: oom_kill above 0"),
            (
                "linux",
                'sudo dmesg -T | grep -iE "oom|killed process"',
                "on the host: whom the kernel killed, and for how much memory",
            ),
            ("linux", "/usr/bin/time -v python SCRIPT", "how much memory it had at the most"),
            ("macos", "/usr/bin/time -l python SCRIPT", "how much memory it had at the most"),
        ),
    ),
    Advice(
        lambda case: _has(case, LoadFailure),
        (
            ("linux macos windows", "python -m pip list", "the versions of all packages"),
            ("linux macos windows", "python -m pip check", "packages that do not fit together"),
            ("linux", "LD_DEBUG=libs python SCRIPT 2>&1 | tail -60", "where libraries come from"),
            ("macos", "DYLD_PRINT_LIBRARIES=1 python SCRIPT", "where libraries come from"),
        ),
    ),
    Advice(
        lambda case: _has(case, Gpu, Device),
        (
            ("linux windows", "nvidia-smi", "driver, memory, and what else uses the GPU"),
            (
                "linux",
                "CUDA_LAUNCH_BLOCKING=1 python SCRIPT",
                "the call that failed, and not a later one",
            ),
            ("linux", 'sudo dmesg -T | grep -iE "xid|nvrm|aer"', "what the hardware said"),
        ),
    ),
    Advice(
        lambda case: _has(case, Timeout),
        (("linux macos windows", "py-spy dump --native --pid PID", "where every thread waits"),),
    ),
    Advice(
        _no_python_line,
        (
            (
                "linux macos windows",
                "python -X faulthandler SCRIPT",
                "the line of Python that was running",
            ),
        ),
    ),
    Advice(
        _no_fault,
        (
            (
                "linux",
                'sudo dmesg -T | grep -E "segfault|traps:" | tail -3',
                "the address and the library of the fault",
            ),
        ),
    ),
    Advice(
        lambda case: _has(case, HeapDamage),
        (
            (
                "linux macos windows",
                "PYTHONMALLOC=debug python -X dev SCRIPT",
                "stops nearer to where the damage is done",
            ),
            (
                "linux",
                "PYTHONMALLOC=malloc valgrind python SCRIPT",
                "the very line that damages the memory",
            ),
        ),
    ),
    Advice(
        _no_native_stack,
        (
            ("linux", "coredumpctl info", "the native stack, if systemd kept the crash"),
            (
                "linux",
                'gdb -batch -ex run -ex "thread apply all bt" --args python SCRIPT',
                "the native stack of every thread",
            ),
            (
                "macos",
                "ls -t ~/Library/Logs/DiagnosticReports | head -3",
                "the newest report is this crash: explain that file",
            ),
            (
                "macos",
                'lldb -b -o run -k "thread backtrace all" -- python SCRIPT',
                "the native stack of every thread",
            ),
            (
                "windows",
                'powershell -c "Get-WinEvent Application -MaxEvents 200 | ? Id -eq 1000 | fl"',
                "the module that failed, and its exception code",
            ),
        ),
    ),
    Advice(
        lambda case: not case.facts,
        (
            ("linux macos", "echo $?", "right after the death: 128 + the number of the signal"),
            ("windows", "echo %ERRORLEVEL%", "right after the death: how it ended"),
        ),
    ),
    Advice(
        lambda case: not _has(case, LoadFailure),
        (("linux macos windows", "python -m pip list", "the versions of all packages"),),
    ),
)
