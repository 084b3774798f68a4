"""The kernel's log, from recorded lines."""

import pytest

from sigwhy.run import kernel_log
from sigwhy.run.kernel_log import Line

LOG = [
    Line(10.0, "python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0"),
    Line(10.1, "memory: usage 307200kB, limit 307200kB, failcnt 3793"),
    Line(
        10.2, "[    811]     0   811   115401    79777    76564     3213  0   765952   0   0 python"
    ),
    Line(10.3, "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a,task=python,pid=811,uid=0"),
    Line(10.4, "Memory cgroup out of memory: Killed process 811 (python) total-vm:461604kB"),
    Line(11.0, "python[8110]: segfault at 0 ip 000055 sp 00007f error 4 in python3.11"),
    Line(12.0, "mce: [Hardware Error]: Machine check events logged"),
    Line(13.0, "usb 1-1: new high-speed USB device number 811 using xhci_hcd"),
]


def test_a_kill_is_told_with_the_limit_that_it_was_for():
    words = [line.words for line in kernel_log.about({811}, LOG)]
    assert words[0].startswith("python invoked oom-killer")
    assert any("limit 307200kB" in line for line in words)
    assert any("Killed process 811" in line for line in words)


def test_another_process_with_a_longer_number_is_not_meant():
    assert not any("8110" in line.words for line in kernel_log.about({811}, LOG))


def test_a_table_of_all_processes_is_left_out():
    assert not any("115401" in line.words for line in kernel_log.about({811}, LOG))


def test_broken_hardware_is_always_told():
    assert [line.words for line in kernel_log.about({1}, LOG)] == [LOG[6].words]


def test_a_line_looks_as_dmesg_prints_it():
    assert str(LOG[5]).startswith("[   11.000000] python[8110]: segfault at 0")


def test_a_record_of_the_kernel_is_taken_apart():
    record = (
        b"6,339,5140900,-;Memory cgroup out of memory: Killed process 811 (python)\n SUBSYSTEM=x\n"
    )
    assert kernel_log._line(record) == Line(
        5.1409, "Memory cgroup out of memory: Killed process 811 (python)"
    )
    assert kernel_log._line(b"rubbish") is None


def test_a_log_that_may_not_be_read_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(kernel_log, "RECORDS", str(tmp_path / "none"))
    with pytest.raises(kernel_log.CannotReadError, match="No such file"):
        kernel_log.lines()
    assert kernel_log.killed(0.0) == set()
