"""What the process was about to say: in its memory, also where nobody kept what it printed.

glibc keeps the words with which it aborts for debuggers (``__abort_msg``). A C++ exception lies
where the unwinder left it, with its type. Frameworks put a line together in a buffer before they
print it; the buffer is found from the stack of the thread that died.
"""

from __future__ import annotations

import array
import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.machine.demangle import demangled
from sigwhy.machine.memory import HIGHEST, LOWEST, PAGE, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sigwhy.machine.memory import Memory

BELOW, ABOVE = 32 << 10, 96 << 10  # bytes of the stack, from its pointer
MOST_PAGES = 600
MOST_LINES = 12
MOST_MESSAGE = 64 << 10
LIBC = re.compile(r"/libc(?:-[\d.]+)?\.so")
LONGEST = 1000
# How a line begins that is said before an end; what stands before it on the line is kept too.
SAID = re.compile(
    rb"[\x20-\x7e\t]{0,200}?(?:Check failed: [^\s:]|Non-OK-status: |Assertion [`'/]|Fatal Python error: |LLVM ERROR: |terminate called |libprotobuf FATAL"
    rb"|\[libprotobuf|OMP: Error |INTERNAL ASSERT FAILED|Fatal error|FATAL|Attempt to free invalid pointer|corrupted |double free |free\(\): |malloc\(\): |munmap_chunk\(\))[\x20-\x7e\t]{0,600}"
)
EXCEPTION_CLASS = struct.pack(
    "<Q", 0x474E5543432B2B00
)  # "GNUCC++\0", as the unwinder marks its own
TYPE_BEFORE, OBJECT_BEHIND = 80, 32  # from the unwinder's header: the type, and what was thrown
TYPE_NAME, WORDS = 8, 8
# Standard exceptions that hold their words as a pointer behind their table of functions.
HOLD_WORDS = re.compile(
    r"^(?:std::(?:\w+::)*(?:runtime_error|logic_error|out_of_range|invalid_argument|length_error|domain_error|range_error|overflow_error|underflow_error|system_error|future_error|regex_error|format_error)|\w+(?:::\w+)*)$"
)
TEXT = re.compile(rb"^[\x20-\x7e\t\n]{1,1000}$")


@dataclass(frozen=True, slots=True)
class Thrown:
    """A C++ exception: its type, and its words where it has some."""

    type: str
    says: str | None = None


def said(memory: Memory, stack: int) -> list[str]:
    """The lines that lie ready in the memory of a thread with this stack pointer."""
    found: dict[str, None] = {}
    for page in _pages(memory, stack):
        for line in SAID.findall(memory.page(page)):
            found.setdefault(line.decode("ascii", "replace").strip()[:LONGEST])
            if len(found) >= MOST_LINES:
                return list(found)
    return list(found)


def thrown(memory: Memory, stack: int) -> Thrown | None:
    """The C++ exception in flight, the one nearest to the stack pointer."""
    for word in _pointers(memory, stack):
        try:
            if memory.read(word, 8) == EXCEPTION_CLASS and (found := _exception(memory, word)):
                return found
        except UnreadableError:
            continue
    return None


def abort_message(memory: Memory) -> str | None:
    """The words with which glibc aborted: a page of their own, to which its data points."""
    for mapping in memory.mappings:
        if LIBC.search(mapping.path) and "w" in mapping.rights:
            for page in range(mapping.start, mapping.end, PAGE):
                for word in array.array("Q", memory.page(page)):
                    if found := _own_page(memory, word):
                        return found
    return None


def _own_page(memory: Memory, word: int) -> str | None:
    """The text of ``struct abort_msg_s``: its size, a multiple of pages, then the characters."""
    mapping = memory.mapping(word) if word % PAGE == 0 and word else None
    if mapping is None or mapping.path or not mapping.rights.startswith("rw"):
        return None
    try:
        size = memory.half(word)
        text = (
            memory.text(word + 4, LONGEST)
            if size and size % PAGE == 0 and size <= MOST_MESSAGE
            else ""
        )
    except UnreadableError:
        return None
    return text.strip() if TEXT.match(text.encode("utf-8", "replace")) else None


def _exception(memory: Memory, header: int) -> Thrown | None:
    try:
        kind = memory.word(header - TYPE_BEFORE)
        name = memory.text(memory.word(kind + TYPE_NAME), 512).lstrip("*")
    except UnreadableError:
        return None
    readable = demangled(f"_ZTS{name}").removeprefix("typeinfo name for ")
    if readable.startswith("_ZTS"):
        return None
    return Thrown(readable, _what(memory, header + OBJECT_BEHIND, readable))


def _what(memory: Memory, thing: int, kind: str) -> str | None:
    if not HOLD_WORDS.match(kind):
        return None
    try:
        words = memory.text(memory.word(thing + WORDS), LONGEST)
    except UnreadableError:
        return None
    return words if TEXT.match(words.encode("utf-8", "replace")) else None


def _pages(memory: Memory, stack: int) -> Iterator[int]:
    """The pages of the stack, then those that it points to and those behind them, each once."""
    start, end = _bounds(memory, stack)
    near = _first((word & -PAGE for word in _pointers(memory, stack)), MOST_PAGES)
    behind = (page + PAGE for page in near)
    for page in dict.fromkeys((*range(start, end, PAGE), *near, *behind)):
        if memory.mapping(page):
            yield page


def _first(pages: Iterable[int], most: int) -> list[int]:
    found: dict[int, None] = {}
    for page in pages:
        found.setdefault(page)
        if len(found) >= most:
            break
    return list(found)


def _pointers(memory: Memory, stack: int) -> Iterator[int]:
    """The words of the stack that point to memory that can be written, those above its pointer first."""
    start, end = _bounds(memory, stack)
    if not end:
        return  # the stack pointer is in no stack: it ran over
    upper = range(stack & -PAGE, end, PAGE)
    lower = range((stack & -PAGE) - PAGE, start - 1, -PAGE)
    for page in (*upper, *lower):
        for word in array.array("Q", memory.page(page)):
            if LOWEST <= word < HIGHEST:
                mapping = memory.mapping(word)
                if mapping and mapping.rights.startswith("rw"):
                    yield word


def _bounds(memory: Memory, stack: int) -> tuple[int, int]:
    mapping = memory.mapping(stack)
    if mapping is None or "w" not in mapping.rights:
        return 0, 0
    return max(mapping.start, (stack - BELOW) & -PAGE), min(mapping.end, stack + ABOVE)
