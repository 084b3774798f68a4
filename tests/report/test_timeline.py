"""Memory over time, in the terminal and on the page."""

import re

import msgspec
import pytest

from sigwhy.explain import judge
from sigwhy.model.case import Gathered
from sigwhy.model.incident import Memory, Sample, Signal
from sigwhy.report import html, json, text
from sigwhy.report.timeline import BARS, sparkline, timeline
from tests.report.incidents import GIB, NULL_POINTER

KILLED = msgspec.structs.replace(
    NULL_POINTER,
    signal=Signal(name="SIGKILL", number=9),
    exit_status=-9,
    memory=msgspec.structs.replace(
        NULL_POINTER.memory, oom_kills_before=0, oom_kills_after=1, group="/docker/x"
    ),
)


def report_of(incident, **memory):
    if memory:
        kept = msgspec.structs.replace(incident.memory, **memory)
        incident = msgspec.structs.replace(incident, memory=kept)
    return judge(Gathered(()), incident)


def test_growth_is_a_line_of_bars_in_the_terminal():
    told = sparkline(report_of(KILLED))
    bars, words = told.split("  ", 1)
    assert list(bars) == sorted(bars)
    assert (bars[0], bars[-1]) == ("▁", "█")
    assert set(bars) <= set(BARS)
    assert words == "409.6 MiB -> 4.0 GiB in 36 s"
    assert bars in text.render(report_of(KILLED))


def test_memory_that_has_nothing_to_do_with_the_death_is_on_the_page_alone():
    report = report_of(NULL_POINTER, group_limit_bytes=64 * GIB)
    assert sparkline(report) is None
    assert "<svg" in html.render(report)


def test_the_drawing_stays_in_its_box():
    drawn = timeline(report_of(KILLED))
    for line in drawn.lines:
        for x, y in re.findall(r"([\d.-]+),([\d.-]+)", line.points):
            assert 0 <= float(x) <= 640
            assert 0 <= float(y) <= 120
    assert drawn.limit_says == "- - limit 4.0 GiB"


def test_a_limit_far_away_is_not_drawn():
    assert timeline(report_of(KILLED, group_limit_bytes=900 * GIB)).limit is None


def test_the_page_has_no_script_and_loads_nothing():
    page = html.render(report_of(KILLED))
    assert "<script" not in page
    assert "href" not in page
    assert "url(" not in page


@pytest.mark.parametrize(
    "samples",
    [
        [],
        [Sample(0.0, 5)],
        [Sample(0.0, 0), Sample(0.0, 0)],
        [Sample(1.0, 7), Sample(1.0, 7)],
        [Sample(9.0, -(2**63)), Sample(-1e308, 2**63)],
        [Sample(1e308, 1), Sample(-1e308, 1), Sample(0.0, 2**63, 2**63, 2**63)],
    ],
)
def test_odd_samples_are_no_error(samples):
    report = judge(
        Gathered(()),
        msgspec.structs.replace(KILLED, memory=Memory(samples=samples, group_limit_bytes=-1)),
    )
    html.render(report)
    text.render(report)
    json.render(report)


def test_what_to_type_next_uses_only_commands_that_exist():
    from sigwhy.cli import COMMANDS

    report = judge(Gathered(()), NULL_POINTER, kept_in=["a b.sigwhy"])
    told = text.render(report, width=200)
    assert "sigwhy explain 'a b.sigwhy' -o 'a b.html'" in told
    assert set(re.findall(r"\bsigwhy (\w+)", told.partition("Next")[2])) <= set(COMMANDS)
