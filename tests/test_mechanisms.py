"""What the machine did: shown by a fact, or else what the cause usually does with that signal."""

import pytest

from sigwhy import explain
from sigwhy.causes import causes
from sigwhy.mechanisms import BY_ID, TABLE

STACK = """\
Fatal Python error: {error}

Current thread 0x00007f2e150dc740 (most recent call first):
  File "/opt/app/lib/python3.11/site-packages/{file}", line 56 in {function}
  File "/opt/app/convert.py", line 8 in <module>
"""


def test_a_verdict_on_a_bare_signal_has_the_mechanism_that_is_usual_for_its_cause():
    text = STACK.format(
        error="Aborted", file="tensorflow/lite/python/convert.py", function="toco_convert_protos"
    )
    report = explain(text)
    assert report.verdict
    assert report.verdict.cause.id == "converter-bug"
    assert report.seen is None
    assert report.usual is BY_ID["check-failed"]


@pytest.mark.parametrize("text", ["Segmentation fault (core dumped)", "Aborted", "exit code 139"])
def test_without_a_verdict_no_mechanism_is_supposed(text):
    report = explain(text)
    assert report.verdict is None
    assert report.usual is None


def test_what_is_usual_is_a_mechanism_of_the_table():
    usual = {m for file in causes().values() for m in file.CAUSE.usually.values()}
    assert usual <= {row.id for row in TABLE}
