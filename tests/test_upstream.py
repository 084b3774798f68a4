"""The table of known bugs: which rows are refused, and which deaths a row fits."""

import pytest

from sigwhy import UsageError, explain
from sigwhy.known_bugs import order, read, rows
from sigwhy.model.fact import KnownBug
from sigwhy.upstream import _stood
from tests.guilt.tried import number, operation, report, tensor

ROW = """
[[bug]]
id = "pool-zero"
ops = ["Pool"]
says = "a stride of 0 is not refused"
when = [{ argument = "strides", is = "==", than = 0 }]
call = "tf.raw_ops.Pool(strides=[0])"
lives = "tf.raw_ops.Pool(strides=[1])"
ran = { "2.13.1" = "SIGFPE", "2.16.2" = "SIGFPE", "2.20.0" = "error" }
workaround = "Use 1."
"""


@pytest.fixture
def table(monkeypatch):
    def use(text):
        found = read(text)
        monkeypatch.setattr("sigwhy.upstream.rows", lambda: found)

    return use


def bug(*operations, **death):
    return report(*operations, **death).case.first(KnownBug)


POOL = operation("Pool", attributes=[number("strides", 0)])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('id = "pool-zero"', 'id = "Pool Zero"', "id wants small letters"),
        ('ops = ["Pool"]', "ops = []", "ops wants names"),
        ('ops = ["Pool"]', 'ops = ["Po ol"]', "ops wants names"),
        ("when = [{", "colour = 3\nwhen = [{", "colour"),
        ('is = "=="', 'is = "~"', "Invalid enum value"),
        ("than = 0", "than = [0]", "does not go with"),
        ("SIGFPE", "SIGWHAT", "SIGWHAT"),
        ('"2.13.1" = "SIGFPE", "2.16.2" = "SIGFPE", ', "", "at least one version that dies"),
        ('"2.13.1"', '"newest"', "versions such as"),
        ("not refused", "not refused.", "without a stop"),
        ("raw_ops.Pool(strides=[0])", "raw_ops.Other()", "call one of the ops"),
        ('workaround = "Use 1."', 'link = "see the forum"', "https://"),
        ('says = "a stride of 0 is not refused"\n', "", "says"),
        ("[[bug]]", "[[bug]", "upstream.toml"),
    ],
)
def test_a_malformed_row_is_refused_with_its_name_and_the_reason(old, new, said):
    assert old in ROW
    with pytest.raises(UsageError, match=r"upstream\.toml cannot be used") as caught:
        read(ROW.replace(old, new))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_id_twice_is_refused():
    with pytest.raises(UsageError, match="twice"):
        read(ROW + ROW)


def test_the_first_version_after_the_last_that_died_has_it_fixed():
    (row,) = read(ROW)
    assert (row.dies_in, row.fixed_in) == (("2.13.1", "2.16.2"), "2.20.0")
    assert [row.may_die(v) for v in ("2.12.0", "2.15.0", "2.19.1", "2.21.0", None)] == [
        True,
        True,
        True,
        False,
        True,
    ]


def test_versions_are_numbers_and_not_words():
    assert sorted(["2.16.2", "2.9.1"], key=order) == ["2.9.1", "2.16.2"]


def test_a_row_fits_the_operation_its_death_and_its_condition(table):
    table(ROW)
    found = bug(POOL, signal="SIGFPE")
    assert (found.id, found.argument, found.value, found.fit) == (
        "pool-zero",
        "strides",
        "0",
        "exact",
    )
    assert found.fixed_in == "2.20.0"


def test_the_verdict_says_since_when_and_what_to_do_until_then(table):
    table(ROW)
    told = report(POOL, signal="SIGFPE")
    assert told.verdict.best.says == (
        "strides is 0: a stride of 0 is not refused (known bug, seen in 2.13.1 to 2.16.2)"
    )
    assert told.verdict.fix.endswith("until then: Use 1.")
    assert told.culprit.argument == "strides"


def test_it_does_not_fit_another_death_another_operation_or_other_arguments(table):
    table(ROW)
    assert bug(POOL, signal="SIGSEGV", address=8) is None
    assert bug(operation("Fool", attributes=POOL.attributes), signal="SIGFPE") is None
    assert bug(operation("Pool", attributes=[number("strides", 1)]), signal="SIGFPE") is None


def test_it_does_not_fit_a_version_in_which_it_was_fixed(table):
    table(ROW)
    assert bug(POOL, signal="SIGFPE", packages={"tensorflow": "2.21.0"}) is None
    assert bug(POOL, signal="SIGFPE", packages={"tensorflow-cpu": "2.16.2"})


def test_arguments_that_were_not_read_make_it_likely_only(table):
    table(ROW)
    assert bug(operation("Pool", [tensor("x", [1])]), signal="SIGFPE").fit == "likely"


def test_an_operation_that_was_rewritten_for_onednn_is_the_same(table):
    table(ROW)
    assert bug(operation("_MklNativePool", attributes=POOL.attributes), signal="SIGFPE")


def test_an_operation_that_may_be_old_news_fits_no_row(table):
    table(ROW)
    assert bug(operation("Pool", attributes=POOL.attributes, is_hint=True), signal="SIGFPE") is None


def test_the_words_of_the_check_must_have_been_said(table):
    table(ROW.replace("SIGFPE", "SIGABRT").replace("workaround", 'check = "n > 0"\nworkaround'))
    assert bug(POOL, says="Check failed: n > 0 (0 vs. 0)")
    assert bug(POOL, says="Check failed: m > 0 (0 vs. 0)") is None


SAID = (
    "F tensorflow/core/kernels/pool_op.cc:88] Check failed: n > 0 (0 vs. 0)\n[[{{node Pool}}]] [Op:Pool]\n"
    "Aborted (core dumped)\n"
)


def test_a_text_that_names_the_operation_and_the_check_makes_it_likely(table):
    table(ROW.replace("SIGFPE", "SIGABRT").replace("workaround", 'check = "n > 0"\nworkaround'))
    assert explain(SAID).case.first(KnownBug).fit == "likely"


def test_a_text_that_names_the_operation_alone_shows_no_bug(table):
    table(ROW.replace("SIGFPE", "SIGABRT"))
    assert explain(SAID).case.first(KnownBug) is None


def test_the_rows_that_come_with_sigwhy_can_be_read():
    assert rows()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("-1", "x is -1"),
        ("rank 1", "x has rank 1"),
        ("elements 0", "x has no elements"),
        ("int32", "x is int32"),
    ],
)
def test_what_stood_there_is_said_in_english(value, words):
    assert _stood("x", value) == words
