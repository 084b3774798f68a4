"""The sampler, without any process."""

import os
import resource

import pytest

from sigwhy.run import timeline
from sigwhy.run.cgroup import Group
from sigwhy.run.supervise import Member
from sigwhy.run.timeline import MOST_SAMPLES, Series, Timeline

MIB = 1 << 20


class Counted(Group):
    """A group whose count is what the test says."""

    def __init__(self, kills=0):
        super().__init__("/job", 1, "", "", kills=kills, kills_before=kills, limit_bytes=100 * MIB)
        self.truth = kills

    def count(self):
        self.kills = self.truth


def _with(group, *pids):
    line = Timeline()
    for pid in pids:
        line.series[pid] = Series(began=0.0, group=group)
        line.living.add(pid)
    return line


def test_a_long_past_is_thinned_and_the_last_readings_stay_whole():
    series = Series(began=0.0)
    for n in range(10_000):
        series.add(float(n), n, n)
    times = [sample[0] for sample in series.samples]
    assert len(times) <= MOST_SAMPLES
    assert times == sorted(times)
    assert times[-30:] == [float(n) for n in range(9970, 10_000)]
    assert times[0] == 0.0


def test_whoever_dies_first_when_the_count_has_moved_is_the_victim():
    group = Counted(kills=3)
    line = _with(group, 1, 2, 3)
    line.ended(1, killed=True)
    group.truth = 4
    line.ended(2, killed=True)
    line.ended(3, killed=True)
    assert line.killed_for_memory == [2]


def test_an_end_by_another_way_is_no_kill_for_memory():
    group = Counted()
    line = _with(group, 1)
    group.truth = 1
    line.ended(1, killed=False)
    assert line.killed_for_memory == []


def test_the_end_is_foreseen_from_what_processes_hold_and_not_from_the_cache():
    line = _with(Counted(), 1)
    line.free_bytes = 1 << 40
    line.series[1].add(0.0, 40 * MIB, 0)
    line.series[1].add(1.0, 60 * MIB, 0)
    full, left = line.nearest()
    assert full == pytest.approx(0.6)
    assert left == pytest.approx(2.0)


def test_what_is_shared_is_not_counted_twice():
    line = _with(Counted(), 1, 2)
    for pid in (1, 2):
        line.series[pid].add(0.0, 60 * MIB, 0)
        line.series[pid].own_share = 0.5
    assert line.tree_bytes([Member(1), Member(2)]) == 60 * MIB


def test_this_very_process_can_be_read():
    line = Timeline()
    me = {os.getpid(): Member(os.getpid(), command=("me",))}
    assert line.tick(me) > 0
    told = line.memory(os.getpid())
    assert told.samples[0].resident_bytes > MIB
    assert told.samples[0].virtual_bytes > told.samples[0].resident_bytes
    assert told.machine_bytes > told.free_bytes > 0
    line.close()


def test_a_process_that_is_gone_costs_nothing_and_tells_nothing():
    line = Timeline()
    line.tick({1 << 30: Member(1 << 30, command=("gone",))})
    assert line.memory(1 << 30).samples == []


def test_readings_come_seldom_while_nothing_changes():
    line = Timeline()
    me = {os.getpid(): Member(os.getpid(), command=("me",))}
    waits = []
    for _ in range(30):
        line._due = 0.0
        waits.append(line.tick(me))
    assert waits[-1] == pytest.approx(timeline.SLOWEST, rel=0.01) or waits[-1] > timeline.SLOWEST


def test_only_limits_that_are_set_are_told():
    def ask(_, number):
        return (5, 9) if number == resource.RLIMIT_CPU else (resource.RLIM_INFINITY,) * 2

    assert timeline.limits_of(1, ask) == {"cpu time": "5", "cpu time, hard": "9"}
