"""Mutates crash texts, Incidents and cores and explains them: nothing may raise, nothing take long.

``python tools/fuzz.py --texts 200000 [--kind incidents] [--seed 1] [--jobs 2]``. What breaks something
is written to ``build/fuzz/`` so that it can become a test.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import random
import sys
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOUND = ROOT / "build" / "fuzz"
SLOW_SECONDS = 5.0
ODD = (
    "\x00",
    "\x1b[31m",
    "\r",
    "\u2028",
    "0x",
    "(",
    "[",
    "{",
    "`",
    '"',
    "<",
    "=" * 300,
    "9" * 400,
    "\ufffd",
    "/" * 200,
)

sys.path.insert(0, str(ROOT))

from tools import fuzz_records  # noqa: E402 -- found by the path above


def _head(text: str, _: list[str], dice: random.Random) -> str:
    return text[: dice.randint(0, len(text))]


def _tail(text: str, _: list[str], dice: random.Random) -> str:
    return text[dice.randint(0, len(text)) :]


def _grown_together(text: str, texts: list[str], dice: random.Random) -> str:
    return _head(text, texts, dice) + _tail(dice.choice(texts), texts, dice)


def _odd_words_inside(text: str, _: list[str], dice: random.Random) -> str:
    at = dice.randint(0, len(text))
    return text[:at] + dice.choice(ODD) + text[at:]


def _another_letter(text: str, _: list[str], dice: random.Random) -> str:
    at = dice.randint(0, len(text))
    return text[:at] + chr(dice.randrange(0x20, 0x3000)) + text[at + 1 :]


def _shuffled(text: str, _: list[str], dice: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    dice.shuffle(lines)
    return "".join(lines)


def _letter_replaced(text: str, _: list[str], dice: random.Random) -> str:
    return text.replace(dice.choice("0123456789abcdef \n:()[]"), dice.choice(("", "0", "\n", "::")))


def _lines_repeated(text: str, _: list[str], dice: random.Random) -> str:
    return "".join(line * dice.choice((1, 1, 1, 2, 40)) for line in text.splitlines(keepends=True))


MUTATIONS = (
    _head,
    _tail,
    _grown_together,
    _odd_words_inside,
    _another_letter,
    _shuffled,
    _letter_replaced,
    _lines_repeated,
)
LONGEST = 200_000


def mutated(texts: list[str], dice: random.Random) -> str:
    """One text, changed in a few ways one after the other."""
    text = dice.choice(texts)
    for _ in range(dice.randint(1, 6)):
        text = dice.choice(MUTATIONS)(text, texts, dice)[:LONGEST]
    return text


def work(seed: int, count: int) -> list[tuple[str, str]]:
    """Explain so many mutated texts; return those that raised or took long, with why."""
    from sigwhy import explain
    from sigwhy.report import html, json, markdown, text
    from tests.crash_texts import load, paths

    texts = [load(path)[1] for path in paths()]
    dice = random.Random(seed)  # noqa: S311 -- a fuzzer wants speed and repeatability
    broken = []
    for _ in range(count):
        given = mutated(texts, dice)
        start = time.process_time()
        try:
            report = explain(given + "\n")
            json.render(report)
            if dice.randrange(20) == 0:
                for form in (html, markdown, text):
                    form.render(report)
        except Exception:  # noqa: BLE001 -- whatever it is, it is what we look for
            broken.append((given, traceback.format_exc()))
        if time.process_time() - start > SLOW_SECONDS:
            broken.append((given, f"took {time.process_time() - start:.1f} s of CPU time"))
    return broken


KINDS = {"texts": work, "incidents": fuzz_records.incidents, "cores": fuzz_records.cores}


def main() -> int:
    """Share the work among processes and print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--kind", choices=KINDS, default="texts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    start = time.perf_counter()
    portion = 500
    portions = [min(portion, args.texts - n) for n in range(0, args.texts, portion)]
    broken: list[tuple[str | bytes, str]] = []
    done = 0
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        futures = {
            pool.submit(KINDS[args.kind], args.seed * 1_000_003 + n, size): size
            for n, size in enumerate(portions)
        }
        for future in concurrent.futures.as_completed(futures):
            broken += future.result()
            done += futures[future]
            if sys.stderr.isatty():
                print(
                    f"\r{done:,} {args.kind}, {len(broken)} broken",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
    FOUND.mkdir(parents=True, exist_ok=True)
    for number, (given, why) in enumerate(broken[:50]):
        name = f"{args.kind}-{args.seed}-{number}"
        if isinstance(given, bytes):
            (FOUND / name).write_bytes(given)
        else:
            (FOUND / f"{name}.txt").write_text(given, encoding="utf-8", errors="surrogatepass")
        print(why)
    print(
        f"{done:,} mutated {args.kind} in {time.perf_counter() - start:.0f} s: {len(broken)} broken"
    )
    return bool(broken)


if __name__ == "__main__":
    raise SystemExit(main())
