"""The rules of the house, so that no review needs to ask for them."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import sigwhy
from sigwhy.causes import causes
from sigwhy.checks import checks
from sigwhy.model.case import Evidence
from sigwhy.model.check import KINDS
from sigwhy.read import formats
from tests.crash_texts import load, paths

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LOADED = [load(path) for path in paths()]
HEADERS = [header for header, _ in LOADED]
every_cause = pytest.mark.parametrize(("name", "module"), causes().items(), ids=causes())
every_check = pytest.mark.parametrize(("name", "module"), checks().items(), ids=checks())
every_format = pytest.mark.parametrize(("name", "module"), formats().items(), ids=formats())
every_source = pytest.mark.parametrize(
    "path", SOURCES, ids=lambda p: str(p.relative_to(ROOT / "src"))
)


@every_cause
def test_the_id_is_the_file_name(name, module):
    assert module.CAUSE.id == name.replace("_", "-")


@every_cause
def test_the_docstring_is_the_manual_page(name, module):
    for heading in ("\n\nWhat happens: ", "\n\nHow to tell: ", "\n\nFix: "):
        assert heading in module.__doc__


@every_cause
def test_a_text_shows_the_cause(name, module):
    assert any(module.CAUSE.id in header["CAUSE"] for header in HEADERS)


@every_cause
def test_a_text_looks_like_the_cause_and_is_not(name, module):
    assert any(module.CAUSE.id in header["NOT"] for header in HEADERS)


@every_cause
def test_a_cause_fits_on_four_screens(name, module):
    assert len(inspect.getsource(module).splitlines()) <= 160


@every_check
def test_the_id_of_a_check_is_the_file_name(name, module):
    assert module.CHECK.id == name.replace("_", "-")
    assert module.CHECK.kind in KINDS


@every_check
def test_the_docstring_of_a_check_is_its_manual_page(name, module):
    for heading in ("\n\nWhat happens: ", "\n\nHow to tell: ", "\n\nFix: "):
        assert heading in module.__doc__


@every_check
def test_a_check_has_bad_and_good_examples(name, module):
    examples = ROOT / "tests" / "checks" / name
    assert list(examples.glob("bad_*")), examples
    assert list(examples.glob("good_*")), examples


@every_check
def test_a_check_of_sources_says_for_which_words_it_looks(name, module):
    if module.CHECK.kind in {"py", "cc"}:
        assert module.CHECK.words
        for example in (ROOT / "tests" / "checks" / name).glob("bad_*"):
            assert any(word in example.read_text(encoding="utf-8") for word in module.CHECK.words)


@every_check
def test_a_check_fits_on_four_screens(name, module):
    assert len(inspect.getsource(module).splitlines()) <= 160


@every_format
def test_a_format_is_shown_in_its_docstring(name, module):
    assert "Looks like::\n\n" in module.__doc__
    assert module.MARKERS


@every_format
def test_a_format_reads_something_of_the_corpus(name, module):
    assert any(list(module.read(Evidence.of("e", text))) for _, text in LOADED)


@pytest.mark.parametrize(
    "module", [*formats().values(), *checks().values()], ids=lambda m: m.__name__
)
def test_regular_expressions_stand_at_the_top_in_capitals(module):
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.FunctionDef):
            assert not re.search(
                r"\bre\.(compile|search|match|findall|sub)\(", ast.unparse(node)
            ), node.name


@every_source
def test_no_name_says_nothing(path):
    assert not set(path.with_suffix("").parts) & {
        "utils",
        "util",
        "helpers",
        "helper",
        "common",
        "misc",
        "manager",
        "base",
    }


@every_source
def test_there_are_two_levels_and_no_third(path):
    assert len(path.relative_to(ROOT / "src" / "sigwhy").parts) <= 2


@every_source
def test_an_exception_to_a_rule_gives_its_reason(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        for mark in ("# noqa", "# type: ignore", "# pragma: no cover"):
            if mark in line:
                assert re.search(mark + r"\S* ?[A-Z\[][\w\]\[,-]*.* -- \w+", line), line


def test_the_public_names_are_those_of_all():
    named = {n for n in vars(sigwhy) if not n.startswith("_")}
    modules = {n for n in named if inspect.ismodule(getattr(sigwhy, n))}
    assert named - modules - {"TYPE_CHECKING"} <= set(sigwhy.__all__)
    assert all(hasattr(sigwhy, name) for name in sigwhy.__all__)
    assert sigwhy.__all__ == sorted(sigwhy.__all__)


@pytest.mark.parametrize("path", paths(), ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_text_names_no_machine_of_ours(path):
    assert not re.search(r"/root/|/tmp/h\w+/|[\s\"'(]/work/", path.read_text(encoding="utf-8"))
