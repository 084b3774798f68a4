"""The corpus of the house: crash texts, each with what must be made of it.

A file is a header, an empty line, and the untouched text. The header's keys:

``MECHANISM``  the mechanism, or ``undecided``
``CAUSE``      the cause of the verdict, or ``undecided``
``NOT``        a cause that this text looks like and is not (any number)
``FACT``       a fact that must be read: its type, then its telling fields (any number)
``CULPRIT``    a word that must stand in the culprit's name, function, library or file
``FROM``       where the text is from: what was run, on what
"""

from collections import defaultdict
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
KEYS = {"MECHANISM", "CAUSE", "NOT", "FACT", "CULPRIT", "FROM"}


def paths():
    return sorted(CORPUS.rglob("*.txt"))


def name(path):
    return f"{path.parent.name}/{path.stem}"


def load(path):
    head, _, text = path.read_text(encoding="utf-8").partition("\n\n")
    header = defaultdict(list)
    for line in head.splitlines():
        key, _, value = line.partition(": ")
        assert key in KEYS, f"{path}: unknown header {key!r}"
        header[key].append(value)
    return header, text
