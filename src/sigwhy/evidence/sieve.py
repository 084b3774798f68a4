"""Keeps of a long log what a reader could want: its head, its tail, and the lines around markers.

A training log says the same things again and again with other numbers. So the digits are taken out,
and a line is looked at once for each wording: a gigabyte of progress has a few hundred wordings.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

WHOLE_BYTES = 1 << 20
LONGEST_LINE = 64 << 10
BEFORE, AFTER = 60, 600
BEFORE_QUIET, AFTER_QUIET = 3, 20
HEAD_LINES, TAIL_LINES = 200, 600
MOST_KEPT, MOST_KEPT_QUIET = 40_000, 15_000
MOST_WORDINGS = 200_000
MOST_WINDOWS = 20
MOST_LOOKS = 1_000_000
# The words of a death: around them much is kept, and they are looked for however many lines came before.
LOUD = (
    "core dumped",
    "Segmentation fault",
    "egmentation violation",
    "SIGSEGV",
    "SIGABRT",
    "SIGBUS",
    "SIGILL",
    "SIGFPE",
    "SIGKILL",
    "Fatal Python error",
    "fatal exception",
    "Current thread 0x",
    "Traceback (most recent call",
    "AddressSanitizer",
    "ThreadSanitizer",
    "LeakSanitizer",
    "runtime error: ",
    "Check failed",
    "Non-OK-status",
    "terminate called",
    "libc++abi",
    "Assertion",
    "*** Error in",
    "free(): ",
    "malloc(): ",
    "corrupted ",
    "stack smashing",
    "Bus error",
    "Illegal instruction",
    "Floating point exception",
    "Aborted",
    "Abort trap",
    "Killed",
    "oom-kill",
    "ut of memory",
    "OutOfMemory",
    "OOM when",
    "segfault at",
    "general protection",
    "invalid opcode",
    "Received signal",
    "received signal",
    "killed by signal",
    "exited on signal",
    "exit code",
    "CUDA error",
    "FATAL",
    "panicked at",
    "cannot allocate memory",
    "undefined symbol",
    "cannot open shared object",
    "No space left",
    "Resource temporarily unavailable",
)
DIGITS = b"0123456789"
BREAKS = bytes.maketrans(b"\r", b"\n")

Numbered = tuple[int, str]
Place = tuple[int, int, int]


def sieve(blocks: Iterable[bytes], markers: Sequence[str]) -> tuple[list[Numbered], int]:
    """The lines worth reading, with their numbers from 1, and how many were left out."""
    whole, rest = _first(blocks)
    if rest is None:
        lines = whole.replace(b"\r\n", b"\n").split(b"\n")
        return text(enumerate(lines[:-1] if not lines[-1] else lines, 1)), 0
    kept = keep(_again(whole, rest), markers)
    return text(kept.lines()), kept.left_out


def keep(blocks: Iterable[bytes], markers: Sequence[str]) -> Kept:
    """What is worth keeping of a long log, or of a part of one."""
    kept = Kept()
    looker = Looker(markers)
    for block in _lines_whole(blocks):
        kept.add(block, looker.telling(block))
    return kept


def _first(blocks: Iterable[bytes]) -> tuple[bytes, Iterator[bytes] | None]:
    """The whole text where it is short; else its beginning and what follows."""
    rest = iter(blocks)
    head = b""
    for block in rest:
        head += block
        if len(head) > WHOLE_BYTES:
            return head, rest
    return head, None


def _again(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _lines_whole(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Blocks that end with the end of a line; of a line that does not end, the beginning."""
    carry = b""
    for block in blocks:
        data = carry + block
        end = (data.rfind(b"\n") + 1) or (data.rfind(b"\r", 0, -1) + 1)
        carry = data[end:]
        if end:
            yield data[:end]
        if len(carry) > 2 * LONGEST_LINE:
            carry = carry[:LONGEST_LINE]
    if carry:
        yield carry


class Looker:
    """Tells which lines of a block hold a marker, looking at each wording once."""

    def __init__(self, markers: Sequence[str]) -> None:
        """Compile the markers; a long log is worth the time."""
        self.marker = re.compile(_tree(m.encode() for m in (*markers, *LOUD)))
        self.loud = re.compile(_tree(m.encode() for m in LOUD))
        self.known: set[bytes] = set()
        self.looks = 0

    def telling(self, block: bytes) -> list[Telling]:
        """The lines of a block that say something new of a crash."""
        if not block.strip() or (self.looks > MOST_LOOKS and not self.loud.search(block)):
            return []
        wordings = block.translate(BREAKS, DIGITS).split(b"\n")
        if self.known.issuperset(wordings):
            return []
        new = set(wordings) - self.known
        if len(self.known) > MOST_WORDINGS:
            self.known.clear()
        self.known |= new
        self.looks += len(new)
        lines = block.translate(BREAKS).split(b"\n")
        found = []
        for n, wording in enumerate(wordings):
            if wording in new:
                new.discard(wording)
                if self.marker.search(lines[n], 0, LONGEST_LINE):
                    found.append(Telling(n, bool(self.loud.search(lines[n], 0, LONGEST_LINE))))
        return found


