"""What a machine still knows of a death, from recorded pieces."""

import os
import time
from pathlib import Path

import pytest

from sigwhy.autopsy import incident_file
from sigwhy.explain import explain
from sigwhy.model.incident import Incident, Signal
from sigwhy.run import found, kernel_log, old_cores
from sigwhy.run.found import Piece, Sought
from sigwhy.run.kernel_log import Line

SEGFAULT = "python3[811]: segfault at 8 ip 00007f5459185ad8 sp 00007ffd0000a2c0 error 4 in libk.so[1000+1000]"
KILLED = "Memory cgroup out of memory: Killed process 900 (train) total-vm:9kB, anon-rss:9kB"
TRAP = "traps: worker[77] trap invalid opcode ip:7f54 sp:7ffd error:0 in libk.so[1000+1000]"


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine that knows nothing but what the test tells it."""
    now = time.monotonic()
    log = []
    monkeypatch.setattr(kernel_log, "lines", lambda since: [x for x in log if x.seconds >= since])
    monkeypatch.setattr(found.shutil, "which", lambda _: None)
    monkeypatch.setattr(old_cores, "pattern", lambda: "core")
    monkeypatch.setattr(old_cores, "SYSTEMD", str(tmp_path / "none"))

    def says(words, ago):
        log.append(Line(now - ago, words))

    return says


def _last(tmp_path, **sought):
    return found.last(Sought(here=tmp_path, **sought))


def _mechanism(told):
    report = explain(*told.sources)
    return report.seen.mechanism.id if report.seen else None


def test_nothing_known_says_where_was_looked_and_what_would_help(machine, tmp_path):
    told = _last(tmp_path)
    assert told.pieces == ()
    assert {line.split(":")[0] for line in told.looked} >= {"the kernel's log", "coredumpctl"}
    assert any("sigwhy run" in line for line in told.advice)


def test_the_last_death_is_meant_where_nobody_says_which(machine, tmp_path):
    machine(SEGFAULT, 900)
    machine(KILLED, 30)
    (piece,) = _last(tmp_path).pieces
    assert piece.pid == 900
    assert _mechanism(_last(tmp_path)) == "out-of-memory"


@pytest.mark.parametrize(
    "sought", [{"pid": 811}, {"command": "python3"}, {"command": "/usr/bin/python3"}]
)
def test_a_death_is_found_by_process_and_by_name(machine, tmp_path, sought):
    machine(SEGFAULT, 900)
    machine("Code: 48 8b 00 <48> 8b 08 c3", 900)
    machine(KILLED, 30)
    machine(TRAP, 10)
    (piece,) = _last(tmp_path, **sought).pieces
    assert piece.pid == 811
    assert "Code: 48 8b" in piece.text
    assert _mechanism(_last(tmp_path, **sought)) == "null-pointer"


def test_what_lies_too_far_back_is_not_meant(machine, tmp_path):
    machine(SEGFAULT, 900)
    assert _last(tmp_path, seconds=600).pieces == ()


def test_a_status_alone_is_explained_as_what_it_is(machine, tmp_path):
    told = _last(tmp_path, status=139)
    assert [piece.what for piece in told.pieces] == ["exit status 139"]
    assert not explain(*told.sources).verdict


def test_a_log_that_may_not_be_read_is_told(machine, tmp_path, monkeypatch):
    def refused(_):
        raise kernel_log.CannotReadError("/dev/kmsg: Operation not permitted")

    monkeypatch.setattr(kernel_log, "lines", refused)
    assert any("not permitted" in line for line in _last(tmp_path).looked)


def test_an_incident_and_the_log_are_one_case(machine, tmp_path):
    machine(SEGFAULT, 2)
    signal = Signal(name="SIGSEGV", number=11, code="SEGV_MAPERR", code_number=1, address=8)
    incident_file.write(
        tmp_path / "a.sigwhy", Incident(pid=811, command=["python3"], signal=signal)
    )
    incident_file.write(tmp_path / "b.sigwhy", Incident(pid=5, command=["other"], signal=signal))
    os.utime(tmp_path / "b.sigwhy", (time.time() - 600,) * 2)
    told = _last(tmp_path)
    assert {piece.pid for piece in told.pieces} == {811}
    assert len(told.pieces) == 2
    assert _mechanism(told) == "null-pointer"


def test_a_damaged_incident_is_passed_over(machine, tmp_path):
    (tmp_path / "x.sigwhy").write_bytes(b"PK\x03\x04 rubbish")
    assert _last(tmp_path).pieces == ()


def test_a_death_long_before_is_another_one():
    pieces = [Piece(what="a", at=1000.0, pid=7), Piece(what="b", at=5000.0, pid=7)]
    assert [piece.what for piece in found._joined(pieces)] == ["b"]


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        ("core", "/h/core"),
        ("core.%p", "/h/core.*"),
        ("/cores/%e-%p-%t", "/cores/*-*-*"),
        ("/c[1]/%%x", "/c[[]1]/%x"),
    ],
)
def test_a_core_lies_where_the_pattern_of_the_kernel_says(pattern, place):
    assert place in old_cores.places(pattern, Path("/h"))


def test_a_pattern_that_is_a_program_is_no_place():
    assert not any("|" in place for place in old_cores.places("|/lib/apport %p", Path("/h")))


def test_the_name_of_a_core_of_systemd_tells_its_process(tmp_path):
    name = "core.python3.1000.4f0e1c2d3b4a59687786950413223140.811.1763588703000000.zst"
    (tmp_path / name).write_bytes(b"x")
    core = old_cores._core(tmp_path / name, 0.0)
    assert (core.pid, core.program) == (811, "python3")


def test_a_file_that_is_called_core_and_is_none_is_passed_over(machine, tmp_path):
    (tmp_path / "core").write_text("a folder of sources once lay here")
    (tmp_path / "core.py").write_text("x = 1")
    (tmp_path / "core.link").symlink_to("/bin/sh")
    assert list(old_cores.cores(tmp_path, 0.0)) == []
