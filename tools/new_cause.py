"""Starts a new cause: its file, a text that shows it, and a look-alike that is not it.

``python tools/new_cause.py swap-storm "the machine did nothing but swap"``
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE = '''"""{title}.

What happens: say in two sentences what the machine and the libraries do.

How to tell: say which words, frames or numbers show it, and what looks like it and is not.

Fix: say what to change, the surest first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Weight
from sigwhy.model.fact import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="{id}",
    title="{title}",
    fix="Say what to change.",
)


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for it, and against it."""
    for notice in case.all(Notice):
        if notice.topic == "{id}":
            yield Clue(Weight.PROOF, notice, f"it says so: {{notice.text}}")
'''
SHOWS = """MECHANISM: undecided
CAUSE: {id}
FROM: say what you ran, on what

Paste the untouched text here.
"""
LOOK_ALIKE = """MECHANISM: undecided
CAUSE: undecided
NOT: {id}
FROM: say what you ran, on what

Paste a text here that a hasty reader would take for it.
"""


def main() -> int:
    """Write the three files, where none of them is there yet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("id", help="the id, in words joined by hyphens")
    parser.add_argument("title", help='what reads on after "because"')
    args = parser.parse_args()
    if not re.fullmatch(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", args.id):
        parser.error(
            f"{args.id!r} is no id; wanted are small letters joined by hyphens: swap-storm"
        )
    name = args.id.replace("-", "_")
    texts = ROOT / "tests" / "corpus" / name
    files = {
        ROOT / "src" / "sigwhy" / "causes" / f"{name}.py": FILE,
        texts / "it-happens.txt": SHOWS,
        texts / "looks-like-it.txt": LOOK_ALIKE,
    }
    there = [path for path in files if path.exists()]
    if there:
        parser.error(f"{there[0].relative_to(ROOT)} is there already")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(id=args.id, title=args.title), encoding="utf-8")
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
