"""The two ways in which a loader hashes the name of a symbol."""

from __future__ import annotations

from functools import lru_cache

BITS_32 = 0xFFFFFFFF


@lru_cache(maxsize=1 << 16)
def gnu_hash(name: bytes) -> int:
    """Of ``DT_GNU_HASH``; each name is asked for in many libraries, and hashed once."""
    found = 5381
    for letter in name:
        found = (found * 33 + letter) & BITS_32
    return found


def sysv_hash(name: bytes) -> int:
    """Of ``DT_HASH``."""
    found = 0
    for letter in name:
        found = (found << 4) + letter
        high = found & 0xF0000000
        found = (found ^ (high >> 24)) & ~high & BITS_32
    return found
