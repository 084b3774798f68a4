"""The folder in which Incidents are kept."""

import errno
import os
import time

import pytest

from sigwhy.autopsy import incident_file
from sigwhy.model.incident import Incident
from sigwhy.run import shelf
from sigwhy.run.shelf import Shelf

AT = "2026-11-19T21:45:03.123+00:00"
DIED = Incident(at=AT, pid=811, command=["/usr/bin/python3", "-u", "jobs/train.py", "--x"])


def _old(folder, name, *, age=100, size=10):
    path = folder / name
    path.write_bytes(b"x" * size)
    os.utime(path, (time.time() - age,) * 2)
    return path


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["/usr/bin/python3", "-u", "jobs/train.py"], "train"),
        (["/opt/a b/run me"], "run_me"),
        (["sh", "-c", "ls"], "sh"),
        (["../../.hidden"], "hidden"),
        (["-"], "command"),
        ([], "command"),
        (["é" * 300], "_"),
        (["x" * 300], "x" * 60),
    ],
)
def test_a_name_tells_program_date_time_and_process(command, name):
    assert shelf.name(Incident(at=AT, pid=811, command=command)) == f"{name}-20261119-214503-811"


def test_every_name_is_one_that_is_found_again():
    for command in (["a"], [".x"], ["é"], ["a b.py"], ["x" * 500]):
        assert shelf.NAME.match(shelf.name(Incident(at=AT, command=command)) + ".sigwhy")


def test_a_new_folder_is_for_its_owner_alone(tmp_path):
    kept = Shelf(tmp_path / "a" / "b").put(DIED, None)
    assert kept.path.name == "train-20261119-214503-811.sigwhy"
    assert kept.path.parent.stat().st_mode & 0o777 == 0o700
    assert kept.path.stat().st_mode & 0o777 == 0o600
    assert incident_file.read(kept.path).pid == 811


def test_a_folder_that_is_there_keeps_its_rights(tmp_path):
    tmp_path.chmod(0o755)
    Shelf(tmp_path).put(DIED, None)
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_nothing_is_written_over(tmp_path):
    paths = [Shelf(tmp_path).put(DIED, None).path for _ in range(3)]
    assert len(set(paths)) == 3


def test_a_link_under_the_name_is_not_followed(tmp_path):
    target = tmp_path / "precious"
    target.write_text("mine")
    (tmp_path / "train-20261119-214503-811.sigwhy").symlink_to(target)
    Shelf(tmp_path).put(DIED, None)
    assert target.read_text() == "mine"


def test_the_oldest_go_first(tmp_path):
    for n in range(5):
        _old(tmp_path, f"a-20261119-00000{n}-1.sigwhy", age=100 - n)
    Shelf(tmp_path, keep=3).put(DIED, None)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "a-20261119-000003-1.sigwhy",
        "a-20261119-000004-1.sigwhy",
        "train-20261119-214503-811.sigwhy",
    ]


def test_bytes_are_counted_too(tmp_path):
    for n in range(5):
        _old(tmp_path, f"a-20261119-00000{n}-1.sigwhy", age=100 - n, size=10_000)
    Shelf(tmp_path, keep_bytes=25_000).put(DIED, None)
    assert len(list(tmp_path.iterdir())) == 3


def test_the_newest_stays_even_where_nothing_may(tmp_path):
    kept = Shelf(tmp_path, keep=0, keep_bytes=0).put(DIED, None)
    assert list(tmp_path.iterdir()) == [kept.path]


def test_what_is_not_ours_is_never_touched(tmp_path):
    foreign = [
        _old(tmp_path, name)
        for name in ("notes.sigwhy", "a-2026-1.sigwhy", "a-20261119-000000-1.txt", "core")
    ]
    folder = tmp_path / "b-20261119-000000-1.sigwhy"
    folder.mkdir()
    target = _old(tmp_path, "precious")
    link = tmp_path / "c-20261119-000000-1.sigwhy"
    link.symlink_to(target)
    Shelf(tmp_path, keep=0).put(DIED, None)
    assert all(path.exists() for path in (*foreign, folder, target, link))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_what_belongs_to_somebody_else_is_never_touched(tmp_path):
    other = _old(tmp_path, "a-20261119-000000-1.sigwhy")
    os.chown(other, 65534, 65534)
    Shelf(tmp_path, keep=0).put(DIED, None)
    assert other.exists()


def test_what_a_kill_left_half_written_goes_after_an_hour(tmp_path):
    torn, young = (
        _old(tmp_path, ".writing-abc.sigwhy", age=7200),
        _old(tmp_path, ".writing-x.sigwhy"),
    )
    Shelf(tmp_path).put(DIED, None)
    assert (torn.exists(), young.exists()) == (False, True)


def test_a_folder_that_cannot_be_made_is_told_in_a_line(tmp_path):
    (tmp_path / "file").write_text("")
    kept = Shelf(tmp_path / "file" / "x").put(DIED, None)
    assert kept.path is None
    assert "could not be kept" in kept.word


def test_a_full_disk_is_told_in_a_line(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(incident_file, "write", full)
    kept = Shelf(tmp_path).put(DIED, None)
    assert (kept.path, "No space left" in kept.word) == (None, True)


def test_without_room_for_the_core_the_rest_is_kept(tmp_path, monkeypatch):
    core = tmp_path / "core"
    core.write_bytes(b"x")
    really = incident_file.write

    def narrow(path, incident, core):
        if core:
            raise OSError(errno.ENOSPC, "No space left on device")
        really(path, incident, core)

    monkeypatch.setattr(incident_file, "write", narrow)
    kept = Shelf(tmp_path / "s").put(DIED, core)
    assert kept.path.exists()
    assert "without it" in kept.word
