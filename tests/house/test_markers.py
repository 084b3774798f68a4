"""A reader is asked only where one of its words stands, so each way to match must hold such a word."""

import re
from itertools import product

import pytest

from sigwhy.read import formats

try:
    from re import _constants as kinds
    from re import _parser as parser
except ImportError:  # before Python 3.11
    import sre_constants as kinds
    import sre_parse as parser

# Tables whose rows begin a fact by themselves; other patterns look around a line that one of these found.
TABLES = (
    "ROWS", "SENTENCES", "EVERYWHERE", "MAC", "NOTICES", "SAYINGS", "LOST", "MEMORY", "ERRORS", "ONNX_ROWS", "PLAIN",
)  # fmt: skip
ANYTHING = "\0"
MOST_WAYS = 3000
FEW = 4


def ways(tree):
    """Every way to match, with ANYTHING where letters are free."""
    found = [""]
    for kind, value in tree:
        parts = list(part(kind, value))
        found = [a + b for a, b in product(found, parts)][:MOST_WAYS]
    return found


def part(kind, value):
    if kind in SAY_NOTHING:
        return [""]
    return WRITTEN.get(kind, lambda _: [ANYTHING])(value)


def one_of(letters):
    plain = [chr(value) for kind, value in letters if kind is kinds.LITERAL]
    return plain if len(plain) == len(letters) <= FEW else [ANYTHING]


def repeated(times):
    least, most, what = times
    if least:
        return [way + ANYTHING * (most > least) for way in ways(what)]
    return ["", *ways(what)] if most == 1 else [ANYTHING]


SAY_NOTHING = (kinds.AT, kinds.ASSERT, kinds.ASSERT_NOT)
WRITTEN = {
    kinds.LITERAL: lambda letter: [chr(letter)],
    kinds.IN: one_of,
    kinds.BRANCH: lambda value: [way for branch in value[1] for way in ways(branch)],
    kinds.SUBPATTERN: lambda value: ways(value[3]),
    kinds.MAX_REPEAT: repeated,
    kinds.MIN_REPEAT: repeated,
}


def patterns(thing):
    if isinstance(thing, re.Pattern):
        yield thing
    elif isinstance(thing, (tuple, list)):
        for one in thing:
            yield from patterns(one)
    elif hasattr(thing, "pattern"):
        yield from patterns(thing.pattern)


TRIGGERS = [
    (name, table, pattern)
    for name, form in formats().items()
    for table in TABLES
    for pattern in patterns(getattr(form, table, ()))
    if not pattern.flags & re.IGNORECASE
]


@pytest.mark.parametrize("name", sorted({name for name, _, _ in TRIGGERS}))
def test_a_word_of_the_reader_stands_in_each_way_to_match(name):
    words = formats()[name].MARKERS
    deaf = {
        way.replace(ANYTHING, "…")[:160]
        for reader, _, pattern in TRIGGERS
        if reader == name
        for way in ways(parser.parse(pattern.pattern))
        if not any(word in way for word in words)
    }
    assert not deaf
