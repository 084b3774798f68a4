"""What holds for every form of the report, whatever the crash text is."""

import re
from collections import Counter
from functools import cache
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.cells import cell_len

from sigwhy import explain
from sigwhy.report import html, json, markdown, text
from sigwhy.report.story import tell
from tests.crash_texts import load, name, paths

every_text = pytest.mark.parametrize("path", paths(), ids=name)


@cache
def report_of(path):
    return explain(load(path)[1])


# Each is put into a crash text at places from which it is quoted.
ATTACKS = (
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x9b31m",
    "\x08\x08\x08\x7f",
    "\u202etxt.exe\u202c",
    "\u2066\u200b\u200f",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</pre></details></main><h1>owned</h1>",
    "{{ 7 * 7 }}{% for %}",
    "[bold red]rich[/bold red][link=http://evil.example]x[/link]",
    "[/]",
    "```\n# owned\n```",
    "~~~~~~",
    "`````````` @everyone #1",
    "](http://evil.example) ![](http://evil.example/x.png)",
    "</details><b>owned</b>",
    "| a | b |",
    "\ud800",
    "漢字" * 200,
    "x" * 5000,
)
TEXTS = (
    'Fatal Python error: Segmentation fault\n\nCurrent thread 0x01 (most recent call first):\n  File "{0}", line 3 in {0}\n',
    "#0  0x00007f00 in {0} () from /lib/{0}.so\nSegmentation fault (core dumped)\n",
    "F0000 00:00:1.000000 1 {0}.cc:7] Check failed: {0} == 1 (0 vs. 1)\nAborted (core dumped)\n",
    "ImportError: {0}: undefined symbol: {0}\n",
    "run.sh: line 3:  8156 Segmentation fault      python {0}.py\n",
    "{0}\nIllegal instruction (core dumped)\n{0}\n",
    "kernel: python[3]: segfault at 0 ip 00007f00 sp 00007fff error 4 in {0}[7f00+1000]\n",
    "OSError: {0}: cannot open shared object file: No such file or directory\n",
)
hostile_reports = st.builds(
    lambda form, parts: explain(form.replace("{0}", "".join(parts))),
    st.sampled_from(TEXTS),
    st.lists(st.one_of(st.sampled_from(ATTACKS), st.text(max_size=9)), min_size=1, max_size=3),
)
ACTS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
OWN_HTML = re.compile(r"^(?:<details><summary>[\w ]+\(\d+\)</summary>|</details>)\n?$")
OWN_COMMENT = "<!-- -->"
TAGS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "header",
        "p",
        "h1",
        "h2",
        "ul",
        "ol",
        "li",
        "b",
        "dl",
        "dt",
        "dd",
        "div",
        "span",
        "code",
        "br",
        "details",
        "summary",
        "pre",
        "mark",
        "section",
        "footer",
    ]
)
ATTRIBUTES = frozenset(
    {"class", "open", "start", "lang", "charset", "name", "content", "http-equiv"}
)


class Page(HTMLParser):
    def __init__(self, document):
        super().__init__()
        self.opened, self.closed, self.attributes, self.words = Counter(), Counter(), set(), []
        self.marked = []
        self.feed(document)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.opened[tag] += 1
        self.attributes |= {key for key, _ in attrs}
        if tag == "mark":
            self.marked.append("")

    def handle_endtag(self, tag):
        self.closed[tag] += 1

    def handle_data(self, data):
        self.words.append(data)


def words_of_markdown(document):
    tokens = MarkdownIt("commonmark").parse(document)
    return tokens, "".join(
        "".join(c.content for c in t.children if c.type in ("text", "code_inline"))
        for t in tokens
        if t.type == "inline"
    )


def squeezed(words):
    return re.sub(r"\s+", "", words)


