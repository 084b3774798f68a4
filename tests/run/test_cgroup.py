"""Control groups of both versions, from recorded files."""

from sigwhy.machine import cgroup as control
from sigwhy.run import cgroup

MOUNTS = """\
25 30 0:23 / /sys/fs/cgroup ro,nosuid,nodev,noexec - tmpfs tmpfs ro,mode=755
29 25 0:27 / /sys/fs/cgroup/memory rw,nosuid,nodev,noexec,relatime shared:10 - cgroup cgroup rw,memory
31 25 0:29 / /sys/fs/cgroup/pids rw,nosuid shared:11 - cgroup cgroup rw,pids
"""
UNIFIED = "42 30 0:28 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
EVENTS = "low 0\nhigh 12\nmax 5821\noom 3\noom_kill 2\noom_group_kill 0\n"
CONTROL = "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"


def test_the_hierarchies_of_version_1_are_told_apart_by_their_controllers():
    found = control.mounts(MOUNTS)
    assert [(m.version, m.point) for m in found] == [
        (1, "/sys/fs/cgroup/memory"),
        (1, "/sys/fs/cgroup/pids"),
    ]
    assert "memory" in found[0].controllers


def test_version_2_has_one_hierarchy():
    assert [(m.version, m.point) for m in control.mounts(UNIFIED)] == [(2, "/sys/fs/cgroup")]


def test_a_line_that_is_cut_off_is_skipped():
    assert control.mounts("31 25 0:29 / \n\n - cgroup") == []


def test_each_controller_has_its_group():
    told = control.groups("4:memory:/jobs/a:b\n3:cpu,cpuacct:/\n0::/user.slice (deleted)\n")
    assert told == {"memory": "/jobs/a:b", "cpu": "/", "cpuacct": "/", "": "/user.slice"}


def test_kills_are_counted_in_both_versions():
    assert control.rows(EVENTS)["oom_kill"] == 2
    assert control.rows(CONTROL)["oom_kill"] == 1


def test_no_limit_is_none():
    assert control.limit("max\n") is None
    assert control.limit("9223372036854771712\n") is None
    assert control.limit("") is None
    assert control.limit("314572800\n") == 314572800


def test_a_group_lies_below_its_mount():
    mount = control.Mount(2, "/", "/sys/fs/cgroup")
    assert mount.folder("/system.slice/a.service") == "/sys/fs/cgroup/system.slice/a.service"


def test_within_a_container_its_own_group_lies_at_the_mount():
    mount = control.Mount(1, "/docker/abc", "/sys/fs/cgroup/memory")
    assert mount.folder("/docker/abc") == "/sys/fs/cgroup/memory"
    assert mount.folder("/docker/abc/job") == "/sys/fs/cgroup/memory/job"
    assert mount.folder("/elsewhere") == "/sys/fs/cgroup/memory"
    assert mount.folder("/docker/abc/../xyz") == "/sys/fs/cgroup/memory"


def _group(tmp_path, monkeypatch, files):
    """A hierarchy of version 2 in a folder: ``/job`` below a parent with a limit of its own."""
    job = tmp_path / "job"
    job.mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    mount = control.Mount(2, "/", str(tmp_path))
    monkeypatch.setattr(cgroup, "_mounts", lambda: (mount,))
    return job


def test_the_lowest_limit_of_all_parents_counts(tmp_path, monkeypatch):
    _group(tmp_path, monkeypatch, {"memory.max": "1000\n", "job/memory.max": "max\n"})
    assert cgroup.Group.of("0::/job", 0.0).limit_bytes == 1000


def test_a_kill_is_seen_in_the_count_of_version_2(tmp_path, monkeypatch):
    job = _group(
        tmp_path,
        monkeypatch,
        {"job/memory.events": "oom_kill 1\n", "job/memory.current": "77\n", "job/pids.max": "12\n"},
    )
    group = cgroup.Group.of("0::/job", 2e10)
    assert (group.kills_before, group.usage_bytes(), group.most_threads) == (1, 77, 12)
    (job / "memory.events").write_text("oom_kill 2\n")
    group.count()
    assert group.kills == 2


def test_a_group_that_is_new_had_no_kills_before(tmp_path, monkeypatch):
    _group(tmp_path, monkeypatch, {"job/memory.events": "oom_kill 1\n"})
    assert cgroup.Group.of("0::/job", 0.0).kills_before == 0


def test_what_was_seen_last_stays_when_the_group_is_gone(tmp_path, monkeypatch):
    _group(tmp_path, monkeypatch, {"job/memory.events": "oom_kill 3\n"})
    group = cgroup.Group.of("0::/job", 2e10)
    group.close()
    group.count()
    assert group.kills == 3
    assert group.usage_bytes() == 0


def test_a_system_without_groups_has_none(monkeypatch):
    monkeypatch.setattr(cgroup, "_mounts", tuple)
    assert cgroup.Group.of("0::/", 0.0) is None
