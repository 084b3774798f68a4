"""Limits of the system that were met: threads, files, disk, shared memory, time, file size.

Looks like::

    OpenBLAS blas_thread_init: pthread_create failed for thread 2 of 64: Resource temporarily unavailable
    OpenBLAS blas_thread_init: RLIMIT_NPROC 4096 current, 4096 max
    RuntimeError: can't start new thread
    OSError: [Errno 24] Too many open files: '/data/train.bin'
    RuntimeError: received 0 items of ancdata
    OSError: [Errno 28] No space left on device
    ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sigwhy.model.fact import Limit, Notice, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

SHM = "/dev/shm"  # noqa: S108 -- the place is named to the user, nothing is written there
AGAIN = r"(?:Resource temporarily unavailable|EAGAIN|errno ?[=:]? ?11\b)"
FILE = r"(?:: ?['\"<](?P<file>[^'\">\n]{1,300})['\">])?"
# The resource, the words, and who speaks or asked where the row knows it.
WORDS: Final[tuple[tuple[str, str, str | None], ...]] = (
    # threads
    ("threads", r"OpenBLAS blas_thread_init: pthread_create(?:\(\))? failed|blas_thread_init: pthread_create", "OpenBLAS"),
    ("threads", r"Thread (?P<who>[\w./-]{1,80}) creation via pthread_create\(\) failed", None),
    ("threads", r"can't start new thread|can not start new thread|can't start a new thread", "Python threads"),
    ("threads", r"libgomp: Thread creation failed|\bThread creation failed", "libgomp"),
    ("threads", r"OMP: Error #34|System unable to allocate necessary resources for OMP thread|OMP: System error #11\b", "libomp"),
    ("threads", rf"what\(\):\s{{0,4}}(?:thread constructor failed: |boost::thread_resource_error: )?{AGAIN}|thread constructor failed|boost::thread_resource_error", "C++ threads"),
    ("threads", r"unable to create (?:new )?native thread|Cannot create GC thread|Failed to start thread", "Java threads"),
    ("threads", r"ThreadPoolBuildError|failed to spawn thread: Os|thread pool has not been initialized", "Rust threads"),
    ("threads", r"failed to create new OS thread|runtime/cgo: pthread_create failed", "Go threads"),
    ("threads", rf"pthread_create(?:\(\))?[^\n]{{0,80}}(?:failed|{AGAIN}|errno|returned|error|is 11\b)|{AGAIN} in pthread_create|failed on pthread_create|[Tt]hread(?:[._:]{{1,2}}|\s)create\w{{0,4}}(?:\(\))?[^\n]{{0,40}}{AGAIN}|[Ff]ailed to (?:create|spawn|start) (?:a )?(?:new )?(?:worker )?(?:thread|pthread)\b(?! pool)|[Cc]ould not create (?:a )?(?:new )?thread\b|[Uu]nable to create (?:a )?(?:new )?(?:worker )?thread\b", None),
    ("threads", rf"{AGAIN} \((?:src|bundled)/\S{{0,40}}thread\.cpp", "ZeroMQ"),
    # processes
    ("processes", rf"fork: (?:retry: )?{AGAIN}|fork: retry: |fork failed[^\n]{{0,40}}{AGAIN}|(?:unable|can't|cannot|failed) to fork\b[^\n]{{0,40}}{AGAIN}|BlockingIOError: \[Errno 11\] Resource temporarily unavailable\s{{0,4}}$|os\.fork[^\n]{{0,40}}{AGAIN}|vfork: {AGAIN}|Cannot fork", None),
    ("processes", r"pids\.max|fork rejected by pids controller", None),
    # descriptors
    ("descriptors", rf"(?:\[Errno (?:24|23)\] )?[Tt]oo many open files(?: in system)?{FILE}|os error 24\b|EMFILE\b|ENFILE\b", None),
    ("descriptors", r"received 0 items of ancdata", "PyTorch DataLoader"),
    ("descriptors", r"filedescriptor out of range in select|FD_SETSIZE", "select()"),
    # watches and semaphores say ENOSPC and mean no disk
    ("watches", r"inotify[^\n]{0,80}(?:limit reached|[Nn]o space left|ENOSPC)|ENOSPC: System limit for number of file watchers|watch limit reached", "inotify"),
    # shared memory
    ("maps", r"unable to mmap \d{1,18} bytes from file <(?P<who>/torch_[^>\n]{1,100})>: Cannot allocate memory \(12\)", None),
    ("descriptors", r"unable to open shared memory object <(?P<who>/torch_[^>\n]{1,100})> in read-write mode(?:: Too many open files[^\n]{0,10})?\s*$", None),
    ("shared-memory", r"unable to (?:allocate|write|resize|open|mmap)[^\n]{0,60}(?:shared memory|file) ?(?:\(shm\) )?[^\n]{0,30}<(?P<who>/torch_[^>\n]{1,100})>", None),
    ("shared-memory", r"(?:failed|unable) to extend (?P<who>/dev/shm/\S{1,120})|Error while (?:creating|attaching to) shared memory segment (?P<file>\S{1,120})", "NCCL"),
    ("shared-memory", r"(?P<who>/dev/shm)[^\n]{0,120}(?:No space left|is full|too small|not enough)|(?:No space left|not enough space|[Nn]ot enough shared memory)[^\n]{0,80}/dev/shm", SHM),
    ("shared-memory", r"not enough space (?:for|on) \S{1,200}[^\n]{0,40}shared[- ]memory backing file|[Uu]nable to (?:open|resize|allocate|create) shared memory|[Oo]ut of shared memory(?!\. Please|\.$)|insufficient shared memory space", SHM),
    ("shared-memory", r"\bshm\w{0,12}\.(?:h|cc|c|cpp):\d{1,5}\b[^\n]{0,80}No space left on device", SHM),
    # disk
    ("disk", rf"(?:\[Errno 28\] )?[Nn]o space left on device{FILE}|os error 28\b|ENOSPC\b|errno ?[=:]? ?28\b", None),
    ("disk", rf"(?:\[Errno (?:122|69)\] )?Dis[kc] quota exceeded{FILE}|EDQUOT\b|os error 122\b|quota exceeded[^\n]{{0,30}}(?:disk|storage|home)", "disk quota"),
    ("disk", r"WinError 112\]|[Nn]ot enough space on the disk|database or disk is full|[Dd]isk (?:is )?full\b|STATUS_DISK_FULL|No space on disk|[Ii]nsufficient (?:disk|storage) space|volume is full|磁盘空间不足|设备上没有空间|デバイスに空き領域がありません|Auf dem Gerät ist kein Speicherplatz mehr verfügbar|Aucun espace disponible sur le périphérique|No queda espacio en el dispositivo|На устройстве не осталось свободного места|Spazio esaurito sul dispositivo|Não há espaço disponível no dispositivo|장치에 남은 공간이 없음", None),
    ("disk", r"inline_container\.cc:\d{1,5}\]? ?\. unexpected pos|PytorchStreamWriter failed writing file", "torch.save"),
    # time, file size, address space, locked memory, maps
    ("cpu-time", r"(?:CPU|Cpu|cpu) ?time limit exceeded|SIGXCPU\b|RLIMIT_CPU\b", None),
    ("file-size", rf"[Ff]ile ?size limit exceeded|SIGXFSZ\b|\[Errno 27\] File too large{FILE}|EFBIG\b", None),
    ("locked-memory", r"memlock limits? (?:is|are) set too low|RLIMIT_MEMLOCK|allocate some locked memory|cannot lock memory|ibv_(?:reg_mr|create_qp|create_cq)[^\n]{0,60}(?:Cannot allocate|errno 12)", None),
    ("maps", r"vm\.max_map_count|max virtual memory areas", "vm.max_map_count"),
    ("address-space", r"RLIMIT_AS\b|(?:virtual memory|address space) (?:limit|ulimit)|failed to map segment from shared object: Cannot allocate memory", None),
)  # fmt: skip
ROWS = tuple((resource, re.compile(words), who) for resource, words, who in WORDS)
# OpenBLAS blas_thread_init: RLIMIT_NPROC 4096 current, 4096 max
NPROC = re.compile(r"RLIMIT_(?P<which>NPROC|NOFILE|STACK|AS|MEMLOCK) (?P<limit>-?\d{1,12}) current")
RESOURCES: Final = {
    "NPROC": "processes",
    "NOFILE": "descriptors",
    "STACK": "stack",
    "AS": "address-space",
    "MEMLOCK": "locked-memory",
}
# The sentences of those who guess that /dev/shm is full, beside a bus error which proves it.
SHM_BUS = re.compile(
    r"killed by signal: Bus error|[Uu]nexpected bus error encountered in worker|SIGBUS[^\n]{0,120}(?:shared memory|/dev/shm|shm)"
    r"|(?:shared memory|/dev/shm|shm)[^\n]{0,120}(?:SIGBUS|[Bb]us error)"
)
SHM_MAYBE = re.compile(
    r"out of shared memory\. Please|insufficient shared memory \(shm\)|raise your shared memory limit|increase[^\n]{0,40}(?:shm-size|/dev/shm|shared memory)|shm[-_]size"
)
SMALL_SHM = re.compile(
    r"(?:/dev/shm) has only (?P<bytes>\d{1,15}) bytes available|shared memory (?:size|limit)[^\n]{0,40}(?:64 ?MB?|67108864)|shm\s{1,8}(?:64M|65536)\s[^\n]{0,80}/dev/shm"
)
MARKERS = (
    "storage space", "backing file", "STATUS_DISK_FULL",
    "thread", "Thread", "fork", "ancdata", "oo many open files", "EMFILE", "ENFILE", "EAGAIN", "emporarily unavailable", "Errno", "errno",
    "os error", "inotify", "watch limit", "shared memory", "shm", "o space left", "pace on", "ENOSPC", "uota", "EDQUOT", "WinError 112", "isk",
    "unexpected pos", "PytorchStreamWriter", "ime limit exceeded", "ize limit exceeded", "SIGXCPU", "SIGXFSZ", "too large", "EFBIG", "memlock",
    "RLIMIT_", "locked memory", "ibv_", "max_map_count", "virtual memory", "address space", "failed to map segment", "OMP:", "pids", "filedescriptor",
    "FD_SETSIZE", "us error", "SIGBUS", "/torch_", "volume is full", "空间", "空き領域", "Speicherplatz", "espace disponible", "espacio", "места", "Spazio", "espaço",
    "공간", "EMPTY_DIR", "lock memory", "Cannot create GC",
)  # fmt: skip
# A lock on a file that another process holds is no limit.
NO_LIMIT = re.compile(
    r"unable to lock file|flock|[Ll]ock (?:is )?held|WouldBlock\b(?! |, message: \"Resource)"
)


ABOVE = 3


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the limits that were met."""
    for n, line in enumerate(evidence.lines):
        if (
            NO_LIMIT.search(line)
            or _forbidden(evidence, n)
            or not any(marker in line for marker in MARKERS)
        ):
            continue
        yield from _shared_memory(evidence.name, n, line)
        if found := NPROC.search(line):
            yield from _number(evidence.name, n, found)
            continue
        for resource, way, who in ROWS:
            if found := way.search(line):
                said = found.groupdict()
                yield Limit(
                    span=Span(evidence=evidence.name, first=n, last=n, words=found[0].strip()),
                    resource=resource,
                    who=said.get("who") or said.get("file") or who,
                )
                break


