"""The generated pages say what the knowledge says. Where one does not: make docs."""

import jsonschema
import pytest

from sigwhy import explain
from sigwhy.report import json
from tests.crash_texts import load, name, paths
from tools import docs, schema

PAGES = docs.documents()


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_a_generated_page_is_current(path):
    assert (docs.DOCS / path).read_text(encoding="utf-8") == PAGES[path], "run: make docs"


def test_no_page_outlives_its_cause():
    assert docs.strays() == [], "run: make docs"


def test_the_schemas_are_current():
    for path, text in schema.documents().items():
        assert path.read_text(encoding="utf-8") == text, "run: make docs"


@pytest.mark.parametrize("path", paths(), ids=name)
def test_every_report_keeps_the_contract(path):
    document = json.msgspec.json.decode(json.render(explain(load(path)[1])))
    jsonschema.Draft202012Validator(json.schema()).validate(document)
