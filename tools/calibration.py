"""Measures whether stated probabilities are honest: how many verdicts given with so much are right.

``python tools/calibration.py [TEXTS.jsonl]``. Without a file the texts of ``tests/corpus`` are judged. A file
holds one JSON object per line: ``text``, and ``expect`` with the accepted ``causes``; truths marked ``weak``
are passed over. Nothing of the file is kept.

Two things were taken from texts: the counts of the priors, and the weight of a strong clue. So each text is
judged as if it had not been there: its report is taken out of the counts (``--counted``: the file is the one
that they come from), and the weight is fitted to all other texts.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from sigwhy import explain, priors
from sigwhy.causes import shares
from sigwhy.explain import ENOUGH
from sigwhy.model.cause import Weight
from sigwhy.model.fact import Death

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.case import Case
    from sigwhy.model.cause import Cause
    from sigwhy.model.report import Report

ROOT = Path(__file__).parents[1]
BANDS = (0.7, 0.8, 0.9, 0.95, 0.99, 1.01)
STRONGS = range(14, 41)
HARDLY_EVER = 1e-6

sys.path.insert(0, str(ROOT))


@dataclass(frozen=True, slots=True)
class Judged:
    """One text: what was said with a given weight of a strong clue, and what would have been right."""

    said: dict[int, tuple[str | None, float]]
    losses: dict[int, float]
    right: frozenset[str]


def own_texts() -> Iterator[tuple[str, frozenset[str]]]:
    """The texts of the house, with the cause that each must get; none where it must stay open."""
    from tests.crash_texts import load, paths

    for path in paths():
        header, text = load(path)
        yield text, frozenset(header["CAUSE"]) - {"undecided"}


def given_texts(path: Path) -> Iterator[tuple[str, frozenset[str]]]:
    """The texts of a file, with the causes that are accepted."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        expect = row["expect"]
        if not expect.get("weak"):
            yield row["text"], frozenset(expect["causes"])


def judged(text: str, right: frozenset[str], *, counted: bool) -> Judged:
    """Judge a text with every weight that a strong clue could have."""
    report = explain(text + "\n")
    without = _without(report.case, right) if counted else priors.COUNTED
    reports = sum(sum(by.values()) for by in without.values())
    with patch.multiple(priors, COUNTED=without, REPORTS=reports):
        before = {f.cause: priors.decibans(report.case, f.cause.id) for f in report.findings}
    likely = {strong: shares(_scores(report, before, strong)) for strong in STRONGS}
    return Judged(
        {strong: _verdict(report, found) for strong, found in likely.items()},
        {strong: _loss(found, right) for strong, found in likely.items()},
        right,
    )


def _scores(report: Report, before: dict[Cause, float], strong: int) -> dict[Cause, float]:
    return {
        f.cause: before[f.cause]
        + sum(strong if c.weight == Weight.STRONG else c.weight for c in f.clues)
        for f in report.findings
    }


def _verdict(report: Report, likely: dict[Cause, float]) -> tuple[str | None, float]:
    """The verdict by the rule of the product."""
    best = max(report.findings, key=lambda f: likely[f.cause])
    chance = likely[best.cause]
    return (best.cause.id if best.best and chance >= ENOUGH else None, chance)


def _loss(likely: dict[Cause, float], right: frozenset[str]) -> float:
    """How much the truth surprised; nothing where nobody knows it."""
    if not right:
        return 0.0
    chance = sum(share for cause, share in likely.items() if cause.id in right)
    return -math.log(max(chance, HARDLY_EVER))


def _without(case: Case, right: frozenset[str]) -> dict[str, dict[str, int]]:
    """The counts without this report: of its signal where such a one was counted, else of its cause."""
    death = case.first(Death)
    signal = death.signal if death else ""
    cells = [(cause, s) for cause in right for s in priors.COUNTED.get(cause, {})]
    cells.sort(key=lambda cell: cell[1] != signal)
    taken = next(iter(cells), None)
    return {
        cause: {s: n - ((cause, s) == taken) for s, n in by.items()}
        for cause, by in priors.COUNTED.items()
    }


def left_out(texts: Sequence[Judged]) -> Iterator[tuple[str | None, float, bool, int]]:
    """For each text the verdict with the weight that suits all others best."""
    sums = {strong: sum(one.losses[strong] for one in texts) for strong in STRONGS}
    for one in texts:
        strong = min(STRONGS, key=lambda s: sums[s] - one.losses[s])
        cause, chance = one.said[strong]
        yield cause, chance, cause in one.right, strong


def table(rows: Sequence[tuple[str | None, float, bool]]) -> Iterator[str]:
    """A line for each band of stated probability, and one for all of 90 % and more."""
    yield "  stated        verdicts  right   mean stated"
    bands = [*pairwise(BANDS), (0.9, BANDS[-1])]
    for low, high in bands:
        found = [(chance, good) for cause, chance, good in rows if cause and low <= chance < high]
        top = f"to {high:.0%}" if high < 1 else "and more"
        mean = sum(chance for chance, _ in found) / len(found) if found else 0
        yield f"  {low:.0%} {top:9} {len(found):9}  {sum(g for _, g in found):5}   {mean:.1%}"
    yield f"  undecided     {sum(cause is None for cause, _, _ in rows):8}"


def main() -> int:
    """Judge all texts, and fail where verdicts of 90 % and more are right less often than that."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("texts", nargs="?", type=Path, help="a JSON Lines file")
    parser.add_argument("--counted", action="store_true", help="the priors were counted from it")
    args = parser.parse_args()
    source = given_texts(args.texts) if args.texts else own_texts()
    texts = [judged(text, right, counted=args.counted) for text, right in source]
    strong = int(Weight.STRONG)
    priors_are = (
        "its own report taken out of the counts" if args.counted else "the counts as they are"
    )
    print(f"{len(texts)} texts, each with {priors_are}; a strong clue weighs {strong}:")
    rows = [
        (one.said[strong][0], one.said[strong][1], one.said[strong][0] in one.right)
        for one in texts
    ]
    print("\n".join(table(rows)))
    others = list(left_out(texts))
    fits = sorted({row[3] for row in others})
    print(f"the same, the weight fitted to all other texts ({fits[0]} to {fits[-1]}):")
    print("\n".join(table([row[:3] for row in others])))
    sure = [good for cause, chance, good, _ in others if cause and chance >= 0.9]
    return int(sum(sure) < 0.9 * len(sure))


if __name__ == "__main__":
    raise SystemExit(main())
