"""Leak or demand, told from readings."""

import pytest

from sigwhy.autopsy import autopsy
from sigwhy.explain import judge
from sigwhy.model.case import Gathered
from sigwhy.model.fact import Growth, MemoryKill, Notice
from sigwhy.model.incident import Incident, Memory, Sample, Signal, Spot

MIB = 1 << 20
KILLED = Signal(name="SIGKILL", number=9)


def _samples(*megabytes, seconds=100.0, asked=None):
    """Readings at even distances; what was asked for grows with them where nothing else is said."""
    count = len(megabytes) - 1
    asked = asked or megabytes
    return [
        Sample(n * seconds / count, m * MIB, virtual_bytes=v * MIB)
        for n, (m, v) in enumerate(zip(megabytes, asked, strict=True))
    ]


def _incident(samples, **memory):
    return Incident(
        pid=7,
        tid=7,
        command=["python", "train.py"],
        signal=KILLED,
        memory=Memory(
            samples=samples,
            **{"oom_kills_before": 0, "oom_kills_after": 1, "group": "/job", **memory},
        ),
    )


def _facts(incident, kind):
    return [fact for fact in autopsy(incident).facts if isinstance(fact, kind)]


def _cause(incident):
    verdict = judge(Gathered(()), incident).verdict
    return verdict.cause.id if verdict else None


STEADY = tuple(range(100, 1100, 25))
LEAP = (100,) * 30 + (110, 105, 900, 1000)
FILLED = (100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)


def test_growth_in_each_third_is_a_leak():
    incident = _incident(_samples(*STEADY))
    assert [g.shape for g in _facts(incident, Growth)] == ["steady"]
    assert _cause(incident) == "memory-leak"


def test_one_big_step_is_a_demand():
    incident = _incident(_samples(*LEAP))
    assert [g.shape for g in _facts(incident, Growth)] == ["step"]
    assert _cause(incident) == "memory-demand"


def test_filling_what_was_asked_for_at_once_is_a_demand_however_steady_it_looks():
    incident = _incident(_samples(*FILLED, asked=(1200,) * len(FILLED)))
    assert [g.shape for g in _facts(incident, Growth)] == ["step"]


def test_what_a_program_asked_for_while_it_began_does_not_hide_the_one_big_piece():
    asked = (100, 300, 900, 1900, 1900, 1900, 1900, 1900, 1900, 1900)
    incident = _incident(_samples(*FILLED, asked=asked))
    assert [g.shape for g in _facts(incident, Growth)] == ["step"]


def test_saving_needs_its_copy_at_once_however_many_parts_it_has():
    places = ["/env/lib/python3.11/json/__init__.py:9 in dumps()", "/home/me/t.py:3 in f()"]
    incident = _incident(_samples(*STEADY), spots=[Spot(50.0, MIB, places)])
    assert [g.shape for g in _facts(incident, Growth)] == ["step"]


def test_one_line_that_asks_again_and_again_is_a_leak_however_fast():
    spots = [Spot(0.2, 300 * MIB, ["/x/a.py:3 in f()"]), Spot(0.4, 900 * MIB, ["/x/a.py:3 in f()"])]
    incident = _incident(_samples(100, 300, 900, 1000, seconds=0.5), spots=spots)
    assert [g.shape for g in _facts(incident, Growth)] == ["steady"]


def test_a_fast_growth_at_two_places_is_a_demand():
    spots = [Spot(0.2, 300 * MIB, ["/x/a.py:3 in f()"]), Spot(0.4, 900 * MIB, ["/x/a.py:9 in g()"])]
    incident = _incident(_samples(100, 300, 900, 1000, seconds=0.5), spots=spots)
    assert [g.shape for g in _facts(incident, Growth)] == ["step"]


def test_a_fast_growth_that_nobody_looked_at_is_left_open():
    incident = _incident(_samples(100, 500, 1000, seconds=0.1))
    assert not _facts(incident, Growth)
    assert any("was not seen" in line for line in autopsy(incident).evidence[0].lines)


def test_the_place_is_the_users_own_line():
    places = ["/env/lib/python3.11/site-packages/numpy/a.py:1 in ones()", "/home/me/t.py:3 in f()"]
    lines = autopsy(_incident(_samples(*STEADY), spots=[Spot(50.0, MIB, places)])).evidence[0].lines
    assert any("Python was at /home/me/t.py:3" in line for line in lines)


def test_a_count_that_moved_is_a_proof():
    (kill,) = _facts(_incident(_samples(*STEADY), group_limit_bytes=1 << 30), MemoryKill)
    assert (kill.pid, kill.limit_bytes, kill.by) == (7, 1 << 30, "cgroup")


def test_a_count_of_the_whole_machine_that_stood_still_rules_memory_out():
    incident = _incident(
        _samples(*(100,) * 10),
        oom_kills_after=0,
        machine_kills_before=4,
        machine_kills_after=4,
    )
    assert [n.topic for n in _facts(incident, Notice)] == ["not-out-of-memory"]
    report = judge(Gathered(()), incident)
    assert report.verdict.cause.id == "external-kill"
    assert report.seen.mechanism.id == "killed"


def test_without_any_count_nothing_is_ruled_out():
    incident = _incident([], oom_kills_before=None, oom_kills_after=None)
    assert not _facts(incident, Notice)
    assert not _facts(incident, MemoryKill)


def test_a_kill_of_somebody_else_on_the_machine_rules_nothing_out():
    incident = _incident([], oom_kills_after=0, machine_kills_before=4, machine_kills_after=5)
    assert not _facts(incident, Notice)


def test_what_the_kernel_wrote_is_read():
    incident = Incident(
        pid=811,
        signal=KILLED,
        kernel=["[   10.4] Memory cgroup out of memory: Killed process 811 (python) anon-rss:9kB"],
    )
    report = judge(Gathered(()), incident)
    assert any(isinstance(fact, MemoryKill) for fact in report.case.facts)


@pytest.mark.parametrize("signal", ["SIGSEGV", "SIGTERM"])
def test_other_signals_are_not_explained_by_growth(signal):
    incident = Incident(
        signal=Signal(name=signal, number=11), memory=Memory(samples=_samples(*STEADY))
    )
    assert not _facts(incident, Growth)
