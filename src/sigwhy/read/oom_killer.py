"""What the Linux kernel logs when memory runs out, for the whole machine or for a control group.

Looks like::

    python invoked oom-killer: gfp_mask=0x140cca, order=0, oom_score_adj=0
    memory: usage 4194304kB, limit 4194304kB, failcnt 5821
    oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=a,oom_memcg=/a,task=python,pid=811,uid=0
    Memory cgroup out of memory: Killed process 811 (python) total-vm:9876kB, anon-rss:4190000kB
    Out of memory: Kill process 811 (python) score 917 or sacrifice child
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import MemoryKill, Notice, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

KILLED = re.compile(
    r"(?P<memcg>[Mm]emory cgroup )?[Oo]ut of memory(?P<own> \(oom_kill_allocating_task\))?: "
    r"Kill(?:ed)? process (?P<pid>\d{1,10}),? \((?P<comm>[^()\n]{0,64})\)"
)
# The second line that kernels before 5.0 wrote, and the one of oom_kill_process() alone.
SECOND = re.compile(
    r"(?<!: )Killed process (?P<pid>\d{1,10}),? (?:UID:? ?\d{1,10},? )?"
    r"(?:\((?P<comm>[^()\n]{0,64})\),? )?(?:UID:? ?\d{1,10},? )?(?=total-vm|vsz|anon-rss)"
)
SUMMARY = re.compile(
    r"oom-kill:constraint=CONSTRAINT_(?P<constraint>[A-Z_]{1,24})\b[^\n]{0,600}?\btask=(?P<comm>[^,\n]{0,64}),pid=(?P<pid>\d{1,10})"
)
REAPED = re.compile(r"oom_reaper: reaped process (?P<pid>\d{1,10}) \((?P<comm>[^()\n]{0,64})\)")
GROUP = re.compile(
    r"Task in (?P<group>\S{1,300}) killed as a result of limit of (?P<limit>\S{1,300})"
)
SYSTEM_EVENT = re.compile(
    r"System OOM encountered, victim process: (?P<comm>[^,\n]{1,64}), pid: (?P<pid>\d{1,10})"
)
INVOKED = re.compile(r"(?P<comm>\S{1,64}) invoked oom-killer")
BARE = re.compile(
    r"oom[-_]kill(?:er)? (?:process|killed)|Memory cgroup out of memory|killed by (?:the )?(?:Linux |kernel )?OOM[ -]?killer",
    re.IGNORECASE,
)
NAMES_VICTIM = re.compile(r"Kill(?:ed)? process \d|oom-kill:|oom_reaper|killed as a result")
RSS = re.compile(r"anon-rss:(?P<kb>\d{1,15})kB")
LIMIT = re.compile(r"memory: usage (?P<used>\d{1,15})kB, limit (?P<limit>\d{1,15})kB")
NO_LIMIT_KB = 1 << 52
MARKERS = (
    "ut of memory: Kill", "Killed process", "oom-kill", "oom_kill", "oom_reaper", "OOM", "oom killer", "oom-killer",
    "killed as a result of limit of", "memory: usage", "invoked oom", "Memory cgroup out of memory",
)  # fmt: skip


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield whom the kernel killed for memory, and who asked for one page too many."""
    limit: int | None = None
    invoked: Notice | None = None
    for n, line in enumerate(evidence.lines):
        if found := LIMIT.search(line):
            kb = int(found["limit"])
            limit = kb * 1024 if kb < NO_LIMIT_KB else None
        elif found := INVOKED.search(line):
            words = found[0]
            span = Span(evidence=evidence.name, first=n, last=n, words=words)
            subject = found["comm"]
            invoked = Notice(
                span=span,
                topic="oom-killer",
                text=words,
                subject=subject,
                mechanism="out-of-memory",
            )
            yield invoked
        else:
            yield from _killed(evidence.name, n, line, limit)
    # The head of the report alone: whom it killed stood further below.
    if invoked and not any(NAMES_VICTIM.search(line) for line in evidence.lines):
        yield MemoryKill(span=invoked.span, by="kernel")


def _killed(name: str, n: int, line: str, limit: int | None) -> Iterator[Fact]:
    """The victim that a line names, if it does."""
    for way in (KILLED, SECOND, SUMMARY, SYSTEM_EVENT, GROUP, REAPED):
        if found := way.search(line):
            said = found.groupdict()
            rss = RSS.search(line)
            yield MemoryKill(
                span=Span(evidence=name, first=n, last=n, words=found[0].strip()),
                by="cgroup" if limit or _in_group(said) else "kernel",
                victim=said.get("comm"),
                pid=int(said["pid"]) if said.get("pid") else None,
                limit_bytes=limit,
                used_bytes=int(rss["kb"]) * 1024 if rss and way is not REAPED else None,
            )
            return
    if found := BARE.search(line):
        span = Span(evidence=name, first=n, last=n, words=found[0])
        yield MemoryKill(span=span, by="cgroup" if "cgroup" in found[0] else "kernel")


def _in_group(said: dict[str, str | None]) -> bool:
    """Whether the words say that the limit was that of a control group."""
    return bool(said.get("memcg") or said.get("constraint") == "MEMCG" or said.get("group"))
