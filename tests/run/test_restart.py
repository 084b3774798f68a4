"""Which deaths start a service again, and after how long."""

import signal

import pytest

from sigwhy.run import on_death
from sigwhy.run.restart import LONGEST_PAUSE, Restart

EXIT_1, SEGV = 1 << 8, signal.SIGSEGV


@pytest.mark.parametrize(
    ("status", "asked", "wanted"),
    [
        (0, False, False),
        (EXIT_1, False, True),
        (SEGV, False, True),
        (signal.SIGKILL, False, True),
        (signal.SIGTERM, False, False),
        (signal.SIGINT, False, False),
        (EXIT_1, True, False),
    ],
)
def test_it_is_started_again_when_it_died_and_nobody_asked(status, asked, wanted):
    assert Restart(times=1).wanted(status, seconds=1, asked=asked) is wanted


def test_not_more_often_than_the_user_wants():
    restart = Restart(times=2)
    assert [restart.wanted(EXIT_1, seconds=1, asked=False) for _ in range(3)] == [True, True, False]


def test_pauses_double_up_to_a_limit():
    restart = Restart(times=100, backoff_seconds=1.5)
    pauses = []
    for _ in range(12):
        restart.wanted(SEGV, seconds=1, asked=False)
        pauses.append(restart.pause_seconds)
    assert pauses[:3] == [1.5, 3.0, 6.0]
    assert pauses[-1] == LONGEST_PAUSE


def test_a_long_run_makes_the_next_pause_short():
    restart = Restart(times=9)
    for seconds in (1, 1, 1, 600):
        restart.wanted(SEGV, seconds=seconds, asked=False)
    assert restart.pause_seconds == 1.0


def test_a_hook_finds_the_incident_in_its_environment(tmp_path):
    out = tmp_path / "out"
    command = f'echo "$SIGWHY_INCIDENT $SIGWHY_SIGNATURE" > {out}'
    assert on_death.tell(command, incident=tmp_path / "a.sigwhy", signature="abc") is None
    assert out.read_text() == f"{tmp_path / 'a.sigwhy'} abc\n"


def test_a_hook_that_fails_is_told():
    assert "status 3" in on_death.tell("exit 3", incident=None, signature="")


def test_a_hook_that_takes_too_long_is_ended():
    told = on_death.tell("sleep 60 & sleep 60", incident=None, signature="", seconds=0.2)
    assert "took longer" in told
