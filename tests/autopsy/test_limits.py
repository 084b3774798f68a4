"""Limits and full stores, told from the numbers at the end."""

from sigwhy.autopsy import autopsy
from sigwhy.explain import judge
from sigwhy.model.case import Gathered
from sigwhy.model.fact import Limit, Notice
from sigwhy.model.incident import Incident, Mapping, Memory, Signal

MIB = 1 << 20
BUS = Signal(name="SIGBUS", number=7, code="BUS_ADRERR", code_number=2, address=0x7F0000005000)
STORE = "/dev/shm"  # noqa: S108 -- a name, nothing is written
SHM = Mapping(0x7F0000000000, 0x7F0000100000, "rw-s", 0, f"{STORE}/psm_1")
FILE = Mapping(0x7F0000000000, 0x7F0000100000, "r--s", 0, "/data/shard.bin")


def _judged(incident):
    report = judge(Gathered(()), incident)
    mechanism = report.seen.mechanism.id if report.seen else None
    return mechanism, report.verdict.cause.id if report.verdict else None, report.culprit


def _topics(incident):
    return [f.topic for f in autopsy(incident).facts if isinstance(f, Notice)]


def test_a_full_shared_memory_is_told_from_a_cut_file():
    free = {SHM.path: MIB, "free:" + SHM.path: 0, "whole:" + SHM.path: 64 * MIB}
    mechanism, cause, culprit = _judged(Incident(signal=BUS, mappings=[SHM], sizes=free))
    assert (mechanism, cause, culprit.name) == ("bus-error", "storage-full", STORE)


def test_a_file_that_ends_before_the_page_was_cut():
    sizes = {FILE.path: 4096, "free:" + FILE.path: 1 << 30}
    mechanism, cause, culprit = _judged(Incident(signal=BUS, mappings=[FILE], sizes=sizes))
    assert (mechanism, cause, culprit.file) == ("bus-error", "file-truncated", "/data/shard.bin")


def test_a_store_with_room_is_not_full():
    sizes = {FILE.path: MIB, "free:" + FILE.path: 1 << 30}
    assert "store-full" not in _topics(Incident(signal=BUS, mappings=[FILE], sizes=sizes))


def test_a_signal_of_a_limit_is_told_with_its_number():
    incident = Incident(signal=Signal(name="SIGXCPU", number=24), limits={"cpu time": "60"})
    limits = [f.limit for f in autopsy(incident).facts if isinstance(f, Limit)]
    assert limits == [60]
    assert _judged(incident)[:2] == ("resource-limit", "os-limit")


def test_a_kill_at_the_hard_limit_of_processor_time_is_that_limit():
    incident = Incident(
        signal=Signal(name="SIGKILL", number=9),
        limits={"cpu time": "60", "cpu time, hard": "60"},
        memory=Memory(processor_seconds=59.8, machine_kills_before=0, machine_kills_after=0),
    )
    assert _judged(incident)[1] == "os-limit"


def test_threads_that_the_group_refused_are_counted():
    incident = Incident(
        signal=Signal(name="SIGSEGV", number=11),
        memory=Memory(refused_threads=3, most_threads=12, group="/job"),
    )
    mechanism, cause, culprit = _judged(incident)
    assert (mechanism, cause, culprit.name) == ("resource-limit", "os-limit", "pids.max")


def test_a_refused_allocation_under_a_limit_blames_the_limit():
    incident = Incident(
        exit_status=1,
        limits={"address space": str(150 * MIB)},
        stderr="OpenBLAS error: Memory allocation still failed after 10 retries, giving up.\n",
    )
    mechanism, cause, culprit = _judged(incident)
    assert (mechanism, cause, culprit.name) == ("resource-limit", "os-limit", "RLIMIT_AS")


def test_a_limit_that_is_far_away_is_not_spoken_of():
    incident = Incident(
        signal=Signal(name="SIGSEGV", number=11),
        limits={"address space": str(1 << 40)},
        mappings=[FILE],
    )
    assert _topics(incident) == []


def test_an_address_space_that_is_used_up_is_told():
    whole = Mapping(0x10000, 0x10000 + 900 * MIB, "rw-p")
    incident = Incident(
        signal=Signal(name="SIGSEGV", number=11),
        limits={"address space": str(920 * MIB), "data size": "unlimited"},
        mappings=[whole],
    )
    assert _topics(incident) == ["memory-limit-met"]
