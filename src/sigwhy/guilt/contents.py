"""Bytes of others that a decoder was given: what their own head says of them.

A picture that is a million pixels high, a bitmap that stands on its head, a frame that announces more bytes
than there is memory: the decoder believes it. Where the head is absurd it is to blame; else the bytes
are only likely to be.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Trial

DECODERS = re.compile(
    r"^(?:Decode|Parse|Extract|Deserialize|JpegDecode|_?FusedDecode)(?!CSV|Raw|PaddedRaw|Base64|.*Dataset)|^(?:MergeSummary|ImportEvent)"
)
BYTES = re.compile(r"^b(['\"]).*\1$", re.DOTALL)
MUCH = 1 << 33  # bytes or pixels that nobody has
CRASHES = frozenset({"SIGSEGV", "SIGBUS", "SIGFPE", "SIGABRT"})
# How many bytes of the head of a frame stand for the size, by the two highest bits of its descriptor.
SIZES_OF_ZSTD = (0, 2, 4, 8)
DICTIONARIES_OF_ZSTD = (0, 1, 2, 4)


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield the input that holds what is decoded."""
    if trial.signal not in CRASHES or trial.checks or not DECODERS.match(trial.operation.op):
        return
    given = [a for a in trial.operation.inputs if a.dtype == "string"][:1]
    for argument in given:
        if argument.shape == [0] or argument.elements == 0:
            continue
        odd = next((said for head in _heads(argument) if (said := absurd(head))), None)
        yield Charge(
            argument=argument,
            rule="contents",
            says=f"{argument.name} {odd or 'holds bytes whose sizes the decoder believes'}",
            shown_by=trial.fault,
            value=odd and odd.removeprefix("is a "),
            wanted="data that was checked or made anew",
            fit="exact" if odd else "likely",
            cause="malformed-input",
        )


def absurd(head: bytes) -> str | None:
    """What is absurd about data, by its first bytes."""
    return next(
        (said for mark, look in FORMATS if head.startswith(mark) and (said := look(head))), None
    )


def _heads(argument: Argument) -> Iterator[bytes]:
    for value in argument.values[:64]:
        if isinstance(value, str) and BYTES.match(value):
            try:
                found = ast.literal_eval(value)
            except (ValueError, SyntaxError, MemoryError):
                continue
            yield found if isinstance(found, bytes) else b""
        elif isinstance(value, str):
            yield value.encode("utf-8", "replace")


def _number(head: bytes, at: int, size: int, order: str = "little") -> int | None:
    if len(head) < at + size:
        return None
    return int.from_bytes(head[at : at + size], "big" if order == "big" else "little")


def _bitmap(head: bytes) -> str | None:
    wide, high = _number(head, 18, 4), _number(head, 22, 4)
    if wide is None or high is None:
        return None
    wide, high = (n - (1 << 32) if n >= 1 << 31 else n for n in (wide, high))
    if high < 0:
        return f"is a bitmap that stands on its head (its height is {high})"
    return f"is a bitmap of {wide} x {high} pixels" if wide < 0 or wide * high > MUCH else None


def _png(head: bytes) -> str | None:
    wide, high = _number(head, 16, 4, "big"), _number(head, 20, 4, "big")
    much = wide is not None and high is not None and wide * high > MUCH
    return f"is a PNG picture of {wide} x {high} pixels" if much else None


def _zstd(head: bytes) -> str | None:
    kind = _number(head, 4, 1)
    if kind is None:
        return None
    single = kind >> 5 & 1
    at = 5 + (not single) + DICTIONARIES_OF_ZSTD[kind & 3]
    size = _number(head, at, SIZES_OF_ZSTD[kind >> 6]) if kind >> 6 else 0
    return f"is a ZSTD frame that announces {size} bytes" if size and size > MUCH else None


FORMATS: tuple[tuple[bytes, Callable[[bytes], str | None]], ...] = (
    (b"BM", _bitmap),
    (b"\x89PNG\r\n", _png),
    (b"\x28\xb5\x2f\xfd", _zstd),
)
