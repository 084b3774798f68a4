"""The sentences: who died of what, where, and how much of it is known."""

from dataclasses import replace

import pytest

from sigwhy import explain
from sigwhy.model.cause import Culprit
from sigwhy.model.fact import Frame
from sigwhy.model.signature import signature
from sigwhy.report.harmless import harmless, one_line, window
from sigwhy.report.headline import sentence, size
from sigwhy.report.place import blame, frame_words
from sigwhy.report.story import tell

DEMO = """\
Fatal Python error: Segmentation fault

Current thread 0x00007ff084254b80 (most recent call first):
  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at
  File "/srv/{0}.py", line 11 in model_path
  File "/srv/{0}.py", line 18 in <module>
"""


def test_who_died_is_the_script_that_was_run():
    assert tell(explain(DEMO.format("train"))).headline.startswith("train.py died of SIGSEGV")


def test_a_name_that_is_not_in_the_text_is_not_told():
    story = tell(explain("Segmentation fault (core dumped)\nIllegal instruction\n"))
    assert "the process" in story.headline
    assert story.where == ()


def test_one_bare_line_is_quoted_and_not_judged():
    story = tell(explain("Segmentation fault (core dumped)\n"))
    assert "“Segmentation fault (core dumped)”" in story.headline
    assert story.headline.startswith("undecided")
    assert story.fix is None


def test_a_text_about_nothing_says_so():
    story = tell(explain("all is well\nstep 3 of 4\n"))
    assert story.headline == "undecided. The text does not tell of a death"
    assert story.likely == ()


def test_an_empty_text_is_told_too():
    assert tell(explain("")).headline.startswith("undecided")


def test_the_place_is_the_line_of_the_user_and_not_of_a_library():
    assert tell(explain(DEMO.format("train"))).where[0] == "/srv/train.py:11 in model_path()"


def test_the_same_crash_has_the_same_signature_wherever_it_stands():
    first = explain(DEMO.format("train"))
    again = explain("noise before\n" + DEMO.format("train").replace("084254b80", "011111180"))
    assert signature(first) == signature(again)
    assert signature(first) != signature(replace(first, culprit=Culprit(kind="op", name="Cast")))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("a library was built", "A library was built."),
        ("libomp is there twice", "libomp is there twice."),
        ("it says: stop!", "It says: stop!"),
    ],
)
def test_a_sentence_begins_with_a_capital_unless_it_begins_with_a_name(words, told):
    assert sentence(words) == told


@pytest.mark.parametrize(
    ("count", "told"), [(1, "1 bytes"), (2**32, "4.0 GiB"), (2**70, "1024.0 EiB")]
)
def test_sizes_are_told_as_people_say_them(count, told):
    assert size(count) == told


def test_a_long_line_is_cut_around_the_words_that_matter():
    assert window("a" * 50 + "HERE" + "b" * 50, "HERE", 20).strip("…ab") == "HERE"
    assert len(window("a" * 500, "", 20)) == 20
    assert window("short", "x", 20) == "short"


def test_what_acts_on_a_terminal_becomes_a_sign():
    assert harmless("\x1b[31m\x07\x7f\u202e") == "␛[31m␇␡\ufffd"
    assert one_line("a\r\n\tb\n") == "a b"


def test_blame_names_the_argument_and_its_value():
    culprit = Culprit(kind="argument", name="tf.reshape", argument="shape", value="[0, -1]")
    assert blame(culprit) == "argument tf.reshape, argument shape = [0, -1]"


def test_a_frame_without_anything_is_still_a_line():
    assert frame_words(Frame()) == "(no name)"
