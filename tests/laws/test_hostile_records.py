"""Incidents and cores that somebody hostile made: one line or a report, soon, in little memory."""

import io
import json
import random
import struct
import subprocess
import sys
import zipfile

import msgspec
import pytest

from sigwhy import UsageError, explain
from sigwhy.report import html, markdown, text
from tests.report.incidents import EVERYTHING
from tests.report.test_forms import ACTS, Page
from tools import fuzz_records

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Incidents are Linux's")
RECORD = msgspec.json.encode(EVERYTHING)


@pytest.fixture
def sent(tmp_path):
    def send(*members, record=RECORD):
        path = tmp_path / "sent.sigwhy"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            if record is not None:
                packed.writestr("incident.json", record)
            for name, data in members:
                packed.writestr(name, data)
        return path

    return send


def refusal(path):
    with pytest.raises(UsageError) as caught:
        explain(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "name", ["../../etc/cron.d/x", "/etc/passwd", "a/../../b", "C:\\x", "\\\\host\\x", ".."]
)
def test_a_path_that_leads_outside_is_refused(sent, name):
    assert "leads out of it" in refusal(sent((name, "x")))


def test_a_link_as_a_member_is_refused(sent):
    link = zipfile.ZipInfo("core")
    link.external_attr = 0o120777 << 16
    assert "leads out of it" in refusal(sent((link, "/etc/passwd")))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused(sent):
    assert "two members of one name" in refusal(sent(("incident.json", "{}")))


def test_many_members_are_refused(sent):
    assert "2001 members" in refusal(sent(*((f"m{n}", "") for n in range(2000))))


def test_an_encrypted_one_is_refused(sent):
    path = sent()
    data = bytearray(path.read_bytes())
    listed = data.index(b"PK\1\2")
    data[6] |= 1
    data[listed + 8] |= 1
    path.write_bytes(data)
    assert "encrypted" in refusal(path)


def test_a_zip_without_a_record_is_refused(sent):
    assert "no Incident" in refusal(sent(("model.json", "{}"), record=None))


@pytest.mark.parametrize("kept", [10, 200, -1, -30])
def test_one_that_was_cut_off_is_refused(sent, kept):
    path = sent()
    path.write_bytes(path.read_bytes()[:kept])
    assert "damaged" in refusal(path)


@pytest.mark.parametrize(
    "record",
    [
        "",
        "null",
        "[]",
        "{",
        '{"schema": "1"}',
        '{"threads": {}}',
        '{"threads": [{"tid": "1"}]}',
        '{"pid": NaN}',
        '{"hang_seconds": 1e999}',
        '{"mappings": [[1]]}',
        "[" * 100_000,
        '{"notes": ' + "[" * 100_000,
        b"\xff\xfe{}",
        '{"way": "magic"}',
    ],
)
def test_a_record_that_does_not_fit_is_refused(sent, record):
    refusal(sent(record=record))


def test_one_of_a_newer_sigwhy_says_to_upgrade(sent):
    assert "pip install -U sigwhy" in refusal(sent(record='{"schema": 99}'))


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**63), 10**300])
def test_numbers_without_end_are_no_error(sent, number):
    record = json.loads(RECORD)
    record["pid"] = record["tid"] = number
    record["threads"][0]["native"][0]["offset"] = number
    record["mappings"][0][0] = number
    try:
        report = explain(sent(record=json.dumps(record)))
    except UsageError:
        return
    for form in (html, markdown, text):
        form.render(report)


HUNGRY = """
import re, sys
from pathlib import Path
from sigwhy import UsageError, explain
try:
    explain(Path(sys.argv[1]))
except UsageError as error:
    print(error, file=sys.stderr)
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024)
"""


# Begin, what is repeated, how often, and end: made in the test, so that no test run holds them.
BOMBS = {
    "blanks": (b"", b" ", 64 << 20, b""),
    "notes": (b'{"notes": [', b'"a",', 1 << 20, b'"a"]}'),
    "stderr": (b'{"stderr": "', b"(", 7 << 20, b'"}'),
    "mappings": (b'{"mappings": [', b"[1,2],", 1 << 20, b"[1,2]]}"),
    "threads": (b'{"threads": [', b'{"tid":1},', 800_000, b'{"tid":1}]}'),
}


@pytest.mark.live
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_takes_neither_memory_nor_time(sent, bomb):
    begin, often, times, end = BOMBS[bomb]
    path = sent(record=begin + often * times + end)
    run = subprocess.run(
        [sys.executable, "-c", HUNGRY, str(path)],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert int(run.stdout) < 300


ATTACK = "\x1b[31m\x1b]0;x\x07\u202e\u2066<script>alert(1)</script>`````` @everyone\x9b\x7f"


def test_no_word_of_an_incident_acts(sent):
    record = json.loads(RECORD)
    _attack(record)
    report = explain(sent(record=json.dumps(record)))
    assert not ACTS.search(text.render(report))
    assert not ACTS.search(markdown.render(report))
    page = html.render(report)
    assert not ACTS.search(page)
    assert "script" not in Page(page).opened
    assert "everyone" in "".join(Page(page).words)


def _attack(node):
    """Put it at the end of every word that is not one of a few."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(value, str) and key not in ("way", "code", "rights"):
            node[key] = value + ATTACK
        elif isinstance(value, dict | list):
            _attack(value)


@pytest.mark.parametrize("seed", range(4))
def test_mutated_incidents_break_nothing(seed):
    assert not fuzz_records.incidents(seed, 60)


@pytest.mark.live
def test_mutated_cores_break_nothing():
    assert not fuzz_records.cores(1, 25)


def test_last_words_are_never_taken_for_the_name_of_a_file(sent, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("Segmentation fault of my diary\n")
    report = explain(sent(record=json.dumps({"stderr": str(secret)})))
    assert not any("diary" in line for e in report.case.evidence for line in e.lines)


def test_the_same_dice_make_the_same_incident():
    one, other = (fuzz_records.incident(random.Random(7)) for _ in range(2))  # noqa: S311 -- a fuzzer's dice
    assert zipfile.ZipFile(io.BytesIO(one)).read("incident.json") == zipfile.ZipFile(
        io.BytesIO(other)
    ).read("incident.json")


def test_a_list_of_members_that_lies_is_refused(sent):
    path = sent()
    data = bytearray(path.read_bytes())
    end = data.rindex(b"PK\5\6")
    data[end + 12 : end + 16] = struct.pack("<I", 1 << 30)
    path.write_bytes(data)
    refusal(path)
