"""What does not fit together is said."""

import msgspec
import pytest

from sigwhy.explain import judge
from sigwhy.model.case import Gathered
from sigwhy.model.incident import Incident, Mapping, Process, Signal
from tests.report.incidents import EVERYTHING, NULL_POINTER

SEGV = Signal(name="SIGSEGV", number=11, code="SEGV_MAPERR", code_number=1, address=64)


def said(*incidents):
    notes = judge(Gathered(()), *incidents).notes
    return [note for note in notes if note.startswith("contradiction")]


def test_last_words_that_name_another_signal_are_said():
    (note,) = said(Incident(pid=7, signal=SEGV, stderr="Aborted (core dumped)\n"))
    assert "SIGABRT" in note
    assert "SIGSEGV" in note


@pytest.mark.parametrize(
    "incident",
    [
        NULL_POINTER,
        EVERYTHING,
        Incident(pid=7, signal=SEGV, stderr="Segmentation fault (core dumped)\n"),
        Incident(
            pid=7,
            signal=Signal(name="SIGABRT", number=6),
            earlier=SEGV,
            stderr="Segmentation fault\n",
        ),
        Incident(
            pid=7,
            signal=SEGV,
            processes=[Process(pid=8, signal="SIGABRT")],
            stderr="Aborted (core dumped)\n",
        ),
        Incident(pid=7, exit_status=1, stderr="Aborted (core dumped)\n"),
        Incident(),
    ],
)
def test_what_fits_is_no_contradiction(incident):
    assert not said(incident)


def test_a_log_of_another_process_is_said():
    line = (
        "python[123]: segfault at 40 ip 0000000000401136 sp 00007ffd7b5 error 4 in x[401000+1000]"
    )
    (note,) = said(Incident(pid=71, signal=SEGV, kernel=[line]))
    assert "123" in note
    assert "71" in note


def test_records_of_processes_that_have_nothing_to_do_with_each_other_are_said():
    one, other = (Incident(pid=pid, signal=SEGV) for pid in (7, 8))
    assert "7 and 8" in said(one, other)[0]
    family = [Process(pid=7), Process(pid=8)]
    assert not said(msgspec.structs.replace(one, processes=family), other)


def test_an_address_that_was_there_after_all_is_said():
    mapping = Mapping(0, 4096, "rw-p", 0, "/srv/data.bin")
    assert "/srv/data.bin was there" in said(Incident(signal=SEGV, mappings=[mapping]))[0]


def test_another_end_than_the_one_explained_is_said():
    assert "signal 9" in said(Incident(signal=SEGV, exit_status=-9))[0]
