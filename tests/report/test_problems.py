"""Problems in all forms: each says what the others say, and hostile words act in none."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from sigwhy.check import Inspection
from sigwhy.checks import checks
from sigwhy.model.problem import Area, Edit, Problem
from sigwhy.report import github, junit, problems_json, problems_text, sarif

SARIF = json.loads((Path(__file__).parent / "sarif.schema.json").read_text())
ID = next(iter(checks().values())).CHECK.id
LINE = "    pool = Pool(4)  # é"
AREA = Area(line=1, column=12, end_line=1, end_column=19)
HOSTILE = "a\x1b[31m\nb: ::error::,%0A <x> ]]> \udcff\x00 \u202e"
PROBLEMS = (
    Problem(id=ID, severity="error", says="it forks", fix="spawn", path="a b.py", area=AREA),
    Problem(
        id=ID,
        severity="warning",
        confidence="possible",
        says=HOSTILE,
        fix=HOSTILE,
        path=HOSTILE.replace("\x00", ""),
        place=HOSTILE,
    ),
    Problem(
        id=ID,
        severity="note",
        says="wastes",
        fix="less",
        path="c.py",
        area=AREA,
        edit=Edit(area=AREA, text="x", certain=True),
    ),
)
INSPECTION = Inspection(PROBLEMS, 4, ("a note",))
NOTHING = Inspection((), 4)
FORMS = {
    "text": lambda i: problems_text.render(i, lambda _: (LINE,), seconds=0.4),
    "json": problems_json.render,
    "sarif": lambda i: sarif.render(i, version="0"),
    "github": github.render,
    "junit": lambda i: junit.render(i, seconds=0.4),
}


@pytest.mark.parametrize("form", FORMS)
def test_hostile_words_stay_words(form):
    said = FORMS[form](INSPECTION)
    assert "\x1b" not in said
    assert "\u202e" not in said or form in ("json", "sarif")
    said.encode()


@pytest.mark.parametrize("form", FORMS)
def test_nothing_found_is_a_whole_document(form):
    FORMS[form](NOTHING)


def test_the_text_marks_the_place():
    lines = FORMS["text"](INSPECTION).split("\n")
    assert lines[0].startswith(f"a b.py:1:12: error {ID}: it forks")
    shown = next(line for line in lines if "|" in line)
    mark = lines[lines.index(shown) + 1]
    assert shown[mark.index("^") : mark.rindex("^") + 1] == LINE[AREA.column - 1 : 18]
    assert lines[-1].startswith("1 error, 1 warning, 1 note in 3 of 4 files, 0.4 s.")


def test_a_long_line_is_shown_around_the_place():
    line = "x" * 5000 + "BAD" + "y" * 5000
    area = Area(line=1, column=5001, end_line=1, end_column=5004)
    problem = Problem(id=ID, severity="error", says="s", fix="f", path="p", area=area)
    lines = problems_text.render(
        Inspection((problem,), 1), lambda _: (line,), seconds=0, width=80
    ).split("\n")
    shown = next(one for one in lines if "|" in one)
    mark = lines[lines.index(shown) + 1]
    assert shown[mark.index("^") : mark.rindex("^") + 1] == "BAD"
    assert all(len(one) <= 80 for one in lines[:4])


def test_json_keeps_the_contract():
    document = json.loads(FORMS["json"](INSPECTION))
    assert document["schema"] == 1
    assert document["checked"] == 4
    assert document["problems"][0]["line"] == 1
    assert document["problems"][1]["line"] is None
    jsonschema.Draft202012Validator(problems_json.schema()).validate(document)


@pytest.mark.parametrize("inspection", [INSPECTION, NOTHING])
def test_sarif_keeps_the_standard(inspection):
    jsonschema.Draft202012Validator(SARIF).validate(json.loads(FORMS["sarif"](inspection)))


def test_junit_counts_notes_as_passed():
    suite = ET.fromstring(FORMS["junit"](INSPECTION))  # noqa: S314 -- we wrote it ourselves
    assert suite.get("failures") == "2"
    assert len(suite.findall(".//failure")) == 2
    assert len(suite.findall(".//testcase")) == 3


def test_github_says_one_line_for_each():
    lines = FORMS["github"](INSPECTION).split("\n")
    assert [line.split(" ", 1)[0] for line in lines] == ["::error", "::warning", "::notice"]