def _forbidden(evidence: Evidence, n: int) -> bool:
    """Whether the lines above said that shared memory was forbidden, not that it was full."""
    creating = "creating shared memory segment" in evidence.lines[n]
    above = evidence.lines[max(0, n - ABOVE) : n]
    return creating and any("ermission denied" in line for line in above)


def _number(name: str, n: int, found: re.Match[str]) -> Iterator[Fact]:
    """A limit whose number is printed; -1 is none."""
    limit = int(found["limit"])
    span = Span(evidence=name, first=n, last=n, words=found[0])
    resource = RESOURCES[found["which"]]
    yield Limit(span=span, resource=resource, limit=limit if limit >= 0 else None)


def _shared_memory(name: str, n: int, line: str) -> Iterator[Fact]:
    """What is said about /dev/shm: a page of it that was not there, or only that it is small."""
    for topic, way, mechanism in (
        ("shared-memory-full", SHM_BUS, "bus-error"),
        ("shared-memory-maybe", SHM_MAYBE, None),
        ("shared-memory-small", SMALL_SHM, None),
    ):
        if found := way.search(line):
            span = Span(evidence=name, first=n, last=n, words=found[0])
            yield Notice(span=span, topic=topic, text=found[0], subject=SHM, mechanism=mechanism)
            return
