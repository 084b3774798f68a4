"""Every crash text of the corpus is read, judged and blamed as its header says."""

from dataclasses import fields

import pytest

from sigwhy import explain
from tests.crash_texts import load, name, paths


def words(fact):
    """A fact as ``FACT`` names it: its type, then every field that is set."""
    values = [getattr(fact, f.name) for f in fields(fact) if f.name != "span"]
    return {type(fact).__name__, *(str(value) for value in values)}


@pytest.mark.parametrize("path", paths(), ids=name)
def test_a_crash_is_explained_as_its_header_says(path):
    header, text = load(path)
    report = explain(text)
    assert header["FROM"], "every text says where it is from"
    for wanted in header["FACT"]:
        kind, *values = wanted.split(" ", 1)
        told = [f for f in report.case.facts if type(f).__name__ == kind]
        assert told, f"no {kind} was read"
        if values:
            said = [" ".join(sorted(words(f))) for f in told]
            assert any(set(values[0].split()) <= set(s.split()) for s in said), said
    assert (report.seen.mechanism.id if report.seen else "undecided") == header["MECHANISM"][0]
    assert (report.verdict.cause.id if report.verdict else "undecided") == header["CAUSE"][0]
    for cause in header["NOT"]:
        assert all(f.probability < 0.5 for f in report.findings if f.cause.id == cause)
    for word in header["CULPRIT"]:
        c = report.culprit
        assert c, "no culprit was named"
        assert any(word in str(v) for v in (c.name, c.function, c.library, c.file, c.argument)), c
