"""Who ended a job and why, as batch systems, container platforms and memory guards say it.

Looks like::

    slurmstepd: error: Detected 1 oom-kill event(s) in StepId=487.batch cgroup.
    slurmstepd: error: *** JOB 487 ON node3 CANCELLED AT 2024-02-01T10:00:00 DUE TO TIME LIMIT ***
    srun: error: node3: task 0: Segmentation fault (core dumped)
        Reason:       OOMKilled
    =>> PBS: job killed: walltime 3620 exceeded limit 3600
    TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.
    4 Workers (tasks / actors) killed due to memory pressure (OOM)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sigwhy.machine import signals
from sigwhy.machine.sizes import SIZE, bytes_of
from sigwhy.model.fact import Death, Limit, MemoryKill, Notice, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

# Who killed for memory, his words, and the unit of his numbers where he writes none.
MEMORY: Final = tuple(
    (by, re.compile(pattern), unit)
    for by, pattern, unit in (
        ("slurm", r"Detected \d{1,9} oom[-_]kill event(?:\(s\)|s)? in (?:StepId|step|job)", ""),
        ("slurm", r"[Ee]xceeded (?:job|step) (?:virtual )?memory limit(?: at some point)?", ""),
        ("slurm", r"(?:[Jj]ob|[Ss]tep)\S{0,40} (?:\S{1,40} )?exceeded (?:virtual )?memory limit(?: \((?P<used>\d{1,15}) ?> ?(?P<limit>\d{1,15})\))?", "k"),
        ("slurm", r"(?:srun|slurmstepd): error: [^\n]{0,200}: (?:Out [Oo]f Memory|OUT_OF_MEMORY)", ""),
        ("slurm", r"\bOUT_OF_ME(?:MORY|\+)", ""),
        ("slurm", r"Some of your (?:processes|step tasks) (?:may have been|have been) (?:OOM )?killed by the cgroup out-of-memory handler", ""),
        ("kubernetes", r"\bOOMKilled\b(?!\"?: ?(?:false|true))|\bOOMKilling\b", ""),
        ("cgroup", r"\"OOMKilled\": ?true|OOMKilled[=:] ?true", ""),
        ("cgroup", r"container oom\b", ""),
        ("kubernetes", r"node was low on resource: (?:\[?MemoryPressure|memory)", ""),
        ("ray", r"[Ww]orkers? \(tasks / actors\) killed due to memory pressure \(OOM\)", ""),
        ("ray", rf"on the node [^\n]{{0,300}}? was (?P<used>{SIZE}) ?/ ?(?P<limit>{SIZE})[^\n]{{0,60}}? exceeds the memory usage threshold", ""),
        ("ray", r"(?:[Tt]ask|[Aa]ctor|[Ww]orker)s? (?:was|were) killed due to (?:the node running low on memory|memory pressure)|ray\.exceptions\.OutOfMemoryError", ""),
        ("ray", r"RayOutOfMemoryError: More than \d{1,3}% of the memory", ""),
        ("lsf", r"TERM_(?:MEMLIMIT|SWAP)\b|job killed after reaching LSF (?:memory|swap) usage limit", ""),
        ("pbs", r"PBS: job killed: (?:v|p)?mem (?P<used>\d{1,15}[kmgb]{0,2}) exceeded limit (?P<limit>\d{1,15}[kmgb]{0,2})", ""),
        ("pbs", r"PBS: job killed: (?:cgroup )?(?:mem|oom)|Cgroup (?:mem|memsw) limit exceeded: oom-kill|[Jj]ob exceeded (?:its )?memory (?:allocation|limit)", ""),
        ("sge", r"exceed(?:s|ed) job hard limit \"(?:h_vmem|h_rss|h_data|mem_free|s_vmem)\"[^\n(]{0,80}(?:\((?P<used>[\d.]{1,20}[KMG]?) ?> ?(?:limit:)?(?P<limit>[\d.]{1,20}[KMG]?)\))?", ""),
        ("condor", r"[Jj]ob has gone over (?:cgroup )?memory limit of (?P<limit>\d{1,12}) megabytes", "m"),
        ("yarn", r"(?:running|is running) beyond (?:physical|virtual) memory limits[^\n]{0,40}(?:Current usage: (?P<used>[\d.]{1,12} [KMGT]?B) of (?P<limit>[\d.]{1,12} [KMGT]?B))?", ""),
        ("yarn", r"Container killed by YARN for exceeding (?:physical |virtual )?memory limits\.? ?(?:(?P<used>[\d.]{1,12} [KMGT]?B) of (?P<limit>[\d.]{1,12} [KMGT]?B))?", ""),
        ("systemd-oomd", r"systemd-oomd killed \d{1,6} process|systemd-oomd\S{0,12}: Killed \S{1,300}|Killed \S{1,300} due to memory (?:pressure|used)", ""),
        ("systemd", r"process of this unit has been killed by the OOM killer|with result 'oom-kill'|result=oom-kill", ""),
        ("earlyoom", r"earlyoom\S{0,12}: (?:sending SIG|Killing process)|low memory! at or below SIG(?:TERM|KILL) limits|sending SIG(?:TERM|KILL) to process \d{1,10} [^\n]{0,80}badness", ""),
        ("android", r"(?:lowmemorykiller|lmkd?)\b\S{0,12}[^\n]{0,12}: ?(?:Killing|Kill|kill) '(?P<victim>[^'\n]{1,120})' \((?P<pid>\d{1,10})\)", ""),
        ("android", r"Killing \d{1,10}:\S{1,160} \(adj -?\d{1,5}\): (?:empty|low memory|cached)|am_low_memory|REASON_LOW_MEMORY|reason=3 \(LOW_MEMORY\)", ""),
        ("macos", r"(?:memorystatus|memorystatus_\w{1,30}): killing[^\n]{0,40}? pid (?P<pid>\d{1,10}) \[(?P<victim>[^\]\n]{1,64})\]|JETSAM_REASON_MEMORY\w{0,30}|per-process-limit|[Tt]erminated due to memory issue", ""),
        ("colab", r"session crashed after using all available RAM|crashed for an unknown reason[^\n]{0,40}RAM", ""),
        ("kaggle", r"notebook tried to allocate more memory than is available", ""),
        ("streamlit", r"gone over its resource limits", ""),
        ("cloud run", rf"[Mm]emory limit of (?P<limit>{SIZE}) exceeded with (?P<used>{SIZE}) used", "m"),
        ("cloud", rf"[Ee]xceeded (?:soft|hard) (?:private )?memory limit of (?P<limit>{SIZE})", "m"),
        ("heroku", r"Error R1[45] \(Memory quota (?:vastly )?exceeded\)", ""),
        ("aws", r"OutOfMemoryError: Container killed due to memory usage|Runtime\.OutOfMemory\b", ""),
        ("dask", r"exceeded \d{1,3}% memory budget\.? Restarting", ""),
        ("batch system", r"^(?![^\n]{0,200}\b(?:may|might|could|would|if|when|avoid|prevent)\b)[^\n]{0,200}\b[Jj]ob[^\n]{0,40}(?:killed|terminated|exceed\w{0,3})[^\n]{0,40}\b[Mm]emory (?:usage|limit|quota|request|allocation)", ""),
        ("databricks", r"[Dd]river (?:is|was) (?:up but is not responsive, likely due to GC|killed by OOM)|ran out of memory and had to be restarted", ""),
    )
)  # fmt: skip
# What else ends a job from outside: what it was, and the words.
ENDED: Final = tuple(
    (what, re.compile(pattern))
    for what, pattern in (
        ("time limit", r"CANCELLED AT \S{1,40} DUE TO TIME LIMIT"),
        ("preemption", r"CANCELLED AT \S{1,40} DUE TO PREEMPTION"),
        ("node failure", r"CANCELLED AT \S{1,40} DUE TO (?:NODE FAILURE|SIGNAL)|\bNODE_FAIL\b"),
        ("cancelled", r"\*\*\* (?:JOB|STEP) \S{1,40} ON \S{1,200} CANCELLED AT|CANCELLED by \d{1,10}|scancel\b"),
        ("time limit", r"TERM_(?:RUNLIMIT|CPULIMIT)\b|reaching LSF run time limit"),
        ("owner", r"TERM_(?:OWNER|ADMIN|FORCE_OWNER|FORCE_ADMIN)\b|job killed by (?:the )?(?:owner|user|root)"),
        ("preemption", r"TERM_PREEMPT\b|(?:[Pp]od|[Jj]ob|instance|Instance|VM|worker) (?:was |has been )?(?:[Pp]reempted|reclaimed)|[Ss]pot (?:instance|interruption)[^\n]{0,40}(?:terminat|interrupt|reclaim)"),
        ("time limit", r"PBS: job killed: (?:walltime|cput|cpupercent|ncpus) \S{1,30} (?:\(sum\) )?exceeded limit"),
        ("time limit", r"exceeded hard wallclock time|exceed(?:s|ed) job hard limit \"(?:h_rt|h_cpu|s_rt)\"|qmaster enforced h_rt"),
        ("deadline", r"[Rr]eason\S{0,3}\s{1,20}DeadlineExceeded\b|[Jj]ob was active longer than specified deadline"),
        ("eviction", r"(?:[Rr]eason|STATUS|[Ss]tatus)\W{1,20}Evicted\b|\d/\d\s{1,20}Evicted\b|The node was low on resource: (?!memory|\[?Mem|ephemeral)"),
        ("liveness probe", r"failed liveness probe, will be restarted|Liveness probe failed"),
        ("termination", r"Stopping container \S{1,80}$|Killing container with id"),
        ("shutdown", r"[Rr]unner has received a shutdown signal|The operation was canceled|The job was canceled|Received shutdown signal"),
        ("time limit", r"The job running on runner [^\n]{1,80} has exceeded the maximum execution time|execution took longer than \S{1,20}|Job exceeded (?:the )?(?:maximum )?(?:time|runtime) limit"),
        ("time limit", r"Timeout has been exceeded|Cancelling nested steps due to timeout|Sending interrupt signal to process"),
        ("time limit", r"timeout: sending signal \w{1,8} to command|Task timed out after \d{1,6}(?:\.\d{1,3})? seconds|No output has been received in the last"),
        ("time limit", r"\bCANCELLED\b[^\n]{0,40}\bTIME(?:OUT| LIMIT)\b|State(?:=|: )TIMEOUT\b"),
        ("worker timeout", r"WORKER TIMEOUT \(pid:\d{1,10}\)|Hard time limit \(\d{1,9}(?:\.\d)?s\) exceeded|HARAKIRI"),
        ("stop", r"[Rr]eceived (?:signal 15|SIGTERM)\b[^\n]{0,20}(?:shut|stop|terminat|exit|clos|clean)|[Ss]topping (?:gracefully|due to SIGTERM)"),
        ("interrupted session", r"got signal: (?:1|2|15)\b"),
    )
)  # fmt: skip
# srun: error: node3: tasks 0-3: Segmentation fault (core dumped)
TASK = re.compile(
    r"srun: error: \S{1,200}: tasks? [\d,-]{1,200}: (?P<word>[A-Z][\w/ -]{2,40}?)(?: \(core dumped\))?\s{0,8}$"
)
DISK = re.compile(
    r"node was low on resource: ephemeral-storage|ephemeral local storage usage exceeds the total limit of containers (?P<a>\S{1,20})"
    r"|Usage of EmptyDir volume \"(?P<volume>[^\"\n]{1,80})\" exceeds the limit \"(?P<b>[^\"\n]{1,20})\"|node (?:has|had) condition: \[?DiskPressure"
)
NOT_OOM = re.compile(r"\"OOMKilled\": ?false")

MARKERS = (
    "not responsive", "Killing", "badness", "swap usage limit",
    "oom", "OOM", "emory", "OUT_OF_ME", "MEMLIMIT", "TERM_", "PBS:", "job hard limit", "beyond", "CANCELLED", "TIMEOUT", "imeout",
    "Evicted", "reempt", "DeadlineExceeded", "deadline", "low on resource", "probe", "canceled", "shutdown", "scancel", "EmptyDir",
    "ephemeral", "srun: error", "h_rt", "time limit", "sending signal", "timed out", "execution t", "job killed by", "DiskPressure",
    "lowmemorykiller", "lmk", "JETSAM", "per-process-limit", "RAM", "MEMORY", "NODE_FAIL", "HARAKIRI", "eceived", "topping",
    "got signal", "container with id", "resource limits", "reclaim", "pot in", "No output has been", "wallclock", "interrupt signal",
    "enforced",
)  # fmt: skip


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield who ended a job, and why he says he did."""
    for n, line in enumerate(evidence.lines):
        if not any(marker in line for marker in MARKERS):
            continue
        yield from _for_memory(evidence.name, n, line)
        yield from _for_other_reasons(evidence.name, n, line)
        if (found := TASK.search(line)) and (signal := signals.signal_named(found["word"])):
            yield Death(span=_span(evidence.name, n, found["word"]), signal=signal)


