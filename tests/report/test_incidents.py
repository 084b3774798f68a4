"""What is shown of an Incident."""

import msgspec
import pytest

from sigwhy.explain import judge
from sigwhy.model.case import Gathered
from sigwhy.model.incident import Incident, PythonFrame, Thread
from sigwhy.report import html, json, markdown, text
from sigwhy.report.threads import Gap, gist, threads
from tests.report.incidents import MAIN, NULL_POINTER


def report_of(incident, kept_in=None):
    return judge(Gathered(()), incident, kept_in=[kept_in])


@pytest.fixture(scope="module")
def report():
    return report_of(NULL_POINTER, "train-211648.sigwhy")


@pytest.fixture(scope="module")
def page(report):
    return html.render(report)


def test_the_thread_that_died_comes_first(report):
    assert [thread.crashed for thread in threads(report)] == [True, False]


def test_the_terminal_shows_where_it_died_and_your_own_lines(report):
    told = text.render(report)
    assert "copy_rows()" in told
    assert "step() at /srv/app/train.py:31" in told
    assert "-- 1 frame of the interpreter --" in told
    assert "batch = 3, n = 64" in told


def test_other_threads_are_only_on_the_page(report, page):
    assert "load.py" not in text.render(report)
    assert "load.py" in page


def test_the_culprit_is_marked_once(page):
    assert page.count('<b class="guilty">blamed</b>') == 1


def test_a_native_call_says_the_wheel_it_is_from(report, page):
    assert '<span class="wheel">numfast 1.4.2</span>' in page
    assert "[numfast 1.4.2]" in markdown.render(report)


def test_json_has_one_stack_for_each_thread_with_both_languages(report):
    document = json.document(report)
    assert [stack.tid for stack in document.stacks] == [71, 72]
    died = document.stacks[0]
    assert died.crashed
    assert died.name == "python"
    assert [frame.language for frame in died.frames] == [
        *("native", "native"),
        *("python", "python", "python"),
        "native",
    ]
    assert [frame.culprit for frame in died.frames].count(True) == 1


def test_json_says_how_it_ended(report):
    death = json.document(report).death
    assert (death.signal, death.code, death.address) == ("SIGSEGV", "SEGV_MAPERR", 0)
    assert (death.exit_status, death.pid, death.tid) == (139, 71, 71)
    assert death.command == ["/srv/env/bin/python", "train.py", "--epochs=3"]
    assert death.at == NULL_POINTER.at


def test_json_says_what_it_ran_in(report):
    document = json.document(report)
    assert document.environment.packages == {"numfast": "1.4.2"}
    assert document.environment.variables == {"OMP_NUM_THREADS": "2"}
    assert document.environment.not_seen == NULL_POINTER.blind
    assert document.memory.group_limit_bytes == 4 << 30
    assert len(document.memory.samples) == 73
    assert document.incident == "train-211648.sigwhy"


def test_a_long_recursion_is_one_line():
    calls = [PythonFrame(function="dive", file="/srv/a.py", line=3) for _ in range(200)]
    deep = msgspec.structs.replace(MAIN, python=[*calls, *MAIN.python])
    report = report_of(msgspec.structs.replace(NULL_POINTER, threads=[deep]))
    assert "dive() at /srv/a.py:3  200 times in a row" in text.render(report)
    assert "200 times in a row" in html.render(report)


def test_the_gist_hides_nothing_without_saying_so(report):
    calls = threads(report)[0].calls
    rows = gist(calls)
    assert sum(len(row.calls) if isinstance(row, Gap) else 1 for row in rows) == len(calls)


@pytest.mark.parametrize("form", [html, json, markdown, text])
def test_an_incident_that_tells_nothing_is_no_error(form):
    assert form.render(report_of(Incident()))
    assert form.render(report_of(Incident(threads=[Thread(tid=1, crashed=True)])))