def _tree(words: Iterable[bytes]) -> bytes:
    """A pattern for any of the words that shares their beginnings: one look a letter, not one a word."""
    tree: dict[int, Any] = {}
    for word in words:
        branch = tree
        for letter in word:
            branch = branch.setdefault(letter, {})
        branch[-1] = {}

    def pattern(branch: dict[int, Any]) -> bytes:
        if -1 in branch:
            return b""  # a word ends here; what is longer is found with it
        ways = [re.escape(bytes([letter])) + pattern(rest) for letter, rest in branch.items()]
        return ways[0] if len(ways) == 1 else b"(?:" + b"|".join(ways) + b")"

    return pattern(tree)


@dataclass(frozen=True, slots=True)
class Telling:
    """A line that holds a marker; ``loud`` where that is the word of a death."""

    row: int
    loud: bool


def _most_telling(telling: list[Telling]) -> list[Telling]:
    return sorted(telling, key=lambda one: not one.loud)[:MOST_WINDOWS]


class Kept:
    """The lines that were kept so far, and the blocks just behind us in case they are wanted."""

    def __init__(self) -> None:
        """Nothing is kept yet."""
        self.chosen: dict[Place, bytes] = {}
        self.behind: deque[Block] = deque(maxlen=2)
        self.next = Block(0, 1, b"")
        self.more = HEAD_LINES

    def add(self, data: bytes, telling: list[Telling]) -> None:
        """Take one block with its telling lines."""
        block = replace(self.next, data=data)
        if telling or self.more:
            wanted = set(range(self.more))
            for one in _most_telling(telling):
                before, after = (BEFORE, AFTER) if one.loud else (BEFORE_QUIET, AFTER_QUIET)
                wanted |= set(range(max(0, one.row - before), one.row + after))
            if telling and telling[0].row < BEFORE:
                self._take_back(BEFORE)
            room = MOST_KEPT if any(one.loud for one in telling) else MOST_KEPT_QUIET
            count = 0
            for count, row in enumerate(block.rows(), 1):
                if count - 1 in wanted and len(self.chosen) < room:
                    self.chosen.update([row])
            self.more = max(max(wanted) + 1 - count, 0)
        self.behind.append(block)
        self.next = Block(block.number + 1, block.line + data.count(b"\n"), b"")

    def _take_back(self, count: int) -> None:
        self.chosen.update(
            deque((row for block in self.behind for row in block.rows()), maxlen=count)
        )

    def lines(self) -> list[tuple[int, bytes]]:
        """All that was kept, in order, with the tail of the log."""
        self._take_back(TAIL_LINES)
        return [(line, text) for (line, _, _), text in sorted(self.chosen.items())]

    @property
    def left_out(self) -> int:
        """How many lines nobody will read."""
        return max(self.next.line - 1 - len({line for line, _, _ in self.chosen}), 0)


@dataclass(frozen=True, slots=True)
class Block:
    """Some bytes of a log, the number of its first line, and its own number among the blocks."""

    number: int
    line: int
    data: bytes

    def rows(self) -> Iterator[tuple[Place, bytes]]:
        """The pieces of the block, each with its place; a progress bar has many in one line."""
        for line, whole in enumerate(self.data.removesuffix(b"\n").split(b"\n"), self.line):
            for piece, text in enumerate(whole.removesuffix(b"\r").split(b"\r")):
                yield (line, self.number, piece), text[:LONGEST_LINE]


def text(lines: Iterable[tuple[int, bytes]]) -> list[Numbered]:
    """Decoded lines; a gap becomes an empty line, so that nobody reads across it."""
    told: list[Numbered] = []
    last = 0
    for number, line in lines:
        if last and number > last + 1:
            told.append((number - 1, ""))
        last = number
        words = line[:LONGEST_LINE].removesuffix(b"\r").decode("utf-8", "replace")
        told.extend((number, piece) for piece in words.split("\r") if piece or not words)
    return told


def part(path: str, start: int, end: int) -> Iterator[bytes]:
    """The bytes of the lines that begin in this part of a file."""
    with open(path, "rb") as file:  # noqa: PTH123 -- this file runs alone, with as few imports as can be
        if start:
            file.seek(start - 1)
            # A line may be as long as the file, so it is not read at once.
            while (piece := file.readline(WHOLE_BYTES)) and not piece.endswith(b"\n"):
                pass
        block = b""
        while (left := end - file.tell()) > 0 and (block := file.read(min(left, WHOLE_BYTES))):
            yield block
        if block and not block.endswith(b"\n"):
            yield file.readline(LONGEST_LINE)


def main() -> None:
    """Sieve one part of a log, as ``parts`` asks for it on standard input."""
    import marshal
    import sys

    path, start, end, markers = marshal.loads(sys.stdin.buffer.read())  # noqa: S302 -- our own parent wrote it
    kept = keep(part(path, start, end), markers)
    sys.stdout.buffer.write(marshal.dumps((kept.lines(), kept.left_out, kept.next.line - 1)))


if __name__ == "__main__":
    main()
