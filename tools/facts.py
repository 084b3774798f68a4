"""Prints every fact that is read from a crash text, with the lines that it was read from.

``python tools/facts.py FILE``; of a text in ``tests/corpus`` the header is left out.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy import explain

if TYPE_CHECKING:
    from sigwhy.model.fact import Fact

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))


def words(fact: Fact) -> str:
    """A fact with the fields that are set."""
    told = ((f.name, getattr(fact, f.name)) for f in fields(fact) if f.name != "span")
    said = ", ".join(f"{name}={value!r}" for name, value in told if value not in (None, "", ()))
    return f"{type(fact).__name__}({said})"


def main() -> int:
    """Read one text."""
    from tests.crash_texts import CORPUS, load

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    path = parser.parse_args().file.resolve()
    case = explain(load(path)[1] if path.is_relative_to(CORPUS) else path).case
    for fact in case.facts:
        quote = case.quote(fact.span)
        print(f"{words(fact)}\n    line {quote.first}: {quote.text.splitlines()[0]}")
    if not case.facts:
        print("nothing is read: no reader knows a word of it")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
