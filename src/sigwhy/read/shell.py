"""What shells print when a program dies, in any language, and what the user typed before it.

Looks like::

    $ python train.py
    Segmentation fault (core dumped)
    run.sh: line 3:  8156 Killed                  python train.py
    zsh: illegal hardware instruction  python train.py
    [1]+  Aborted                 (core dumped) python train.py
    fish: Job 1, 'python train.py' terminated by signal SIGSEGV (Address boundary error)
    段错误 (核心已转储)
    >>> import tensorflow
    Illegal instruction: 4
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sigwhy.machine import signals, tongues
from sigwhy.model.fact import Death, Notice, Platform, Ran, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

# What zsh, ksh and BSD say instead of the words of glibc.
ALSO: Final = {
    "illegal hardware instruction": "SIGILL",
    "iot instruction": "SIGABRT",
    "iot trap": "SIGABRT",
    "trace trap": "SIGTRAP",
    "invalid system call": "SIGSYS",
    "cpu limit exceeded": "SIGXCPU",
    "cputime limit exceeded": "SIGXCPU",
    "filesize limit exceeded": "SIGXFSZ",
    "virtual timer expired": "SIGVTALRM",
    "virtual time alarm": "SIGVTALRM",
    "profiling timer expired": "SIGPROF",
    "profile signal": "SIGPROF",
    "user defined signal 1": "SIGUSR1",
    "user defined signal 2": "SIGUSR2",
    "user-defined signal 1": "SIGUSR1",
    "user-defined signal 2": "SIGUSR2",
    "abandoned": "SIGABRT",  # "Abandon", after a translation by machine
    "stack fault": "SIGSTKFLT",
    "i/o possible": "SIGIO",
    "power failure": "SIGPWR",
}
ENGLISH: Final = {**signals.WORDS, **ALSO}
FOREIGN: Final = {word.lower(): signal for signal, words in tongues.WORDS.items() for word in words}
STATUS: Final = {**FOREIGN, **ENGLISH}
# Words of every day: a line that holds nothing else may be anybody's.
EVERYDAY: Final = {"quit", "interrupt", "abort", "alarm", "hangup"} | {
    word.lower() for word in tongues.WORDS["SIGTERM"]
}
# What is printed by a crash, and by nothing that works: it may stand glued to other words.
HARD: Final = {"SIGSEGV", "SIGABRT", "SIGILL", "SIGBUS", "SIGFPE", "SIGKILL"}
# The number that macOS and the BSDs add, which proves where it happened.
NUMBERED: Final = {
    "segmentation fault": "11",
    "abort trap": "6",
    "illegal instruction": "4",
    "bus error": "10",
    "killed": "9",
    "trace/bpt trap": "5",
    "floating point exception": "8",
    "terminated": "15",
    "bad system call": "12",
    "broken pipe": "13",
    "alarm clock": "14",
    "cputime limit exceeded": "24",
    "filesize limit exceeded": "25",
}


DUMPS = "|".join(re.escape(word) for word in sorted(tongues.DUMPED, key=len, reverse=True))
DUMPED = rf"(?:\s{{0,30}}[(（](?:{DUMPS})[)）])"
NUMBER = r"(?:: (?P<number>\d{1,2})\b)?"
COMMAND = r"\s{0,30}(?P<command>\S.*)?$"
# What stands before the words for a death where somebody reports it, by who that is.
BEFORE: Final = (
    # run.sh: line 3:  8156 Killed                  python train.py
    re.compile(r"[:：]\s{0,8}(?P<pid>\d{1,10})\s{1,8}$"),
    # [1]  + 8156 segmentation fault (core dumped)  python train.py
    re.compile(r"^\s{0,8}\[\d{1,4}\]\s{0,4}[+-]?\s{0,8}(?:(?P<pid>\d{1,10})\s{1,8})?$"),
    # zsh: segmentation fault  python train.py
    re.compile(
        r"(?:^|[\s/])-?(?:[\w.+-]{0,80}\.)?(?:zsh|bash|sh|dash|ksh|mksh|tcsh|csh|ash)(?::\d{1,6})?: "
        r"(?:\d{1,10} ){0,2}(?:: )?$"
    ),
    # make: *** [Makefile:3: train] Segmentation fault (core dumped)
    re.compile(r"make(?:\[\d{1,3}\])?: \*\*\* \[[^\]]{1,300}\] $"),
)
AFTER = re.compile(rf"^{NUMBER}{DUMPED}?{COMMAND}")
# The end of "Segmentation fault      (core dumped) python train.py", wherever it stands.
AFTER_ANYTHING = re.compile(rf"^(?:: \d{{1,2}})?{DUMPED}{COMMAND}", re.IGNORECASE)
# Segmentation fault (core dumped)
ALONE = re.compile(
    rf"^{NUMBER}(?:\s{{0,30}}(?:[(（][^()（）]{{2,60}}[)）]|[-,:]? ?core dump(?:ed)?))?"
    r"(?:[\s.]{0,8}|\s{2,30}(?P<command>\S.*))$"
)
# Epoch 1:  40%|####      | 40/100 [00:10<00:15]Segmentation fault
GLUED_TO = re.compile(r"[\])|%…\d=>#█s*][ \t\r]{0,3}$")
# fish: Job 1, 'python train.py' terminated by signal SIGSEGV (Address boundary error)
FISH = re.compile(
    r"fish: (?:Job \d{1,5}, |Process \d{1,10}, |\S+ )?['“\"‘](?P<command>[^\n]{0,200}?)['”\"’](?: from job [^\n]{0,300}?)?,? "
    r"terminated by signal (?P<signal>SIG[A-Z0-9]{2,8})"
)
# Abort trap: 6
NUMBERED_TAIL = re.compile(r"^: (?P<number>\d{1,2})\b")
NEAR = 400
LONG = 4000

ENVIRONMENT = r"(?:\([\w.+/-]{1,80}\)\s?){0,3}"
TYPED_WORDS = (
    r"(?:\w{1,40}=\S{0,200} ){0,8}(?:sudo |time |nohup |exec )?(?:(?:\S{0,200}/)?(?:python[\d.]{0,5}|pip\d?|conda|pytest|bash|sh|zsh"
    r"|make|cmake|docker|kubectl|srun|sbatch|mpirun|mpiexec|horovodrun|torchrun|deepspeed|accelerate|jupyter|ipython"
    r"|gdb|lldb|strace|valgrind|nvidia-smi|ldd|nm|env|node|julia|java|Rscript|R|bazel|toco|tflite_convert|kill|pkill"
    r"|killall|timeout|ulimit|export|cd|source|apt|apt-get|brew|dmesg|lscpu|cat|echo|uv|poetry|streamlit|gunicorn"
    r"|uvicorn|celery|ray|airflow|rosrun|roslaunch|ros2)\b|\./)"
)
# (env) user@host:~/work$ python train.py
AT_HOST = re.compile(
    rf"^\s{{0,8}}{ENVIRONMENT}\[?[\w.+-]{{1,60}}@[\w.-]{{1,80}}[^$#%>❯➜\n]{{0,160}}[$#%>❯➜]\s?(?P<command>[\w./~\"'(!].*)$"
)
# node7:models ann$ convert_it model.onnx        as macOS has it
AT_MAC = re.compile(
    r"^\s{0,8}[\w.-]{1,60}:[^\s$]{0,120} [\w.-]{1,40}\$ (?P<command>[\w./~\"'(!].*)$"
)
# $ python train.py
AT_DOLLAR = re.compile(
    rf"^\s{{0,8}}{ENVIRONMENT}(?:[\w./~-]{{1,80}} ?)?[$❯»λ] (?P<command>[\w./~\"'(!].*)$"
)
# % python train.py
AT_MARK = re.compile(
    rf"^\s{{0,8}}{ENVIRONMENT}(?:(?:bash|sh|zsh|dash|ash)-[\d.]{{1,8}})?(?:[%#$!]\s|\++\s?)(?P<command>{TYPED_WORDS}.*)$"
)
# ➜  project git:(main) ✗ python train.py
AT_ARROW = re.compile(
    rf"^\s{{0,8}}{ENVIRONMENT}➜\s{{1,4}}\S{{1,80}} (?:git:\(\S{{1,80}}\) )?(?:✗ )?(?P<command>[\w./~].*)$"
)
# (env) C:\work>python train.py
ON_WINDOWS = re.compile(
    rf"^\s{{0,8}}{ENVIRONMENT}(?P<ps>PS )?[A-Za-z]:[\\/][^<>|\"\n]{{0,200}}> ?(?P<command>[\w.\\/\"'(&$].*)$"
)
# python train.py --epochs 3
TYPED = re.compile(
    r"^\s{0,8}(?P<command>(?:\w{1,40}=\S{0,200} ){0,8}(?:sudo |time |nohup |exec |\$ )?(?:\S{0,200}/)?"
    r"(?:python[\d.]{0,5}(?:\.exe)?|torchrun|mpirun|mpiexec|horovodrun|pytest|ipython|accelerate launch|srun|deepspeed)"
    r" (?=-{1,2}\w|[^\s:,]{1,300}\.py\b|launch )[^\n]*)$"
)
SHELLS = (AT_HOST, AT_MAC, ON_WINDOWS, AT_ARROW, AT_MARK, AT_DOLLAR, TYPED)
# >>> import tensorflow
INTERPRETER = re.compile(r"^\s{0,8}>>> ?(?P<command>\S.*)$")
GOES_ON = re.compile(r"^\s{0,8}\.{3,7}:? (?P<command>\s{0,40}\S.*)$")
# The prompt of IPython: In [3]
NOTEBOOK = re.compile(r"^\s{0,8}In ?\[(?:\d{1,6}|\*| )\]: ?(?P<command>\S.*)$")
KILLS = re.compile(r"(?:^|\s)(?:kill (?:-(?!0\b)\S{1,10} )?%?\d|pkill |killall |kill -)")

MARKERS = (
    *sorted({form for word in STATUS for form in (word, word.capitalize(), word.upper(), word.title())}),
    *(word for words in tongues.WORDS.values() for word in words),
    "terminated by signal",
    ">>>", "In [", "In[", "$ ", "% ", "# ", "❯ ", "➜ ", "λ ", "» ", "> ", "+", ">python", ":\\", "@",
    "python ", "python3", "torchrun ", "mpirun ", "mpiexec ", "pytest ", "srun ", "deepspeed ",
)  # fmt: skip


LONGEST_COMMAND = 40  # lines


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the deaths that a shell reported, and what was typed."""
    prompted = False
    for n, line in enumerate(evidence.lines):
        yield from _deaths(evidence, n)
        prompted = prompted or bool(INTERPRETER.match(line) or NOTEBOOK.match(line))
        yield from _typed(evidence.name, n, line, prompted=prompted)


