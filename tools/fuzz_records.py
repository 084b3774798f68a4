"""Mutates Incidents by their structure, and small cores by their bytes; for ``tools/fuzz.py``."""

from __future__ import annotations

import io
import json
import os
import random
import struct
import sys
import tempfile
import time
import traceback
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

SLOW_SECONDS = 2.0
HANGS_SECONDS = 10.0  # the machine may be busy
SELDOM = 20
WORDS = (
    "",
    "\x00",
    "\x1b[31m\x1b]0;owned\x07",
    "\u202eexe.txt\u2066",
    "<script>alert(1)</script>",
    "</pre></details>",
    "```\n# owned",
    "{{ 7 * 7 }}",
    "[bold red]x[/bold red]",
    "../../../../etc/passwd",
    "/dev/stdin",
    "/proc/self/mem",
    "nan",
    "\ud7ff\uffff",
    "(" * 3000,
    "std::map<" * 500,
    "_ZN" + "3abc" * 800 + "Ev",
    "x" * 50_000,
    "a\nb\r\nc\u2028d",
    "SIGSEGV",
    "\\",
)
NUMBERS = (0, 1, -1, 2**31, 2**32, -(2**63), 2**63, 2**64 - 1, 2**64, 2**70, 10**40, 7)
FLOATS = (0.0, -1.0, 1e308, -1e308, 5e-324)
ODD = (None, True, [], {}, [[]], {"": None}, *WORDS, *NUMBERS, *FLOATS)


def _place(node: Any, dice: random.Random) -> tuple[Any, Any]:
    """A container and one of its keys, found by walking down at random."""
    while True:
        key = dice.choice(list(node)) if isinstance(node, dict) else dice.randrange(len(node))
        below = node[key]
        if not isinstance(below, dict | list) or not below or dice.randrange(5) == 0:
            return node, key
        node = below


def _like(value: Any, dice: random.Random) -> Any:
    """Another value of the same kind, so that it passes the check of types."""
    if isinstance(value, bool) or value is None:
        return dice.choice((True, False, None))
    if isinstance(value, int):
        return dice.choice((*NUMBERS[:8], value ^ 1 << dice.randrange(64), value + 1))
    if isinstance(value, float):
        return dice.choice(FLOATS)
    if isinstance(value, str):
        return dice.choice((*WORDS, value + dice.choice(WORDS), value[::-1], value * 40))
    if isinstance(value, list):
        return dice.choice((value * 50, value[::-1], value[:1], []))
    return dice.choice((value, {}))


def _record(document: Any, dice: random.Random) -> Any:
    for _ in range(dice.randint(1, 8)):
        here, key = _place(document, dice)
        match dice.randrange(20):
            case 0:
                here[key] = dice.choice(ODD)
            case 1 if isinstance(here, dict) and len(here) > 1:
                here.pop(key)
            case _:
                here[key] = _like(here[key], dice)
    return document


def _noise(data: bytes, dice: random.Random) -> bytes:
    """Some bytes changed, cut off or repeated."""
    changed = bytearray(data)
    for _ in range(dice.randint(1, 12)):
        at = dice.randrange(max(1, len(changed)))
        match dice.randrange(6):
            case 0:
                del changed[at:]
            case 1:
                changed[at : at + 8] = struct.pack("<Q", dice.choice(NUMBERS) % 2**64)
            case 2:
                changed[at : at + 4] = struct.pack("<I", dice.choice(NUMBERS) % 2**32)
            case 3:
                changed[at : at + 2] = struct.pack("<H", dice.choice(NUMBERS) % 2**16)
            case _:
                changed[at : at + 1] = bytes([dice.randrange(256)])
    return bytes(changed)


def incident(dice: random.Random) -> bytes:
    """An Incident file with something odd in it."""
    from tests.report.incidents import EVERYTHING

    document = json.loads(msgspec.json.encode(EVERYTHING))
    text = json.dumps(_record(document, dice), ensure_ascii=False).encode("utf-8", "replace")
    if dice.randrange(SELDOM) == 0:
        text = _noise(text, dice)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
        out.writestr("incident.json", text)
    return _noise(packed.getvalue(), dice) if dice.randrange(SELDOM) == 0 else packed.getvalue()


def core(dice: random.Random) -> bytes:
    """A core with something odd in its head, its notes or its memory."""
    from tests.autopsy import cores as made

    machine = dice.choice(("x86_64", "x86_64", "aarch64"))
    mapped = [(made.TEXT, made.TEXT + 4096, dice.choice((0, 3)), "/usr/bin/env")]
    whole = made.core(machine, mapped=mapped, code=dice.randbytes(16))
    head = made.PAGE  # the notes lie in the first page: that is where it hurts
    return _noise(whole[:head], dice) + (whole[head:] if dice.randrange(4) else b"")


def incidents(seed: int, count: int) -> list[tuple[bytes, str]]:
    """Explain so many mutated Incidents; return those that broke something, with why."""
    return _work(incident, seed, count)


def cores(seed: int, count: int) -> list[tuple[bytes, str]]:
    """The same of cores."""
    return _work(core, seed, count)


def _work(make: Callable[[random.Random], bytes], seed: int, count: int) -> list[tuple[bytes, str]]:
    dice = random.Random(seed)  # noqa: S311 -- a fuzzer wants speed and repeatability
    broken = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "given")
        for n in range(count):
            given = make(dice)
            path.write_bytes(given)
            if why := trouble(path, all_forms=n % SELDOM == 0):
                broken.append((given, why))
    return broken


def trouble(path: Path, *, all_forms: bool) -> str | None:
    """What went wrong with this file, if anything; one clear line is no trouble."""
    from sigwhy import UsageError, explain
    from sigwhy.report import html, json, markdown, text

    start, spent = time.perf_counter(), _spent()
    try:
        report = explain(path)
        json.render(report)
        for form in (text, html, markdown) if all_forms else (text,):
            form.render(report)
        if broken := [note for note in report.notes if "please report" in note]:
            return broken[0]
    except UsageError as error:
        if "\n" in str(error):
            return f"more than one line: {error}"
    except Exception:  # noqa: BLE001 -- whatever it is, it is what we look for
        return traceback.format_exc()
    took, spent = time.perf_counter() - start, _spent() - spent
    if spent > SLOW_SECONDS or took > HANGS_SECONDS:
        return f"took {took:.1f} s, {spent:.1f} s of CPU time"
    return None


def _spent() -> float:
    """CPU time of this process and of its children that have ended."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    sys.exit("run tools/fuzz.py --kind incidents")