def _for_memory(name: str, n: int, line: str) -> Iterator[Fact]:
    for by, way, unit in MEMORY:
        if found := way.search(line):
            said = found.groupdict()
            yield MemoryKill(
                span=_span(name, n, found[0]),
                by=by,
                victim=said.get("victim"),
                pid=int(said["pid"]) if said.get("pid") else None,
                limit_bytes=bytes_of(said.get("limit"), unit=unit),
                used_bytes=bytes_of(said.get("used"), unit=unit),
            )
            return
    if found := NOT_OOM.search(line):
        yield Notice(span=_span(name, n, found[0]), topic="not-out-of-memory", text=found[0])


def _for_other_reasons(name: str, n: int, line: str) -> Iterator[Fact]:
    for what, way in ENDED:
        if found := way.search(line):
            yield Notice(
                span=_span(name, n, found[0].strip()),
                topic="ended-from-outside",
                text=found[0].strip(),
                subject=what,
                mechanism="killed",
            )
            return
    if found := DISK.search(line):
        limit = bytes_of(found["a"] or found["b"])
        where = found["volume"] or "ephemeral storage"
        yield Limit(span=_span(name, n, found[0]), resource="disk", limit=limit, who=where)


def _span(name: str, n: int, words: str) -> Span:
    return Span(evidence=name, first=n, last=n, words=words)