@every_text
def test_all_forms_say_the_same_headline(path):
    report = report_of(path)
    headline = tell(report).headline
    assert squeezed(headline) in squeezed(text.render(report, width=80))
    assert headline in "".join(Page(html.render(report)).words)
    assert headline in words_of_markdown(markdown.render(report))[1]
    document = json.document(report)
    assert document.headline == headline
    assert document.verdict is None or document.verdict.summary == headline


@every_text
def test_no_line_is_wider_than_the_terminal(path):
    for width in (40, 80, 200):
        for line in text.render(report_of(path), width=width).splitlines():
            assert cell_len(line) <= width


@every_text
def test_colour_changes_no_word(path):
    coloured = text.render(report_of(path), colour=True)
    plain = "\n".join(line.rstrip() for line in COLOUR.sub("", coloured).splitlines())
    assert plain == text.render(report_of(path))
    assert "\x1b" not in plain


@every_text
def test_the_page_stands_alone_and_marks_the_words_that_matter(path):
    page = Page(html.render(report_of(path)))
    assert set(page.opened) <= TAGS
    assert page.attributes <= ATTRIBUTES
    for point in tell(report_of(path)).speaks_for:
        if any(point.words and point.words in line.text for line in point.lines if line.hit):
            assert page.opened["mark"]


@every_text
def test_a_verdict_comes_with_fix_and_evidence_and_all_else_with_what_to_do(path):
    report, story = report_of(path), tell(report_of(path))
    if report.verdict:
        assert story.fix
        assert story.speaks_for
        assert report.verdict.cause.id in text.render(report)
    else:
        assert story.headline.startswith("undecided")
        assert json.document(report).missing


@given(report=hostile_reports)
def test_hostile_text_cannot_command_the_terminal(report):
    plain = text.render(report, width=80)
    assert not ACTS.search(plain)
    assert not ACTS.search(COLOUR.sub("", text.render(report, colour=True)))
    assert all(cell_len(line) <= 80 for line in plain.splitlines())


@given(report=hostile_reports)
def test_hostile_text_cannot_break_out_of_the_page(report):
    document = html.render(report)
    page = Page(document)
    assert set(page.opened) <= TAGS
    assert page.attributes <= ATTRIBUTES
    for tag in ("main", "details", "pre", "h1", "body", "style"):
        assert page.opened[tag] == page.closed[tag]
    assert page.opened["h1"] == 1
    assert not ACTS.search(document)


@given(report=hostile_reports)
def test_hostile_text_cannot_break_out_of_markdown(report):
    document = markdown.render(report)
    tokens, _ = words_of_markdown(document)
    every = [t for top in tokens for t in (top, *(top.children or ()))]
    kinds = {t.type for t in every}
    assert not kinds & {"heading_open", "image", "link_open", "code_block", "table_open"}
    for token in every:
        if token.type == "html_block":
            assert all(OWN_HTML.match(line) for line in token.content.splitlines() if line)
        if token.type == "html_inline":
            assert token.content == OWN_COMMENT
        if token.type == "fence":
            assert token.info == "text"
    assert "owned" not in {t.content for t in every if t.type == "html_block"}
    assert not ACTS.search(document)
    assert not any(re.search(r"@\w", t.content) for t in every if t.type == "text")


@given(report=hostile_reports)
def test_hostile_text_is_still_json(report):
    decoded = json.msgspec.json.decode(json.render(report))
    assert decoded["schema"] == 1


def test_numbers_that_no_reader_of_json_holds_are_left_out():
    report = explain(f"main.py: exit status {10**30}\nSegmentation fault (core dumped)\n")
    assert json.msgspec.json.decode(json.render(report))["schema"] == 1


def test_a_long_path_is_broken_behind_a_slash():
    folders = "/".join(["", "home", *["quite-a-long-folder"] * 8])
    shown = text.render(
        explain(
            "Fatal Python error: Segmentation fault\n\nCurrent thread 0x01 (most recent call first):\n"
            f'  File "{folders}/train.py", line 7 in load\n'
        )
    )
    assert "folder/train.py:7 in load()" in shown
