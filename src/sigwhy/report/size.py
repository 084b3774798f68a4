"""So many bytes, as people say it."""

from __future__ import annotations

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def size(count: int) -> str:
    """``4294967296`` is ``4.0 GiB``."""
    power = min(max(count.bit_length() - 1, 0) // 10, len(UNITS) - 1)
    return f"{count} bytes" if power == 0 else f"{count / 1024**power:.1f} {UNITS[power]}"
