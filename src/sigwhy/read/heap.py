"""What allocators say when they find their books damaged.

Looks like::

    *** Error in `python': double free or corruption (!prev): 0x000000000167c080 ***
    free(): invalid pointer
    python(812,0x1f5c) malloc: *** error for object 0x10: pointer being freed was not allocated
    src/tcmalloc.cc:283] Attempt to free invalid pointer 0x7f31d0
    <jemalloc>: Invalid free of 0x7f31d0: double free
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import HeapDamage, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

MARKERS = (
    "realloc_check()",
    "free():", "double free", "Double Free", "malloc():", "malloc:", "malloc.c", "realloc():",
    "calloc():", "memalign():", "_chunk():", "consolidate():", "shutdown():", "_get_size():",
    "corrupt", "Corrupt", "CORRUPT", "fastbin entry", "malloc space", "invalid pointer",
    "was not allocated", "checksum for freed", "*** error for object", "LIBMALLOC", "jemalloc>",
    "mimalloc:", "Write-after-free", "Invalid deallocation", "double-free", "stomping", "in free()",
    "in realloc()", "in malloc()", "Scudo ERROR", "passed to free", "passed to realloc",
    "passed to delete", "@@@ ABORTING", "Pointer tag for", "MEMORY-ERROR", "to Rtl", "Heap block at",
    "BLOCK_TYPE_IS_VALID", "is_block_type_valid", "IsValidHeapPointer", "end of heap buffer",
    "bad ID: Allocated", "pad byte", "[GWP-ASan]", "[MTE]", "PartitionAlloc", "dangling raw_ptr",
    "clobbered", "freed twice", "library is buggy",
)  # fmt: skip
GLIBC = (
    r"double free or corruption \((?:fasttop|top|out|!prev)\)"
    r"|corrupted size vs\. prev_size(?: while consolidating| in fastbins)?"
    r"|corrupted double-linked list(?: \(not small\))?"
    r"|invalid fastbin entry \(free\)|break adjusted to free malloc space"
    r"|(?:malloc|free|realloc|calloc|memalign|munmap_chunk|mremap_chunk|malloc_consolidate"
    r"|tcache_thread_shutdown|malloc_check_get_size|realloc_check)\(\): "
    r"(?:invalid|corrupted|unaligned|double free|too many chunks|mismatching|memory corruption"
    r"|smallbin|largebin|unsorted|chunks in smallbin)[ \w!.>()-]{0,60}"
    r"|memory clobbered (?:past end of|before) allocated block|block freed twice"
    r"|memory is inconsistent, library is buggy"
)
# (allocator, what it says). The words that match are the fact.
SAYINGS = tuple(
    (allocator, re.compile(words))
    for allocator, words in (
        ("glibc", rf"(?:{GLIBC})"),
        ("glibc", r"malloc\.c:\d+: \w+: Assertion [`'‘\"].{1,300}? failed"),
        ("glibc", r"Fatal glibc error: malloc\.c:\d+ \(\w+\): assertion failed: .{1,300}"),
        ("glibc", r"malloc\(\): (?:corrupted|invalid)[^:]{0,40}"),
        ("tcmalloc", r"Attempt to (?:free|realloc|get the size of) invalid pointer"),
        ("tcmalloc", r"Found a corrupted memory buffer in MallocBlock|memory stomping bug"),
        ("tcmalloc", r"(?:Possible|Likely) double[- ]free|CorruptFreeList|CORRUPTED FREE LIST"),
        ("jemalloc", (r"<jemalloc>: .{0,80}(?:size mismatch detected|double free|Invalid free"
                     r"|invalid deallocation|Corrupted|corrupted|[Ff]ailed assertion).{0,200}")),
        ("jemalloc", r"Write-after-free detected|Invalid deallocation detected"),
        ("mimalloc", (r"mimalloc: error: .{0,60}(?:double free|corrupted free list"
                     r"|invalid pointer|buffer overflow|pointer might not point|heap block).{0,120}")),
        ("macos", r"pointer being (?:freed|realloc'd|reallocated) was not allocated"),
        ("macos", r"[Ii]ncorrect checksum for freed object"),
        ("macos", r"Heap corruption detected, free list.{0,80}"),
        ("macos", r"\*\*\* error for object 0x[0-9a-fA-F]+: (?!pointer being|[Ii]ncorrect).{1,120}"),
        ("macos", r"BUG IN CLIENT OF LIBMALLOC(?:_\w+)?: .{1,120}"),
        ("macos", r"Corruption of (?:free object|tiny freelist|small freelist) .{1,60}"),
        ("freebsd", r"in (?:free|realloc|malloc)\(\): error: .{1,80}"),
        ("scudo", r"Scudo ERROR: (?:corrupted|invalid|misaligned|race on|delete).{1,160}"),
        ("bionic", r"Invalid address 0x[0-9a-fA-F]+ passed to (?:free|realloc|delete)[^\n]{0,60}"),
        ("bionic", r"invalid address or address of corrupt block .{1,80}"),
        ("bionic", r"heap corruption detected by \w+|@@@ ABORTING: (?:HEAP|INVALID).{0,80}"),
        ("bionic", r"Pointer tag for 0x[0-9a-fA-F]+ was truncated"),
        ("glib", r"\*\*\*MEMORY-ERROR\*\*\*: .{0,160}"),
        ("windows", r"HEAP CORRUPTION DETECTED: .{0,100}"),
        ("windows", r"Invalid address specified to Rtl\w{1,30}"),
        ("windows", r"Heap block at [0-9A-Fa-f`]{4,20} modified at .{0,80}"),
        ("windows", r"_CrtIsValidHeapPointer|_?BLOCK_TYPE_IS_VALID|is_block_type_valid"),
        ("windows", r"CRT detected that the application wrote to memory after end of heap buffer"),
        ("windows", r"0x[Cc]0000374: A heap has been corrupted|A heap has been corrupted"),
        ("python", r"bad ID: Allocated using API '.', verified using API '.'"),
        ("python", r"bad (?:leading|trailing) pad byte"),
        ("gwp-asan", r"\[GWP-ASan\]: (?:Use After Free|Double Free|Invalid|Buffer).{0,120}"),
        ("mte", r"\[MTE\]: (?:Use After Free|Buffer).{0,120}"),
        ("partition-alloc", r"Detected dangling raw_ptr|PartitionAlloc: .{0,40}corrupt.{0,80}"),
    )
)  # fmt: skip


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield what an allocator found."""
    for n, line in enumerate(evidence.lines):
        if not any(marker in line for marker in MARKERS):
            continue
        for allocator, saying in SAYINGS:
            if found := saying.search(line):
                words = found[0].rstrip()
                span = Span(evidence=evidence.name, first=n, last=n, words=words)
                yield HeapDamage(span=span, allocator=allocator, text=words)
                break
