"""What holds for every format and any text at all."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigwhy.model.case import Case, Evidence
from sigwhy.read import formats
from tests.crash_texts import load, paths

TEXTS = [load(path)[1] for path in paths()]
NOISE = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), max_size=5)
BEFORE = ("step 41/100 loss: 0.25", "downloading model.bin")
every_format = pytest.mark.parametrize("form", formats().values(), ids=formats())


def read(form, text):
    return list(form.read(Evidence.of("e", text)))


def crashes(form):
    """Texts of which this format reads something, else any text."""
    own = [t for t in TEXTS if any(m in t for m in form.MARKERS) and read(form, t)]
    return st.sampled_from(own or TEXTS)


@every_format
@given(text=st.text())
def test_no_text_makes_a_reader_fail(form, text):
    read(form, text)


@every_format
@given(data=st.data(), cut=st.floats(0, 1))
def test_a_torn_text_is_read_as_far_as_it_goes(form, data, cut):
    text = data.draw(crashes(form))
    torn = text[: int(len(text) * cut)]
    whole = [f for f in read(form, text) if f.span.last < len(torn.splitlines()) - 1]
    known = {(type(f), f.span.first) for f in read(form, torn)}
    assert {(type(f), f.span.first) for f in whole} <= known


@every_format
@given(data=st.data())
def test_line_ends_do_not_matter(form, data):
    text = data.draw(crashes(form))
    assert read(form, text) == read(form, text.replace("\n", "\r\n"))


@every_format
@given(data=st.data(), times=st.integers(1, 7))
def test_noise_around_a_crash_only_moves_it(form, data, times):
    text = data.draw(crashes(form))
    noisy = read(form, "\n".join([*BEFORE * times, "", text, "", *BEFORE * times]))
    shift = len(BEFORE) * times + 1
    moved = [
        replace(f, span=replace(f.span, first=f.span.first - shift, last=f.span.last - shift))
        for f in noisy
    ]
    assert moved == read(form, text)


@every_format
@given(data=st.data())
def test_every_fact_can_be_quoted(form, data):
    text = data.draw(crashes(form))
    evidence = Evidence.of("e", text)
    case = Case((evidence,), tuple(form.read(evidence)))
    for fact in case.facts:
        quote = case.quote(fact.span)
        assert quote.text.strip()
        assert not quote.words or quote.words in quote.text
