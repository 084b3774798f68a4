"""Takes the sting out of words that came with the evidence.

A crash text is written by whoever crashed. A terminal obeys escape sequences, and text that runs
from right to left can show other words than it holds; here both become visible signs.
"""

from __future__ import annotations

import re

UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
PICTURES = 0x2400  # the code points that draw C0 control characters, in their order
DELETE = 0x7F
TAB = "\t"


def harmless(text: str) -> str:
    """The same words, with every character that would act instead of being seen made visible."""
    return UNSEEN.sub(_shown, text.replace("\r\n", "\n").replace(TAB, "    "))


def one_line(text: str, *, most: int = 300) -> str:
    """Harmless words on one line, cut where they get too long to be read."""
    return short(" ".join(harmless(text[: 4 * most]).split()), most)


def short(text: str, most: int) -> str:
    """The beginning of a text, with an ellipsis where it was cut."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def window(line: str, words: str, most: int) -> str:
    """As much of a long line as there is room for, around the words that matter."""
    if len(line) <= most:
        return line
    at = max(line.find(words), 0) if words else 0
    in_view = at + len(words) < most
    middle = at - max((most - len(words)) // 2, 1)
    start = 0 if in_view else min(max(middle, 0), len(line) - most)
    cut = line[start : start + most]
    cut = "…" + cut[1:] if start else cut
    return cut[:-1] + "…" if start + most < len(line) else cut


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(PICTURES + code)
    return "␡" if code == DELETE else "\ufffd"