def _deaths(evidence: Evidence, n: int) -> Iterator[Fact]:
    """The death a line tells of, and the system where its wording is proof of one."""
    name, line = evidence.name, evidence.lines[n]
    if found := FISH.search(line):
        said, signal = found["command"].strip(), found["signal"]
        span = Span(evidence=name, first=n, last=n, words=signal)
        yield Death(span=span, signal=signal, command=said or None)
        return
    told = [(word, _reported(line, word, at)) for word, at in _words(line)]
    for word, report in told:
        if report:
            span = Span(evidence=name, first=n, last=n, words=word)
            number = report.get("number")
            if number and NUMBERED.get(word.lower()) == number:
                yield Platform(span=span, system="macos", detail=f"{word}: {number}")
            yield Death(
                span=span,
                signal=STATUS[word.lower()],
                pid=int(pid) if (pid := report.get("pid")) else None,
                command=_whole(evidence, n, (report.get("command") or "").strip()) or None,
            )
            return


def _whole(evidence: Evidence, n: int, command: str) -> str:
    """The command with the lines that it goes on over: a quotation is open at the end of its line."""
    quote = next((q for q in "'\"" if command.count(q) % 2), None)
    for line in evidence.lines[n + 1 : n + 1 + LONGEST_COMMAND] if quote else ():
        command += f"\n{line}"
        if quote and quote in line:
            return command
    return command.partition("\n")[0]


