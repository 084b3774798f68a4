"""Of a long log what matters is kept, with its line numbers, in little memory."""

import random
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigwhy.evidence.sieve import AFTER, BEFORE, part, sieve

MARKERS = ("Segmentation fault", "Check failed")
BORING = b"step 12345 loss 0.25 and some more words to fill the line up\n"
MANY = 60_000


def blocks(data, size=1 << 20):
    return [data[n : n + size] for n in range(0, len(data), size)]


def kept(data, size=1 << 20):
    return sieve(blocks(data, size), MARKERS)[0]


def test_a_short_text_is_kept_whole():
    assert kept(b"one\r\ntwo\nthree") == [(1, "one"), (2, "two"), (3, "three")]


@pytest.mark.parametrize("at", [0, 5, MANY // 3, MANY // 2, MANY - 2, MANY])
@pytest.mark.parametrize("size", [1 << 20, 70_001])
def test_a_crash_is_found_wherever_it_is(at, size):
    data = BORING * at + b"before it\nSegmentation fault\nafter it\n" + BORING * (MANY - at)
    lines = dict(kept(data, size))
    assert (lines[at + 1], lines[at + 2], lines[at + 3]) == (
        "before it",
        "Segmentation fault",
        "after it",
    )


def test_lines_around_a_marker_are_kept_and_others_are_not():
    data = BORING * MANY + b"Check failed: x\n" + BORING * MANY
    numbers = {n for n, _ in kept(data)}
    assert set(range(MANY + 1 - BEFORE, MANY + AFTER)) <= numbers
    assert not set(range(1000, MANY - 2000)) & numbers


def test_the_tail_is_kept_where_nothing_was_said():
    data = BORING * MANY + b"the last words"
    assert kept(data)[-1] == (MANY + 1, "the last words")


def test_nobody_reads_across_a_gap():
    data = BORING * MANY + b"Check failed: x\n" + BORING * MANY
    lines = kept(data)
    gaps = [(before, after) for before, after in pairwise(lines) if after[0] > before[0] + 1]
    assert gaps
    assert all(text == "" for _, (_, text) in gaps)


def test_windows_line_ends_count_once():
    data = (BORING.strip() + b"\r\n") * MANY + b"Segmentation fault\r\n"
    assert kept(data)[-1] == (MANY + 1, "Segmentation fault")


def test_pieces_of_a_progress_bar_do_not_count_as_lines():
    data = (b"\r1%\r2%" * 20 + b"\n") * MANY + b"Segmentation fault\n"
    assert kept(data)[-1] == (MANY + 1, "Segmentation fault")


def test_a_marker_in_every_line_does_not_keep_every_line():
    dice = random.Random(3)  # noqa: S311 -- lines to read, no secret
    data = b"".join(b"Check failed: %x\n" % dice.getrandbits(60) for _ in range(400_000))
    assert len(kept(data)) < 60_000


@settings(max_examples=15)
@given(cuts=st.lists(st.integers(1, 3_000_000), max_size=6), at=st.integers(0, 30_000))
def test_how_the_stream_is_cut_does_not_matter(cuts, at):
    data = BORING * at + b"Segmentation fault\n" + BORING * (30_000 - at)
    places = [0, *sorted(c for c in cuts if c < len(data)), len(data)]
    pieces = [data[a:b] for a, b in pairwise(places)]
    assert (at + 1, "Segmentation fault") in sieve([p for p in pieces if p], MARKERS)[0]


def test_a_part_that_begins_inside_a_long_line_keeps_none_of_it(tmp_path):
    path = tmp_path / "one-line.log"
    path.write_bytes(b"x" * (3 << 20) + b"\nKilled\n")
    assert b"".join(part(str(path), 1 << 20, 2 << 20)) == b""
    assert b"".join(part(str(path), 1 << 20, path.stat().st_size)) == b"Killed\n"


@given(lines=st.lists(st.text("ab", max_size=6), max_size=12), cuts=st.lists(st.integers(0, 80)))
def test_the_parts_of_a_log_hold_each_line_once(tmp_path_factory, lines, cuts):
    data = "".join(f"{line}\n" for line in lines).encode()
    path = tmp_path_factory.mktemp("log") / "train.log"
    path.write_bytes(data)
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    parts = [b"".join(part(str(path), a, b)) for a, b in pairwise(places)]
    assert b"".join(parts) == data


# Not ru_maxrss of itself: that of a child begins with what its parent had when it was forked.
PEAK = """
import re, resource
def peak():
    own = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())
    return max(int(own[1]), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) // 1024
"""
FILE_OF_ONE_LINE = f"""{PEAK}
import sys
from pathlib import Path
from sigwhy import explain
explain(Path(sys.argv[1]))
print(peak())
"""


def test_a_file_of_one_line_of_500_megabytes_fits_into_little_memory(tmp_path):
    path = tmp_path / "one-line.log"
    with path.open("wb") as file:
        for _ in range(500):
            file.write(b"x" * (1 << 20))
    run = subprocess.run(
        [sys.executable, "-c", FILE_OF_ONE_LINE, str(path)],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    path.unlink()
    assert int(run.stdout) < 300


ONE_LINE = """
from sigwhy import explain
class Stream:
    left = {megabytes}
    def read(self, size=-1):
        self.left -= 1
        return {block} if self.left > 0 else b""
report = explain(Stream())
print(peak())
"""


@pytest.mark.parametrize(
    "block", ["b'x' * (1 << 20)", "b'\\r' * (1 << 20)", "b'Killed\\n' * 150000"]
)
def test_one_line_of_500_megabytes_fits_into_little_memory(block):
    run = subprocess.run(
        [sys.executable, "-c", PEAK + ONE_LINE.format(megabytes=500, block=block)],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert int(run.stdout) < 300