def _words(line: str) -> list[tuple[str, int]]:
    """The words for a death in a line, with their places: the last of each, long ones first."""
    low = line.lower()
    if len(low) != len(line):
        low = line
    held = sorted((word for word in STATUS if word in low), key=len, reverse=True)
    return [(line[at : at + len(word)], at) for word in held for at in {low.rfind(word)}]


def _reported(line: str, word: str, at: int) -> dict[str, str | None] | None:
    """What is told with a death, if it is somebody's report of one and no word of a sentence."""
    head, tail = line[max(0, at - NEAR) : at], line[at + len(word) : at + len(word) + LONG]
    for way in BEFORE:
        if (before := way.search(head)) and (after := AFTER.match(tail)):
            return {**before.groupdict(), **after.groupdict()}
    if not head.strip() and word.lower() not in EVERYDAY and (alone := ALONE.match(tail)):
        return alone.groupdict()
    number = NUMBERED_TAIL.match(tail)
    if number and NUMBERED.get(word.lower()) == number["number"] and not head[-1:].isalnum():
        return number.groupdict()
    if not head[-1:].isalnum() and (dumped := AFTER_ANYTHING.match(tail)):
        return dumped.groupdict()
    glued = word[0].isupper() and STATUS[word.lower()] in HARD and not tail.strip()
    return {"command": None} if glued and GLUED_TO.search(head) else None


def _typed(name: str, n: int, line: str, *, prompted: bool) -> Iterator[Fact]:
    """What was typed on this line, if it is a prompt with something behind it."""
    if (
        found := INTERPRETER.match(line)
        or NOTEBOOK.match(line)
        or (prompted and GOES_ON.match(line))
    ):
        command = found["command"].strip()
        span = Span(evidence=name, first=n, last=n, words=command)
        yield Ran(span=span, command=command, language="python")
        return
    for way in SHELLS:
        if found := way.match(line):
            command = found["command"].strip()
            span = Span(evidence=name, first=n, last=n, words=command)
            yield Ran(span=span, command=command)
            if way is ON_WINDOWS:
                yield Platform(span=span, system="windows")
            if KILLS.search(command):
                yield Notice(span=span, topic="kill-typed", text=command, mechanism="killed")
            return
